#include "measure/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::measure {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Schedule, StepsComeAfterTheWarmUp) {
    const auto schedule = schedule_steps(200, 10, 50);
    EXPECT_EQ(schedule.total, 210);
    EXPECT_EQ(schedule.counted(), 200);
    EXPECT_FALSE(schedule.counts(9));
    EXPECT_TRUE(schedule.counts(10));
}

TEST(Schedule, AnEpochsWarmUpIsItsBeginning) {
    const auto schedule = schedule_epochs(3, 10, 50);
    EXPECT_EQ(schedule.total, 150) << "an epoch is every sample once, warm-up or not";
    EXPECT_EQ(schedule.counted(), 140);
}

TEST(Schedule, KnowsWhereEpochsEnd) {
    const auto schedule = schedule_epochs(2, 0, 4);
    std::vector<std::int64_t> epochs;
    std::vector<std::int64_t> ends;
    for (std::int64_t step = 0; step < schedule.total; ++step) {
        epochs.push_back(schedule.epoch_of(step));
        if (schedule.ends_epoch(step)) ends.push_back(step);
    }
    EXPECT_EQ(epochs, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(ends, (std::vector<std::int64_t>{3, 7}));
}

TEST(Schedule, TheDefaultWarmUpIsATenthAndTenAtMost) {
    EXPECT_EQ(default_warmup(1), 0);
    EXPECT_EQ(default_warmup(9), 0);
    EXPECT_EQ(default_warmup(10), 1);
    EXPECT_EQ(default_warmup(55), 5);
    EXPECT_EQ(default_warmup(100), 10);
    EXPECT_EQ(default_warmup(100000), 10);
}

TEST(Schedule, TheRestOfAPlanWarmsUpAgain) {
    const Schedule rest = resume_after(schedule_steps(20, 3, 8), 10);
    EXPECT_EQ(rest.first, 10);
    EXPECT_EQ(rest.total, 23) << "the plan is the same";
    EXPECT_EQ(rest.counted(), 10);
    EXPECT_FALSE(rest.counts(12));
    EXPECT_TRUE(rest.counts(13));
    EXPECT_EQ(resume_after(schedule_steps(20, 3, 8), 0).counted(), 20) << "nothing was done yet";
}

TEST(Schedule, OfARestAtLeastOneStepCounts) {
    for (const std::int64_t completed : {21, 22}) {
        const Schedule rest = resume_after(schedule_steps(20, 3, 8), completed);
        EXPECT_EQ(rest.counted(), 1);
        EXPECT_TRUE(rest.counts(22));
    }
    for (const std::int64_t completed : {23, 24, 1000}) {
        EXPECT_THAT(tests::thrown_sentence<base::OptionError>(
                        [&] { resume_after(schedule_steps(20, 3, 8), completed); }),
                    AllOf(HasSubstr("23"), HasSubstr("--steps"), HasSubstr("--epochs")));
    }
}

TEST(Schedule, WarmUpComesBeforeTheStepsAndIsLessThanTheEpochs) {
    EXPECT_EQ(schedule_steps(5, 9, 1).counted(), 5);
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([] { schedule_epochs(2, 8, 4); }),
                AllOf(HasSubstr("8"), HasSubstr("--warmup")));
    EXPECT_EQ(schedule_epochs(2, 7, 4).counted(), 1);
}

}  // namespace
}  // namespace ranklab::measure
