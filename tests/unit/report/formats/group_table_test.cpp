#include "report/formats/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/error.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "thrown_sentence.hpp"
#include "unit/report/flat_text.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using results::StoredRun;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Keys = std::vector<std::string>;

std::string text_of(const std::vector<StoredRun>& runs, const Keys& keys, model::Choice choice = {},
                    const Keys& measure = {}) {
    const StoredRuns stored(runs);
    return written([&](const model::Sink& sink) {
        write_group_text(stored.chosen(std::move(choice)), {keys, measure}, sink);
    });
}

// Steps of 0.10 s at one rank; at 2 and 4 those of a perfect and of half an efficiency.
std::vector<StoredRun> weak_runs(int repetitions) {
    std::vector<StoredRun> runs;
    for (int i = 0; i < repetitions; ++i) {
        const double noise = 1 + 0.001 * i;
        runs.push_back(step_run("a" + std::to_string(i), 1, 0.1 * noise));
        runs.push_back(step_run("b" + std::to_string(i), 2, 0.1 * noise));
        runs.push_back(step_run("c" + std::to_string(i), 4, 0.2 * noise));
    }
    return runs;
}

void make_strong(StoredRun& run) {
    for (auto& setting : run.config) {
        if (setting.key == "global-batch-size") setting.value = "64";
        if (setting.key == "batch-size") setting.value = std::to_string(64 / run.hosts.size());
    }
}

// What the footnotes say that a row refers to.
std::string marks_in(const std::string& text, const std::string& key) {
    std::smatch row;
    if (!std::regex_search(text, row, std::regex("\n  " + key + " +((\\[\\d+\\] ?)+)"))) return "";
    const std::string numbers = row[1], notes = flat(text.substr(text.find("\n  [")));
    std::string marks;
    for (std::size_t at = 0; (at = numbers.find('[', at)) != std::string::npos; ++at) {
        const std::string number = numbers.substr(at, numbers.find(']', at) + 1 - at) + ' ';
        const std::size_t begin = notes.find(number) + number.size();
        const std::size_t end = std::min(notes.find(" [", begin), notes.find(" - ", begin));
        marks += (marks.empty() ? "" : "; ") + notes.substr(begin, end - begin);
    }
    return marks;
}

TEST(RunGroups, AreSortedByNumbersThenTexts) {
    model::RunGroups groups({"ranks"}, {});
    for (const int ranks : {16, 2, 1}) groups.add(step_run("r", ranks, 0.1));
    std::vector<std::string> keys;
    for (const auto& group : groups.sorted()) keys.push_back(group.key[0]);
    EXPECT_THAT(keys, ElementsAre("1", "2", "16"));
    EXPECT_THAT(groups.measurements(), ElementsAre("step_time_s", "throughput_samples_per_s"));
}

TEST(RunGroups, RefuseKeysThatAreNone) {
    for (const Keys& keys : {Keys{""}, Keys{"ranks", "ranks"}, Keys{"ranks", ""}})
        EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] { model::RunGroups(keys, {}); }),
                    HasSubstr("a table is made by keys with a comma between"));
}

TEST(GroupText, IsARowAGroupWithMediansOverRuns) {
    const std::string text = text_of(weak_runs(7), {"ranks"});
    // The middle one of 7 runs; its interval is that of the order statistics 1 and 7.
    EXPECT_THAT(text, ContainsRegex("\n +1 +7 +1 +base +0.1003 +0.1 .. 0.1006\n"));
    EXPECT_THAT(text, ContainsRegex("\n +2 +7 "));
    EXPECT_THAT(flat(text), HasSubstr("base: ranks = 1, step_time_s 0.1003 s, 7 run(s)"));
    EXPECT_THAT(flat(text), HasSubstr("the same in all: command = train, model = mnist-cnn"));
    EXPECT_THAT(flat(text), Not(HasSubstr("differ:")));  // the seed is no factor, the ranks are the key
}

TEST(GroupText, ClaimsWeakScalingWhereTheLocalBatchIsFixed) {
    const std::string text = text_of(weak_runs(7), {"ranks"});
    EXPECT_THAT(text, ContainsRegex("\n +2 +7 +2 +1\\.000 +[01]\\.[0-9]+ \\.\\. 1\\.[0-9]+ +0\\.1003 "));
    EXPECT_THAT(text, ContainsRegex("\n +4 +7 +4 +0\\.500 +0\\.[0-9]+ \\.\\. 0\\.[0-9]+ +0\\.2006 "));
    EXPECT_THAT(flat(text), HasSubstr("weak scaling (the same batch-size for each rank)"));
    EXPECT_THAT(flat(text), Not(HasSubstr("strong scaling")));
}

TEST(GroupText, ClaimsStrongScalingWhereTheGlobalBatchIsFixed) {
    auto runs = weak_runs(7);
    for (auto& run : runs) make_strong(run);
    const std::string text = text_of(runs, {"ranks"});
    EXPECT_THAT(text, ContainsRegex("\n +4 +7 +4 +0\\.500 +0\\.[0-9]+ \\.\\. 0\\.[0-9]+ +0\\.125 +0\\.1"));
    EXPECT_THAT(flat(text), HasSubstr("strong scaling"));
    EXPECT_THAT(flat(text), Not(HasSubstr("weak scaling")));
}

TEST(GroupText, ClaimsNothingWhereNeitherIsFixed) {
    auto runs = weak_runs(7);
    for (auto& run : runs)
        for (auto& setting : run.config)
            if (run.hosts.size() == 4 && setting.key == "batch-size") setting.value = "8";
    const std::string text = text_of(runs, {"ranks"}, {"", {}, {"ranks=1,4"}, 0});
    EXPECT_THAT(flat(text), HasSubstr("no speedup: just one of batch-size and global-batch-size has to be "));
    EXPECT_THAT(flat(text), Not(HasSubstr("scaling (")));
}

TEST(GroupText, SaysWhatEfficiencyIsPerAndMarksRowsThatAreNotLikeTheBase) {
    StoredRun base = step_run("a", 1, 0.2);
    for (auto& setting : base.config)
        if (setting.key == "threads") setting.value = "2";
    StoredRun crowded = step_run("c", 3, 0.3);
    for (auto& row : crowded.hosts) row.cpus = "0-1";
    const std::string text = text_of({base, step_run("b", 2, 0.2), crowded}, {"ranks"});
    EXPECT_THAT(text, ContainsRegex("ranks +marks +runs +CPUs +efficiency/CPU +95% interval"));
    EXPECT_EQ(
        marks_in(text, "2"),
        "not as the base: threads 1 (base 2); efficiency above 1.2: its base was slow, or is other work; "
        "single run");
    EXPECT_THAT(marks_in(text, "3"), HasSubstr("oversubscribed: 3 compute threads on 2 CPUs"));
    const StoredRuns stored({base, crowded});
    const auto json = written([&](const model::Sink& sink) {
        write_group_json(stored.chosen(), {{"ranks"}, {}}, sink);
    });
    EXPECT_THAT(json, HasSubstr("\"efficiency_per\":\"CPU\""));
    EXPECT_THAT(json, HasSubstr("\"oversubscribed\":\"3 compute threads on 2 CPUs\""));
}

// What was pooled has to be seen, however many other things differ.
TEST(GroupText, NamesRanksFirstAmongWhatDiffers) {
    std::vector<StoredRun> runs{step_run("a", 1, 0.1), step_run("b", 2, 0.1)};
    for (const char* key : {"accumulate", "bucket-cap-mb", "compress", "crop-edge", "data"})
        runs[1].config.push_back({key, "other", false});
    EXPECT_THAT(text_of(runs, {"command"}), ContainsRegex("differ: ranks, global-batch-size, "));
}

TEST(GroupText, HasABaseForEachValueOfTheOtherKeys) {
    const std::string text = text_of({step_run("a", 1, 0.1), step_run("b", 2, 0.1),
                                      step_run("c", 2, 0.3, "none"), step_run("d", 4, 0.3, "none")},
                                     {"sync", "ranks"});
    EXPECT_THAT(flat(text), HasSubstr("base: sync = flat, ranks = 1, step_time_s 0.1 s, 1 run(s)"));
    EXPECT_THAT(flat(text), HasSubstr("base: sync = none, ranks = 2, step_time_s 0.3 s, 1 run(s)"));
}

StoredRun single_device(const std::string& id, double step_s) {
    StoredRun run = step_run(id, 1, step_s, "none");
    for (auto& setting : run.config)
        if (setting.key == "mode") setting.value = "single";
    return run;
}

TEST(GroupText, HasTheSingleDeviceRunAsBaseOfEveryWayBetweenRanks) {
    const std::string text = text_of({single_device("a", 0.1), step_run("b", 1, 0.2), step_run("c", 2, 0.125),
                                      step_run("d", 2, 0.5, "none")},
                                     {"mode", "sync", "ranks"});
    EXPECT_THAT(flat(text),
                HasSubstr("base: mode = single, sync = none, ranks = 1, step_time_s 0.1 s, 1 run(s), "
                          "1 CPU, single-device code"));
    EXPECT_THAT(flat(text), Not(HasSubstr("base: mode = ddp")));
    EXPECT_THAT(text, ContainsRegex("\n +ddp +flat +1 .* 0\\.500 "));  // the code's own cost
    EXPECT_THAT(text, ContainsRegex("\n +ddp +flat +2 .* 0\\.800 "));
    EXPECT_THAT(text, ContainsRegex("\n +ddp +none +2 .* 0\\.200 "));
}

TEST(GroupText, SaysWhereABaseIsOfBothCodes) {
    const std::string text =
        text_of({single_device("a", 0.1), step_run("b", 1, 0.1), step_run("c", 2, 0.125)}, {"ranks"});
    EXPECT_THAT(
        flat(text),
        HasSubstr("2 run(s), 1 CPU, single-device code and others in one: the key mode tells them apart"));
}

TEST(GroupText, OfSingleRunsHasIntervalsOverTheirRepetitions) {
    const std::string text = text_of({step_run("a", 1, 0.1), step_run("b", 2, 0.1)}, {"ranks"});
    EXPECT_THAT(text, ContainsRegex("\n +2 +\\[1\\] +1 +2 +1\\.000 +0\\.[0-9]+ \\.\\. 1\\.[0-9]+\n"));
    EXPECT_EQ(marks_in(text, "2"), "single run");
    EXPECT_THAT(flat(text), HasSubstr("single run: the intervals are over its own repetitions"));
}

TEST(GroupText, BelowSixRunsHasNoInterval) {
    EXPECT_THAT(text_of(weak_runs(5), {"ranks"}), ContainsRegex("\n +1 +[0-9.]+ +n/a \\(n < 6\\)"));
}

TEST(GroupText, LeavesInvalidRunsOutAndCountsThem) {
    auto runs = weak_runs(1);
    runs.push_back(step_run("bad", 1, 9.0));
    runs.back().valid = false;
    runs.back().exit_code = 3;
    EXPECT_EQ(marks_in(text_of(runs, {"ranks"}), "1"), "single run; 1 INVALID left out");
}

TEST(GroupText, MarksWhatIsNotConvergedOrCutShort) {
    auto runs = weak_runs(1);
    runs[0].exit_code = 7;
    runs[1].exit_code = 128 + 15;
    runs[2].warnings = {"step_time_s is not converged: half-width 4 %"};
    const std::string text = text_of(runs, {"ranks"});
    EXPECT_EQ(marks_in(text, "1"), "single run; 1 with exit code 7");
    EXPECT_EQ(marks_in(text, "2"), "single run; 1 cut short");
    EXPECT_EQ(marks_in(text, "4"), "single run; 1 not converged");
}

TEST(GroupText, SaysWhyBelowTheAnswer) {
    auto runs = weak_runs(7);
    for (auto& run : runs) make_strong(run);
    const model::Choice choice{"", {}, {"ranks=1,4"}, 0};
    EXPECT_THAT(text_of(runs, {"ranks"}, choice),
                ContainsRegex(
                    "^best: ranks = 1 .the base[^\n]*\nwhy: forward takes 0.0[^\n]* of a step of the base"));
    const StoredRuns stored(runs);
    EXPECT_THAT(written([&](const model::Sink& sink) {
                    write_group_json(stored.chosen(choice), {{"ranks"}, {}}, sink);
                }),
                HasSubstr(R"("why":["why: forward takes )"));
}

TEST(GroupText, NamesWhatDiffersInsideAGroup) {
    EXPECT_EQ(marks_in(text_of({step_run("a", 1, 0.1), step_run("b", 1, 0.1, "none")}, {"ranks"}), "1"),
              "differ: sync");
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
        const std::string text = text_of({one, other}, {"ranks"});
        EXPECT_THAT(text, Not(ContainsRegex("\n +1 .* 2 +[0-9.]+ +n/a \\(n < 6\\)"))) << name << "\n" << text;
        EXPECT_THAT(flat(text), HasSubstr("not pooled: they differ in " + name)) << text;
        EXPECT_THAT(text, ContainsRegex("ranks +" + name)) << text;
        EXPECT_THAT(text, Not(HasSubstr("speedup"))) << "neither is the other's base\n" << text;
    }
}

// The summary of several runs, or an ablation, has neither the measurements nor all facts.
TEST(GroupText, CountsAndTellsApartOnlyRunsThatHaveTheMeasurements) {
    std::vector<StoredRun> runs = weak_runs(6);
    StoredRun summary = with_fact(step_run("s", 1, 0.1), "host", "cpu", "Another CPU");
    summary.measurements.clear();
    StoredRun ablation = step_run("t", 1, 0.1);
    ablation.measurements.clear();
    ablation.config.push_back({"ablation", "true"});
    runs.insert(runs.end(), {summary, ablation});
    const std::string text = text_of(runs, {"ranks"});
    EXPECT_THAT(text, Not(HasSubstr("differ"))) << text;
    EXPECT_THAT(text, Not(HasSubstr("n < 6"))) << text;
    EXPECT_THAT(text, ContainsRegex("\n +1 +6 ")) << text;
    EXPECT_THAT(flat(text), HasSubstr(" 6 run(s)")) << text;
    EXPECT_THAT(flat(text), HasSubstr("2 run(s) without these measurements are left out")) << text;
}

TEST(GroupText, PoolsThemWhereTheUserAllowsIt) {
    const StoredRuns stored({step_run("a", 1, 0.1), on_host(step_run("b", 1, 0.3), "node77")});
    const std::string text = written([&](const model::Sink& sink) {
        write_group_text(stored.chosen(), {{"ranks"}, {}, {"hosts"}}, sink);
    });
    EXPECT_THAT(text, ContainsRegex("\n +1 +2 "));
    EXPECT_THAT(flat(text), Not(HasSubstr("not pooled")));
}

// A slip is no permission.
TEST(GroupText, RefusesToAllowWhatNoRunHas) {
    const StoredRuns stored(
        {with_fact(step_run("a", 1, 0.1), "host", "cpu", "A64FX"), step_run("b", 1, 0.3)});
    const auto with = [&](const Keys& allow) {
        return written([&](const model::Sink& sink) {
            write_group_text(stored.chosen(), {{"ranks"}, {}, allow}, sink);
        });
    };
    const auto refusal = [&](const Keys& allow) {
        return tests::thrown_sentence<base::OptionError>([&] { with(allow); });
    };
    EXPECT_THAT(refusal({"hosts", "hots"}), HasSubstr("'hots': these runs have nothing of that name that "
                                                      "could differ (did you mean hosts?); they have "));
    EXPECT_THAT(refusal({"nothing.*"}), HasSubstr(", git_revision, host.cpu, hosts, "));
    for (const char* word : {"hosts", "host", "host.*", "host.cpu", "cpu", "version", "*"})
        EXPECT_NE(with({word}), "") << word;
}

// A machine's runs have their base in its own.
TEST(GroupText, HasABaseForEachMachine) {
    const auto slow = [](const StoredRun& run) { return with_fact(run, "host", "cpu", "Slow"); };
    const std::string text = text_of({step_run("a", 1, 0.1), step_run("b", 2, 0.1),
                                      slow(step_run("c", 1, 0.4)), slow(step_run("d", 2, 0.8))},
                                     {"ranks"});
    EXPECT_THAT(flat(text), HasSubstr("host.cpu = Slow, step_time_s 0.4 s"));
    EXPECT_THAT(text, ContainsRegex("\n +2 +Slow +\\[1\\] +1 .* 0\\.500 "));
    EXPECT_THAT(text, ContainsRegex("\n +2 +[^S\n]* 1\\.000 "));
}

// More ranks take more nodes: no other surroundings, and no lost base.
TEST(GroupText, OnSeveralNodesHostsDoNotHideTheBase) {
    StoredRun wide = step_run("b", 2, 0.1);
    wide.hosts[0].host = "node02";
    wide.hosts[1].host = "node03";
    const std::string text = text_of({step_run("a", 1, 0.1), wide}, {"ranks"});
    EXPECT_THAT(text, HasSubstr("weak scaling")) << text;
}

TEST(GroupText, ShowsTheMeasurementsAskedFor) {
    const std::string text = text_of(weak_runs(1), {"id"}, {}, {"forward_time_s"});
    EXPECT_THAT(flat(text), HasSubstr("forward_time_s"));
    EXPECT_THAT(flat(text), Not(HasSubstr("throughput")));
}

TEST(GroupText, OfNothingSaysSo) {
    EXPECT_THAT(text_of(weak_runs(1), {"ranks"}, {"", {}, {"sync=x"}, 0}),
                HasSubstr("holds no run of sync=x"));
    EXPECT_THAT(text_of(weak_runs(1), {"ranks"}, {}, {"x_s"}), HasSubstr("have none of the measurements"));
}

TEST(GroupMarkdown, IsATableThatGitHubReads) {
    auto runs = weak_runs(1);
    for (auto& run : runs) run.label = "a|b\n`c`";
    const StoredRuns stored(runs);
    const std::string text = written([&](const model::Sink& sink) {
        write_group_markdown(stored.chosen(), {{"label", "ranks"}, {}}, sink);
    });
    EXPECT_THAT(text, ContainsRegex("^\\| label \\| ranks \\| runs \\|"));
    EXPECT_THAT(flat(text), HasSubstr("| a\\|b \\`c\\` | 1 | 1 |"));
    EXPECT_THAT(flat(text), HasSubstr("3 run(s); command = train"));
    std::size_t columns = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with('|');) {
        std::size_t bars = 0;
        for (std::size_t i = 0; i < line.size(); ++i)
            bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
        if (columns == 0) columns = bars;
        EXPECT_EQ(bars, columns) << line;
    }
}

TEST(GroupText, CutsLongKeysWhileTheyTellTheRowsApart) {
    auto runs = weak_runs(1);
    for (auto& run : runs) run.label = std::string(300, 'x');
    runs.back().label = "short";
    const std::string one = text_of(runs, {"label"});
    EXPECT_THAT(one, HasSubstr("  " + std::string(25, 'x') + "... "));
    runs.back().label = std::string(30, 'x') + "y";
    const std::string apart = text_of(runs, {"label"});
    EXPECT_THAT(apart, HasSubstr(runs.back().label));
    EXPECT_THAT(apart, Not(HasSubstr(std::string(38, 'x'))));
}

}  // namespace
}  // namespace ranklab::report::formats
