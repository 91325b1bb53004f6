// Tables of groups of runs: whole in a golden file; what is pooled, refused and left out here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "report/formats/formats.hpp"
#include "report/model/groups.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using results::StoredRun;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Keys = std::vector<std::string>;
using Runs = std::vector<StoredRun>;

std::string text_of(const Runs& runs, const Grouping& grouping, model::Choice choice = {}) {
    const StoredRuns stored(runs);
    return written(
        [&](const model::Sink& sink) { write_group_text(stored.chosen(std::move(choice)), grouping, sink); });
}

// Steps of 0.10 s at one rank; at 2 and 4 those of a perfect and of half an efficiency.
Runs weak_runs(int repetitions) {
    Runs runs;
    for (int i = 0; i < repetitions; ++i) {
        const double noise = 1 + 0.001 * i;
        runs.push_back(step_run("a" + std::to_string(i), 1, 0.1 * noise));
        runs.push_back(step_run("b" + std::to_string(i), 2, 0.1 * noise));
        runs.push_back(step_run("c" + std::to_string(i), 4, 0.2 * noise));
    }
    return runs;
}

StoredRun with(StoredRun run, const std::string& key, const std::string& value) {
    std::erase_if(run.config, [&](const auto& one) { return one.key == key; });
    run.config.push_back({key, value, false});
    return run;
}

Runs strong_runs(int repetitions) {
    Runs runs = weak_runs(repetitions);
    for (auto& run : runs)
        run = with(with(run, "global-batch-size", "64"), "batch-size", std::to_string(64 / run.hosts.size()));
    return runs;
}

StoredRun with_fact(StoredRun run, const std::string& section, const std::string& key,
                    const std::string& value) {
    std::erase_if(run.context, [&](const auto& one) { return one.section == section && one.key == key; });
    run.context.push_back({section, key, value});
    return run;
}

StoredRun on_host(StoredRun run, const std::string& host) {
    for (auto& row : run.hosts) row.host = host;
    return run;
}

StoredRun single_device(const std::string& id, double step_s) {
    return with(step_run(id, 1, step_s, "none"), "mode", "single");
}

// The base has two threads, three ranks share two CPUs.
Runs uneven_runs() {
    StoredRun crowded = step_run("c", 3, 0.3);
    for (auto& row : crowded.hosts) row.cpus = "0-1";
    return {with(step_run("a", 1, 0.2), "threads", "2"), step_run("b", 2, 0.2), crowded};
}

Runs marked_runs() {
    Runs runs = weak_runs(1);
    runs[0].exit_code = 7;
    runs[1].exit_code = 128 + 15;
    runs[2].warnings = {"step_time_s is not converged: half-width 4 %"};
    runs.push_back(step_run("bad", 1, 9.0));
    runs.back().valid = false;
    runs.push_back(step_run("ring", 4, 0.2, "ring"));
    return runs;
}

// The summary of several runs, or an ablation, has neither the measurements nor all facts.
Runs with_summaries(Runs runs) {
    runs.push_back(with_fact(step_run("s", 1, 0.1), "host", "cpu", "Another CPU"));
    runs.push_back(with(step_run("t", 1, 0.1), "ablation", "true"));
    for (auto run = runs.end() - 2; run != runs.end(); ++run) run->measurements.clear();
    return runs;
}

Runs of_two_machines() {
    const auto slow = [](const StoredRun& run) { return with_fact(run, "host", "cpu", "Slow"); };
    return {step_run("a", 1, 0.1), step_run("b", 2, 0.1), slow(step_run("c", 1, 0.4)),
            slow(step_run("d", 2, 0.8))};
}

// More ranks take more nodes: no other surroundings, and no lost base.
Runs on_several_nodes() {
    StoredRun wide = step_run("b", 2, 0.1);
    wide.hosts[0].host = "node02";
    wide.hosts[1].host = "node03";
    return {step_run("a", 1, 0.1), wide};
}

Runs with_labels(const std::string& first, const std::string& last) {
    Runs runs = weak_runs(1);
    for (auto& run : runs) run.label = first;
    runs.back().label = last;
    return runs;
}

TEST(RunGroups, AreSortedByNumbersThenTexts) {
    model::RunGroups groups({"ranks"}, {});
    for (const int ranks : {16, 2, 1}) groups.add(step_run("r", ranks, 0.1));
    Keys keys;
    for (const auto& group : groups.sorted()) keys.push_back(group.key[0]);
    EXPECT_THAT(keys, ElementsAre("1", "2", "16"));
    EXPECT_THAT(groups.measurements(), ElementsAre("step_time_s", "throughput_samples_per_s"));
    for (const Keys& none : {Keys{""}, Keys{"ranks", "ranks"}, Keys{"ranks", ""}})
        EXPECT_THROW(model::RunGroups(none, {}), base::OptionError);
}

TEST(GroupText, IsAsStored) {
    Outputs texts;
    Runs neither = weak_runs(7);
    for (auto& run : neither)
        if (run.hosts.size() == 4) run = with(run, "batch-size", "8");
    Runs single{single_device("a", 0.1), step_run("b", 1, 0.2), step_run("c", 2, 0.125),
                step_run("d", 2, 0.5, "none")};
    const Grouping ranks{{"ranks"}, {}};
    const model::Choice two{"", {}, {"ranks=1,4"}, 0};
    texts.add("weak scaling: efficiency 1 and 0.5", text_of(weak_runs(7), ranks));
    texts.add("strong scaling: efficiency 0.125", text_of(strong_runs(7), ranks, two));
    texts.add("no scaling", text_of(neither, ranks, two));
    texts.add("5 runs of each: no interval", text_of(weak_runs(5), ranks));
    texts.add("single runs: over their repetitions", text_of(weak_runs(1), ranks));
    texts.add("not like the base, oversubscribed", text_of(uneven_runs(), ranks));
    texts.add("a base for each way", text_of({step_run("a", 1, 0.1), step_run("b", 2, 0.1),
                                              step_run("c", 2, 0.3, "none"), step_run("d", 4, 0.3, "none")},
                                             {{"sync", "ranks"}, {}}));
    texts.add("one single-device base", text_of(single, {{"mode", "sync", "ranks"}, {}}));
    single.pop_back();
    texts.add("a base of both codes", text_of(single, ranks));
    texts.add("exit codes, cut short, invalid, differing sync", text_of(marked_runs(), ranks));
    texts.add("runs without the measurements", text_of(with_summaries(weak_runs(6)), ranks));
    texts.add("a base for each machine", text_of(of_two_machines(), ranks));
    texts.add("several nodes", text_of(on_several_nodes(), ranks));
    texts.add("measurements asked for", text_of(weak_runs(1), {{"id"}, {"forward_time_s"}}));
    texts.add("long labels", text_of(with_labels(std::string(300, 'x'), "short"), {{"label"}, {}}));
    texts.add("long labels that begin alike",
              text_of(with_labels(std::string(300, 'x'), std::string(30, 'x') + "y"), {{"label"}, {}}));
    texts.add("no run", text_of(weak_runs(1), ranks, {"", {}, {"sync=x"}, 0}));
    texts.add("no such measurement", text_of(weak_runs(1), {{"ranks"}, {"x_s"}}));
    const StoredRuns stored(strong_runs(7)), uneven(uneven_runs()), labelled(with_labels("a|b\n`c`", "d"));
    texts.add("JSON", written([&](const model::Sink& sink) {
                  write_group_json(stored.chosen(two), ranks, sink);
                  write_group_json(uneven.chosen(), ranks, sink);
              }));
    texts.add("Markdown", written([&](const model::Sink& sink) {
                  write_group_markdown(labelled.chosen(), {{"label", "ranks"}, {}}, sink);
              }));
    texts.expect("groups.txt");
}

// What was pooled has to be seen, however many other things differ.
TEST(GroupText, NamesRanksFirstAmongWhatDiffers) {
    Runs runs{step_run("a", 1, 0.1), step_run("b", 2, 0.1)};
    for (const char* key : {"accumulate", "bucket-cap-mb", "compress", "crop-edge", "data"})
        runs[1].config.push_back({key, "other", false});
    EXPECT_THAT(text_of(runs, {{"command"}, {}}), HasSubstr("differ: ranks, global-batch-size, "));
}

// Two processors, two hosts, two builds, two instruction sets: a row of its own each, and it is said.
TEST(GroupText, NeverPoolsRunsOfDifferentSurroundings) {
    const StoredRun one = step_run("a", 1, 0.1), two = step_run("b", 1, 0.3);
    StoredRun revised = two;
    revised.git_revision = "fedcba987654";
    for (const auto& [name, other] :
         {std::pair<std::string, StoredRun>{"host.cpu", with_fact(two, "host", "cpu", "Another CPU")},
          {"build.compiler", with_fact(two, "build", "compiler", "GCC 1")},
          {"libraries.libtorch_cpu_capability",
           with_fact(two, "libraries", "libtorch_cpu_capability", "AVX512")},
          {"environment.ONEDNN_MAX_CPU_ISA", with_fact(two, "environment", "ONEDNN_MAX_CPU_ISA", "AVX2")},
          {"hosts", on_host(two, "node77")},
          {"git_revision", revised}}) {
        model::RunGroups groups({"ranks"}, {});
        groups.add(one);
        groups.add(other);
        EXPECT_EQ(groups.sorted().size(), 2U) << name;
        EXPECT_THAT(groups.apart(), ElementsAre(name));
        EXPECT_THAT(text_of({one, other}, {{"ranks"}, {}}), AllOf(HasSubstr(name), Not(HasSubstr("speedup"))))
            << "neither is the other's base";
    }
}

// A slip is no permission.
TEST(GroupText, PoolsThemWhereTheUserAllowsItAndRefusesToAllowWhatNoRunHas) {
    const Runs runs{with_fact(step_run("a", 1, 0.1), "host", "cpu", "A64FX"),
                    on_host(step_run("b", 1, 0.3), "node77")};
    const auto with = [&](const Keys& allow) {
        model::RunGroups groups({"ranks"}, {}, allow);
        for (const auto& run : runs) groups.add(run);
        groups.check_allowed();
        return groups.sorted().size();
    };
    EXPECT_EQ(with({"hosts", "host.cpu"}), 1U);
    for (const char* word : {"hosts", "host", "host.*", "host.cpu", "cpu", "version", "*"})
        EXPECT_LE(with({word}), 2U) << word;
    const auto refusal = [&](const Keys& allow) {
        return tests::thrown_sentence<base::OptionError>([&] { with(allow); });
    };
    EXPECT_THAT(refusal({"hosts", "hots"}), AllOf(HasSubstr("'hots'"), HasSubstr("did you mean hosts?")));
    EXPECT_THAT(refusal({"nothing.*"}), HasSubstr(", git_revision, host.cpu, hosts, "));
}

}  // namespace
}  // namespace ranklab::report::formats
