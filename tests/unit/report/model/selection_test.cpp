#include "report/model/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "report/model/chosen_runs.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Conditions = std::vector<std::string>;

bool matches(const Conditions& conditions) {
    return Selection(conditions).matches(results::sample_run());  // ddp, batch-size 32, lr 0.7, 2 ranks
}
std::string refusal(const std::string& condition) {
    return tests::thrown_sentence<base::OptionError>([&] { Selection({condition}); });
}

TEST(ValueOf, LooksAtSettingsThenFieldsThenTheContext) {
    auto run = results::sample_run();
    EXPECT_EQ(value_of(run, "mode"), "ddp");
    EXPECT_EQ(value_of(run, "command"), "train");
    EXPECT_EQ(value_of(run, "valid"), "1");
    EXPECT_EQ(value_of(run, "exit_code"), "0");
    EXPECT_EQ(value_of(run, "ranks"), "2");
    EXPECT_EQ(value_of(run, "nodes"), "1");
    EXPECT_EQ(value_of(run, "host.kernel"), "6.1");
    EXPECT_EQ(value_of(run, "nothing"), "");
    run.config.push_back({"ranks", "7", true});  // a rung that some of the ranks took no part in
    EXPECT_EQ(value_of(run, "ranks"), "7");
}

TEST(Selection, OfNoConditionsIsEverything) {
    EXPECT_TRUE(matches({}));
    EXPECT_TRUE(Selection({}).everything());
    EXPECT_FALSE(Selection({"a=b"}).everything());
}

TEST(Selection, ComparesTextsAndNumbers) {
    EXPECT_TRUE(matches({"mode=ddp"}));
    EXPECT_FALSE(matches({"mode=dp"}));
    EXPECT_FALSE(matches({"mode=DDP"}));
    EXPECT_TRUE(matches({"lr=0.70"}));
    EXPECT_TRUE(matches({"mode!=dp"}));
    EXPECT_FALSE(matches({"mode!=ddp"}));
    EXPECT_TRUE(matches({"nothing!=x"}));
    EXPECT_TRUE(matches({"nothing="}));
}

TEST(Selection, OrdersNumbersAlone) {
    EXPECT_TRUE(matches({"ranks>=2", "ranks<=2", "ranks>1", "ranks<3"}));
    EXPECT_FALSE(matches({"ranks>2"}));
    EXPECT_FALSE(matches({"batch-size<9"}));  // as texts "32" < "9"
    EXPECT_FALSE(matches({"mode>1"}));        // no number in the run
    EXPECT_THROW(matches({"mode>a"}), base::OptionError);
    EXPECT_FALSE(matches({"nothing>0"}));
}

TEST(Selection, TakesAlternativesAndBeginnings) {
    EXPECT_TRUE(matches({"mode=dp,ddp"}));
    EXPECT_FALSE(matches({"mode!=dp,ddp"}));
    EXPECT_TRUE(matches({"mode=dd*"}));
    EXPECT_FALSE(matches({"mode=x*"}));
    EXPECT_TRUE(matches({"ranks=1,2,4"}));
}

TEST(Selection, TakesAListWhereItCanBeAlternativesAlone) {
    for (const char* text : {"ranks>=1,000", "ranks<1,000", "lr>0,5", "ranks<=1,2,3"})
        EXPECT_THAT(refusal(text), HasSubstr("a list is for = and != alone")) << text;
    EXPECT_THAT(refusal("ranks>abc"), HasSubstr("is no condition"));
    EXPECT_TRUE(matches({"ranks!=1,000"}));
}

TEST(Selection, WantsAllConditions) {
    EXPECT_TRUE(matches({"mode=ddp", "lr>0.5"}));
    EXPECT_FALSE(matches({"mode=ddp", "lr>0.8"}));
}

TEST(Selection, RefusesWhatIsNoCondition) {
    for (const char* text : {"", "model", "=x", ">3", "!", "model!x"})
        EXPECT_THAT(refusal(text), HasSubstr("is no condition; give KEY=VALUE")) << text;
}

TEST(Selection, KnowsWhatOtherLanguagesWrite) {
    EXPECT_THAT(refusal("model==x"), HasSubstr("did you mean =?"));
    EXPECT_THAT(refusal("ranks=>2"), HasSubstr("did you mean >=?"));
    EXPECT_THAT(refusal("model<>x"), HasSubstr("did you mean !=?"));
    EXPECT_THAT(refusal("model=~x"), HasSubstr("did you mean =?"));
}

class ChosenRunsTest : public ::testing::Test {
  protected:
    StoredRuns stored_{{step_run("a", 1, 0.1), step_run("b", 2, 0.1), step_run("c", 2, 0.1, "none"),
                        results::sample_run("d")}};
};

TEST_F(ChosenRunsTest, AreAllInTheOrderStored) {
    EXPECT_THAT(stored_.ids({}), ElementsAre("a", "b", "c", "d"));
    EXPECT_TRUE(stored_.chosen().everything());
    EXPECT_EQ(stored_.chosen().text(), "");
}

TEST_F(ChosenRunsTest, AreThoseThatMeetTheConditions) {
    EXPECT_THAT(stored_.ids({"", {}, {"ranks>=2"}, 0}), ElementsAre("b", "c", "d"));
    EXPECT_THAT(stored_.ids({"", "sweep", {}, 0}), ElementsAre("a", "b", "c"));
    EXPECT_THAT(stored_.ids({"", "swee", {}, 0}), IsEmpty());
    EXPECT_THAT(stored_.ids({"", "sweep", {"sync=none"}, 0}), ElementsAre("c"));
}

TEST_F(ChosenRunsTest, LastIsOfThoseThatTheOthersLeave) {
    EXPECT_THAT(stored_.ids({"", {}, {}, 2}), ElementsAre("c", "d"));
    EXPECT_THAT(stored_.ids({"", "sweep", {}, 2}), ElementsAre("b", "c"));
    EXPECT_THAT(stored_.ids({"", {}, {"sync=flat"}, 1}), ElementsAre("b"));
    EXPECT_THAT(stored_.ids({"", {}, {}, 100}), ElementsAre("a", "b", "c", "d"));
}

TEST_F(ChosenRunsTest, HeadersAreOfTheSameRuns) {
    const auto headers = stored_.chosen({"", "sweep", {"ranks=2"}, 1}).headers();
    ASSERT_EQ(headers.size(), 1U);
    EXPECT_EQ(headers[0].id, "c");
    EXPECT_EQ(stored_.chosen({"b", {}, {}, 0}).headers()[0].id, "b");
    EXPECT_EQ(stored_.chosen().headers().size(), 4U);
}

TEST_F(ChosenRunsTest, OneRunIsNamedAlone) {
    EXPECT_THAT(stored_.ids({"c", {}, {}, 0}), ElementsAre("c"));
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] {
                    stored_.chosen({"c", "sweep", {}, 0});
                }),
                HasSubstr("one run is named, and others are chosen too"));
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] {
                    stored_.ids({"x", {}, {}, 0});
                }),
                HasSubstr("has no run 'x'"));
}

TEST_F(ChosenRunsTest, SayWhichTheyAre) {
    EXPECT_EQ(stored_.chosen({"", "sweep", {"ranks>=2", "sync=none"}, 5}).text(),
              "ranks>=2, sync=none, label 'sweep', the last 5");
}

TEST_F(ChosenRunsTest, OfNoneSayWhatThereIs) {
    EXPECT_THAT(stored_.chosen({"", {}, {"sync=flt"}, 0}).nothing(),
                HasSubstr("holds no run of sync=flt; sync is flat or none there"));
    EXPECT_THAT(stored_.chosen({"", "swee", {}, 0}).nothing(),
                AllOf(HasSubstr("of label 'swee'"), HasSubstr("label is"), HasSubstr("sweep")));
    EXPECT_THAT(stored_.chosen({"", {}, {"gamma=1"}, 0}).nothing(), HasSubstr("; none has gamma"));
    EXPECT_THAT(StoredRuns({}).chosen().nothing(), HasSubstr("holds no runs yet"));
}

// More than are looked up one by one.
TEST(ChosenRuns, LastMayBeMany) {
    std::vector<results::StoredRun> runs;
    for (int i = 0; i < 70; ++i) runs.push_back(step_run("run" + std::to_string(i), 1, 0.1));
    const StoredRuns stored(runs);
    const auto ids = stored.ids({"", {}, {}, 66});
    ASSERT_EQ(ids.size(), 66U);
    EXPECT_EQ(ids.front(), "run4");
    EXPECT_EQ(ids.back(), "run69");
}

}  // namespace
}  // namespace ranklab::report::model
