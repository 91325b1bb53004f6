// Which runs are points of one curve of training, and what tells groups and notices apart.
#include <gtest/gtest.h>

#include "report/model/notices.hpp"
#include "report/model/series.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/training_runs.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using Texts = std::vector<std::string>;

GroupedRuns groups_of(const std::vector<StoredRun>& runs) {
    GroupedRuns grouped;
    for (const StoredRun& run : runs) grouped.add(results::Run(run));
    return grouped;
}

Texts titles(const std::vector<StoredRun>& runs) {
    const GroupedRuns grouped = groups_of(runs);
    std::vector<const Group*> groups;
    for (const auto& group : grouped.groups()) groups.push_back(&group);
    return group_titles(groups);
}

// The weak and strong curves of the runs: their points' ids, what differs along them, and what kept groups
// apart.
std::string curves(const std::vector<StoredRun>& runs) {
    const auto grouped = groups_of(runs);
    std::string text =
        fmt::format("{} groups; apart: {}\n", grouped.groups().size(), fmt::join(kept_apart(grouped), "; "));
    for (const auto scaling : {stats::Scaling::weak, stats::Scaling::strong})
        for (const auto& curve : training_series(grouped, scaling)) {
            text += fmt::format("{} '{}':", scaling == stats::Scaling::weak ? "weak" : "strong", curve.title);
            for (const auto& [width, group] : curve.points)
                text +=
                    fmt::format(" {} ({}) at {};", group->newest.id, group->newest.setting("mode"), width);
            text += fmt::format(" differing: '{}'\n", curve.differing);
        }
    return text;
}

TEST(Curves, AreOfOneWorkAndMachineAndBeginWithTheSingleDeviceRun) {
    Outputs all;
    const auto on_host = [](StoredRun run, const std::string& host) {
        for (auto& row : run.hosts) row.host = host;
        return run;
    };
    const auto progress = [](StoredRun run, const char* value, const char* backend = "mpi") {
        return with_settings(std::move(run), {{"progress", value}, {"backend", backend}});
    };
    const auto threads = [](StoredRun run, const char* value) {
        run.context.push_back({"training", "intra_op_threads", value});
        return run;
    };
    const auto without = [](StoredRun run, const char* key) {
        std::erase_if(run.config, [&](const auto& setting) { return setting.key == key; });
        return run;
    };
    const auto a = weak_run("a", 1, 0.010), b = weak_run("b", 2, 0.012), c = weak_run("c", 4, 0.020);
    all.add("the base stores another way between ranks: 3 points",
            curves({progress(a, "thread", "self"), progress(b, "none"), progress(c, "thread")}));
    all.add("one rank with the code for several is a second point",
            curves({with_settings(weak_run("d", 1, 0.011), {{"mode", "ddp"}, {"sync", "bucketed"}}), b, a}));
    all.add("varied at one rank count: 2 curves",
            curves({progress(b, "none"), progress(weak_run("d", 2, 0.012), "thread"), progress(c, "none"),
                    progress(weak_run("e", 4, 0.02), "thread")}));
    all.add("other work: none", curves({with_settings(a, {{"model", "resnet50"}}), b}));
    // Neither weak nor strong: nobody knows which batch the others left.
    const auto no_global_a = without(a, "global-batch-size"), no_global_b = without(b, "global-batch-size");
    all.add("without the global batch: weak", curves({no_global_a, no_global_b}));
    all.add("without both batches: none",
            curves({without(no_global_a, "batch-size"), without(no_global_b, "batch-size")}));
    all.add("two machines: 2 curves",
            curves({with_cpu(a, "Old"), with_cpu(b, "Old"), with_cpu(weak_run("d", 1, 0.02), "New"),
                    with_cpu(weak_run("e", 2, 0.024), "New")}));
    all.add("hosts of one node are other machines: none", curves({on_host(a, "n1"), on_host(b, "n2")}));
    StoredRun wide = b;
    wide.hosts[0].host = "n2";
    wide.hosts[1].host = "n3";
    all.add("hosts of several are said", curves({on_host(a, "n1"), wide}));
    // What `compare` refuses is not pooled, and the curve goes on.
    all.add("threads: 3 groups, 1 curve",
            curves({threads(a, "2"), threads(weak_run("d", 1, 0.02), "1"), threads(b, "1")}));
    all.expect("curves.txt");
}

TEST(GroupTitles, SayNoMoreThanTellsApart) {
    Outputs all;
    const auto of = [](const char* id, int ranks, const char* progress, const char* batch) {
        return with_settings(weak_run(id, ranks, 0.01), {{"progress", progress}, {"batch-size", batch}});
    };
    const auto labelled = [](const char* id, const char* label, const char* lr, const char* momentum) {
        auto run = with_settings(weak_run(id, 2, 0.01), {{"lr", lr}, {"momentum", momentum}});
        run.label = label;
        return run;
    };
    const auto add = [&](const std::string& name, const std::vector<StoredRun>& runs) {
        all.add(name, lines_of(titles(runs)));
    };
    add("progress follows from the ranks",
        {of("a", 1, "thread", "32"), of("b", 2, "none", "32"), of("c", 2, "none", "16")});
    add("progress tells them apart", {of("a", 2, "thread", "32"), of("b", 2, "none", "32")});
    add("labels, and what tells two of one label apart",
        {labelled("a", "base", "1", "0"), labelled("b", "tuned", "2", "0.9"),
         labelled("c", "tuned", "3", "0.9")});
    add("one label, two settings that go together",
        {labelled("a", "one", "1", "0"), labelled("b", "one", "2", "0.9")});
    add("a group of two labels",
        {labelled("a", "one", "1", "0"), labelled("b", "other", "1", "0"), labelled("c", "third", "2", "0")});
    all.expect("group_titles.txt");
}

Texts texts_of(const Notices& notices) {
    Texts texts;
    for (const auto& one : notices.sorted())
        texts.push_back(one.text + " | " + std::to_string(one.runs) + " | " + one.newest);
    return texts;
}

TEST(NoticesTest, ThatDifferInNumbersAloneAreOneWithTheirRange) {
    Outputs all;
    const auto add = [&](const std::string& name,
                         const std::vector<std::pair<const char*, const char*>>& said) {
        Notices notices;
        for (const auto& [text, run] : said) notices.add(text, run);
        all.add(name, lines_of(texts_of(notices)));
    };
    add("a range of three", {{"only once", "a"},
                             {"correlated (lag-1 0.60): 40 of them say as much as 15", "a"},
                             {"correlated (lag-1 0.74): 40 of them say as much as 8", "b"},
                             {"correlated (lag-1 0.33): 40 of them say as much as 32", "c"}});
    add("ranges of their own",
        {{"mpi4: 95 % interval 0.02 .. 0.58 s, value 0.04 s, needed 0.75 .. 1.25", "a"},
         {"mpi4: 95 % interval 0.01 .. 0.03 s, value 0.015 s, needed 0.75 .. 1.25", "b"}});
    add("equal numbers", {{"node07: 0.02 .. 0.58 s of 8", "a"}, {"node07: 0.02 .. 0.58 s of 8", "b"}});
    add("names and runs: a run counts once", {{"node07: slower than run 20261122T011527Z-304120", "a"},
                                              {"node09: slower than run 20261122T011707Z-856ff8", "b"},
                                              {"node08: slower than run 20261122T011536Z-64d404", "b"}});
    all.expect("notices.txt");
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
