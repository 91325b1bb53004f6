// Which runs are points of one curve of training, and what tells groups and notices apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/model/notices.hpp"
#include "report/model/series.hpp"
#include "unit/report/training_runs.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using testing::ElementsAre;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

GroupedRuns groups_of(const std::vector<StoredRun>& runs) {
    GroupedRuns grouped;
    for (const StoredRun& run : runs) grouped.add(results::Run(run));
    return grouped;
}

Texts point_texts(const Series& curve) {
    Texts texts;
    for (const auto& [width, group] : curve.points)
        texts.push_back(fmt::format("{} at {}", group->newest.setting("mode"), width));
    return texts;
}

StoredRun on_host(StoredRun run, const std::string& host) {
    for (auto& row : run.hosts) row.host = host;
    return run;
}

TEST(Curves, BeginWithTheSingleDeviceRunWhateverItStoresOfTheWayBetweenRanks) {
    const auto grouped =
        groups_of({with_settings(weak_run("a", 1, 0.010), {{"progress", "thread"}, {"backend", "self"}}),
                   with_settings(weak_run("b", 2, 0.012), {{"progress", "none"}, {"backend", "mpi"}}),
                   with_settings(weak_run("c", 4, 0.020), {{"progress", "thread"}, {"backend", "mpi"}})});
    const auto curves = training_series(grouped, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_THAT(point_texts(curves[0]), ElementsAre("single at 1", "ddp at 2", "ddp at 4"));
    EXPECT_EQ(curves[0].differing, "progress none, thread");
    EXPECT_TRUE(training_series(grouped, stats::Scaling::strong).empty());
}

// Neither weak nor strong: nobody knows which batch the others left.
TEST(Curves, NeedTheSettingThatTheyHold) {
    std::vector<StoredRun> runs{weak_run("a", 1, 0.010), weak_run("b", 2, 0.012)};
    for (auto& run : runs)
        std::erase_if(run.config, [](const auto& setting) { return setting.key == "global-batch-size"; });
    const auto without_global = groups_of(runs);
    EXPECT_TRUE(training_series(without_global, stats::Scaling::strong).empty());
    EXPECT_EQ(training_series(without_global, stats::Scaling::weak).size(), 1U);
    for (auto& run : runs)
        std::erase_if(run.config, [](const auto& setting) { return setting.key == "batch-size"; });
    const auto without_both = groups_of(runs);
    EXPECT_TRUE(training_series(without_both, stats::Scaling::weak).empty());
}

TEST(Curves, OfOneRankWithTheCodeForSeveralHaveItAsASecondPoint) {
    const auto grouped =
        groups_of({with_settings(weak_run("a", 1, 0.011), {{"mode", "ddp"}, {"sync", "bucketed"}}),
                   weak_run("b", 2, 0.012), weak_run("c", 1, 0.010)});
    const auto curves = training_series(grouped, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_THAT(point_texts(curves[0]), ElementsAre("single at 1", "ddp at 1", "ddp at 2"));
}

TEST(Curves, KeepApartWhatSomebodyVariedAtOneRankCountAndOtherWork) {
    const auto on = [](const char* id, int ranks, const char* progress) {
        return with_settings(weak_run(id, ranks, 0.01), {{"progress", progress}});
    };
    const auto varied =
        groups_of({on("a", 2, "none"), on("b", 2, "thread"), on("c", 4, "none"), on("d", 4, "thread")});
    EXPECT_EQ(training_series(varied, stats::Scaling::weak).size(), 2U);
    const auto other =
        groups_of({with_settings(weak_run("a", 1, 0.010), {{"model", "resnet50"}}), weak_run("b", 2, 0.012)});
    EXPECT_TRUE(training_series(other, stats::Scaling::weak).empty());
}

// Of two machines two groups, and two curves: no point of one is over the other's base.
TEST(Curves, AndGroupsKeepMachinesApart) {
    const std::vector<StoredRun> runs{
        with_cpu(weak_run("a", 1, 0.010), "Old"), with_cpu(weak_run("b", 2, 0.012), "Old"),
        with_cpu(weak_run("c", 1, 0.020), "New"), with_cpu(weak_run("d", 2, 0.024), "New")};
    const auto grouped = groups_of(runs);
    EXPECT_EQ(grouped.groups().size(), 4U);
    const auto curves = training_series(grouped, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 2U);
    for (const auto& curve : curves) {
        ASSERT_EQ(curve.points.size(), 2U);
        const auto cpu_at = [&](std::size_t i) { return curve.points[i].group->conditions.at("host.cpu"); };
        EXPECT_EQ(cpu_at(0), cpu_at(1));
        EXPECT_THAT(curve.title, HasSubstr(cpu_at(0)));
    }
    EXPECT_THAT(kept_apart(grouped), ElementsAre("host.cpu: New | Old"));
}

// One core and two, with no --threads: what `compare` refuses is not pooled here, and the curve goes on.
TEST(Curves, AndGroupsKeepNumbersOfThreadsApart) {
    const auto computed_by = [](StoredRun run, const char* threads) {
        std::erase_if(run.context, [](const auto& one) { return one.key == "intra_op_threads"; });
        run.context.push_back({"training", "intra_op_threads", threads});
        return run;
    };
    const auto grouped =
        groups_of({computed_by(weak_run("a", 1, 0.010), "2"), computed_by(weak_run("b", 1, 0.020), "1"),
                   computed_by(weak_run("c", 2, 0.022), "1")});
    EXPECT_EQ(grouped.groups().size(), 3U);
    EXPECT_THAT(kept_apart(grouped), ElementsAre("training.intra_op_threads: 1 | 2"));
    EXPECT_EQ(training_series(grouped, stats::Scaling::weak).size(), 1U)
        << "more ranks have fewer cores each";
}

TEST(Curves, OfOneNodeKeepHostsApartAndOfSeveralSayThem) {
    const auto two =
        groups_of({on_host(weak_run("a", 1, 0.010), "n1"), on_host(weak_run("b", 2, 0.012), "n2")});
    EXPECT_TRUE(training_series(two, stats::Scaling::weak).empty()) << "another host is another machine";
    StoredRun wide = weak_run("b", 2, 0.012);
    wide.hosts[0].host = "n2";
    wide.hosts[1].host = "n3";
    const auto several = groups_of({on_host(weak_run("a", 1, 0.010), "n1"), wide});
    const auto curves = training_series(several, stats::Scaling::weak);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_THAT(curves[0].differing, HasSubstr("hosts n1 | n2 n3"));
}

Texts titles(const std::vector<StoredRun>& runs) {
    const GroupedRuns grouped = groups_of(runs);
    std::vector<const Group*> groups;
    for (const auto& group : grouped.groups()) groups.push_back(&group);
    return group_titles(groups);
}

TEST(GroupTitles, LeaveOutWhatFollowsFromTheRanksUnlessItTellsGroupsApart) {
    const auto with = [](const char* id, int ranks, const char* progress, const char* batch) {
        return with_settings(weak_run(id, ranks, 0.01), {{"progress", progress}, {"batch-size", batch}});
    };
    EXPECT_THAT(
        titles({with("a", 1, "thread", "32"), with("b", 2, "none", "32"), with("c", 2, "none", "16")}),
        ElementsAre("mnist-cnn, single, batch 32", "mnist-cnn, ddp bucketed, 32/rank",
                    "mnist-cnn, ddp bucketed, 16/rank"));
    EXPECT_THAT(titles({with("a", 2, "thread", "32"), with("b", 2, "none", "32")}),
                ElementsAre("mnist-cnn, progress thread", "mnist-cnn, progress none"));
}

TEST(GroupTitles, AreLabelsWhereTheseDifferAndNoMoreThanTellsApart) {
    const auto with = [](const char* id, const char* label, const char* lr, const char* momentum) {
        auto run = with_settings(weak_run(id, 2, 0.01), {{"lr", lr}, {"momentum", momentum}});
        run.label = label;
        return run;
    };
    EXPECT_THAT(
        titles({with("a", "base", "1", "0"), with("b", "tuned", "2", "0.9"), with("c", "tuned", "3", "0.9")}),
        ElementsAre("base", "tuned, lr 2", "tuned, lr 3"));
    EXPECT_THAT(titles({with("a", "one", "1", "0"), with("b", "one", "2", "0.9")}),
                ElementsAre("mnist-cnn, lr 1", "mnist-cnn, lr 2"))
        << "a label of all tells none apart; of two settings that go together one is enough";
    EXPECT_THAT(
        titles({with("a", "one", "1", "0"), with("b", "other", "1", "0"), with("c", "third", "2", "0")}),
        ElementsAre("mnist-cnn", "third"))
        << "the first group has runs of two labels";
}

Texts texts_of(const Notices& notices) {
    Texts texts;
    for (const auto& one : notices.sorted())
        texts.push_back(one.text + " | " + std::to_string(one.runs) + " | " + one.newest);
    return texts;
}

TEST(NoticesTest, ThatDifferInNumbersAloneAreOneWithTheirRange) {
    Notices notices;
    notices.add("only once", "a");
    notices.add("correlated (lag-1 0.60): 40 of them say as much as 15", "a");
    notices.add("correlated (lag-1 0.74): 40 of them say as much as 8", "b");
    notices.add("correlated (lag-1 0.33): 40 of them say as much as 32", "c");
    EXPECT_THAT(texts_of(notices),
                ElementsAre("correlated (lag-1 0.33 .. 0.74): 40 of them say as much as 8 .. 32 | 3 | c",
                            "only once | 1 | a"));
    notices = Notices();
    notices.add("mpi4: 95 % interval 0.02 .. 0.58 s, value 0.04 s, needed 0.75 .. 1.25", "a");
    notices.add("mpi4: 95 % interval 0.01 .. 0.03 s, value 0.015 s, needed 0.75 .. 1.25", "b");
    EXPECT_THAT(
        texts_of(notices),
        ElementsAre(HasSubstr("interval 0.01 .. 0.58 s, value 0.015 .. 0.04 s, needed 0.75 .. 1.25 (")));
    notices = Notices();
    for (const char* const run : {"a", "b"}) notices.add("node07: 0.02 .. 0.58 s of 8", run);
    EXPECT_THAT(texts_of(notices), ElementsAre("node07: 0.02 .. 0.58 s of 8 | 2 | b"));
}

TEST(NoticesTest, OfNamesAndRunsShowTheNewestAndCountARunOnce) {
    Notices notices;
    notices.add("node07: slower than run 20261122T011527Z-304120", "a");
    notices.add("node09: slower than run 20261122T011707Z-856ff8", "b");
    notices.add("node08: slower than run 20261122T011536Z-64d404", "b");
    EXPECT_THAT(
        texts_of(notices),
        ElementsAre(testing::AllOf(testing::StartsWith("node08: slower than run 20261122T011536Z-64d404 ("),
                                   testing::EndsWith(" | 2 | b"))));
}

TEST(NoticesTest, WithOtherWordsAreOthersAndTheirNumberIsBounded) {
    Notices notices;
    for (char c = 'a'; c <= 'z'; ++c)
        for (const char* const end : {"x", "y"}) notices.add(std::string(1, c) + end, "run");
    EXPECT_EQ(notices.sorted().size(), Notices::kMost);
    EXPECT_TRUE(notices.full());
}

}  // namespace
}  // namespace ranklab::report::model
