#include "experiments/shared/doubts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::experiments {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

results::Run trained(std::int64_t steps, std::int64_t of, std::int64_t epoch = 1) {
    results::Run run;
    run.config = {{"global-batch-size", "64", true}};
    run.context = {{"training", "train_samples", "640"}};
    results::Measurement accuracy;
    accuracy.name = "validation_accuracy";
    run.measurements = {accuracy};
    run.tables = {{"epochs",
                   {{"epoch", std::vector<std::int64_t>{epoch}},
                    {"steps", std::vector<std::int64_t>{steps}},
                    {"steps_per_epoch", std::vector<std::int64_t>{of}}}}};
    return run;
}

std::vector<std::string> doubts(results::Run run) {
    add_doubts(run);
    return run.warnings;
}

TEST(Doubts, ABatchThatTheDataSetCannotFill) {
    auto run = trained(10, 10);
    EXPECT_THAT(doubts(run), IsEmpty());
    run.config[0].value = "641";
    EXPECT_THAT(doubts(run),
                ElementsAre(HasSubstr("the batch of all ranks, 641, is larger than the data set, 640")));
    run.context.clear();
    EXPECT_THAT(doubts(run), IsEmpty()) << "how many samples there are is not known";
}

TEST(Doubts, AValidationOfAModelThatHasNotSeenItsData) {
    EXPECT_THAT(doubts(trained(3, 10)),
                ElementsAre(HasSubstr("validated after 3 of the 10 steps of its first epoch")));
    EXPECT_THAT(doubts(trained(3, 10, 2)), IsEmpty());
    auto run = trained(3, 10);
    run.measurements.clear();
    EXPECT_THAT(doubts(run), IsEmpty()) << "nothing was validated";
}

TEST(Doubts, RunsOfAnotherKindHaveNone) {
    EXPECT_THAT(doubts({}), IsEmpty());
}

}  // namespace
}  // namespace ranklab::experiments
