#include "report/model/chosen_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "report/model/values.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Conditions = std::vector<std::string>;

bool matches(const Conditions& conditions) {
    // Ddp, batch-size 32, lr 0.7, 2 ranks.
    return Selection(conditions).matches(results::sample_run());
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
    run.config.push_back({"ranks", "7", true});  // a strategy that used 7 of the ranks
    EXPECT_EQ(value_of(run, "ranks"), "7");
}

TEST(Selection, MatchesWhereAllConditionsHold) {
    for (const auto& [conditions, expected] : std::vector<std::pair<Conditions, bool>>{
             {{}, true},
             {{"mode=ddp"}, true},
             {{"mode=dp"}, false},
             {{"mode=DDP"}, false},
             {{"lr=0.70"}, true},
             {{"mode!=dp"}, true},
             {{"mode!=ddp"}, false},
             {{"nothing!=x"}, true},
             {{"nothing="}, true},
             {{"ranks>=2", "ranks<=2", "ranks>1", "ranks<3"}, true},
             {{"ranks>2"}, false},
             {{"batch-size<9"}, false},  // compared as texts 32 would be less
             {{"mode>1"}, false},        // the value is no number
             {{"nothing>0"}, false},
             {{"mode=dp,ddp"}, true},
             {{"mode!=dp,ddp"}, false},
             {{"mode=dd*"}, true},
             {{"mode=x*"}, false},
             {{"ranks=1,2,4"}, true},
             {{"ranks!=1,000"}, true},
             {{"mode=ddp", "lr>0.5"}, true},
             {{"mode=ddp", "lr>0.8"}, false}})
        EXPECT_EQ(matches(conditions), expected) << testing::PrintToString(conditions);
    EXPECT_TRUE(Selection({}).everything());
    EXPECT_FALSE(Selection({"a=b"}).everything());
}

TEST(Selection, RefusesWhatIsNoCondition) {
    for (const auto& [text, named] : {std::pair{"", "KEY=VALUE"},
                                      {"model", "KEY=VALUE"},
                                      {"=x", "KEY=VALUE"},
                                      {">3", "KEY=VALUE"},
                                      {"model!x", "KEY=VALUE"},
                                      {"mode>a", "mode>a"},
                                      {"ranks>=1,000", "a list"},
                                      {"ranks<=1,2,3", "a list"},
                                      {"model==x", "KEY=VALUE"},
                                      {"ranks=>2", "KEY=VALUE"},
                                      {"model<>x", "KEY=VALUE"},
                                      {"model=~x", "KEY=VALUE"}})
        EXPECT_THAT(refusal(text), HasSubstr(named)) << text;
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
                HasSubstr("one run"));
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] {
                    stored_.ids({"x", {}, {}, 0});
                }),
                HasSubstr("'x'"));
}

TEST_F(ChosenRunsTest, SayWhichTheyAreAndOfNoneWhatThereIs) {
    Outputs all;
    all.add("chosen", stored_.chosen({"", "sweep", {"ranks>=2", "sync=none"}, 5}).text());
    all.add("no such value", stored_.chosen({"", {}, {"sync=flt"}, 0}).nothing());
    all.add("no such label", stored_.chosen({"", "swee", {"ranks=1"}, 0}).nothing());
    all.add("no such key", stored_.chosen({"", {}, {"gamma=1"}, 0}).nothing());
    all.add("no run", StoredRuns({}).chosen().nothing());
    all.expect("chosen_runs.txt");
}

// More runs than are read one by one.
TEST(ChosenRuns, LastMayBeMany) {
    std::vector<results::StoredRun> runs;
    for (int i = 0; i < 40; ++i) runs.push_back(step_run("run" + std::to_string(i), 1, 0.1));
    const StoredRuns stored(runs);
    const auto ids = stored.ids({"", {}, {}, 36});
    ASSERT_EQ(ids.size(), 36U);
    EXPECT_EQ(ids.front(), "run4");
    EXPECT_EQ(ids.back(), "run39");
}

}  // namespace
}  // namespace ranklab::report::model
