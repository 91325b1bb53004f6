// The texts of a run, of a list of runs and of groups: whole in golden files, rules for all of them
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/formats/formats.hpp"
#include "unit/report/comm_runs_sample.hpp"
#include "unit/report/io_runs_sample.hpp"
#include "unit/report/outputs.hpp"
#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::formats {
namespace {

using results::sample_run;
using results::StoredRun;
using testing::HasSubstr;
using testing::Not;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;
using Counts = std::vector<std::int64_t>;
using Runs = std::vector<StoredRun>;

StoredRun with_table(StoredRun run, results::Table table) {
    std::erase_if(run.tables, [&](const auto& one) { return one.name == table.name; });
    run.tables.push_back(std::move(table));
    return run;
}

StoredRun invalid(StoredRun run, const std::string& why) {
    run.valid = false;
    run.exit_code = 3;
    run.warnings = {why};
    return run;
}

// A training run with these shares of its phases, in per cent; rank 1 is the straggler.
StoredRun trained(double computes, double waits) {
    StoredRun run = sample_run();
    run.context.push_back({"communication", "late_rank", "1"});
    run.measurements.push_back(*run.find("step_time_s"));
    run.measurements.back().name = "sync_exposed_time_s";
    for (double& sample : run.measurements.back().samples) sample *= waits / 100;
    run = with_table(run, {"waiting",
                           {{"rank", Counts{0, 1}},
                            {"host", Texts{"node06", "node07"}},
                            {"came_last_share", Numbers{0.2, 0.8}}}});
    return with_table(run, {"phases",
                            {{"phase", Texts{"forward", "backward", "sync", "other", "step"}},
                             {"per_hit_s", Numbers{0.01, 0.03, 0.01, 0.001, 0.051}},
                             {"percent", Numbers{computes / 4, 3 * computes / 4, waits,
                                                 100 - computes - waits, 100}}}});
}

StoredRun overlapped(double share) {
    StoredRun run = sample_run();
    run.measurements.push_back(
        results::one_value("overlap", "1", results::Kind::ratio, {stats::kNone}));
    run.measurements.back().summary.median = share;
    run.measurements.back().summary.ci95 = {share - 0.1, share + 0.1};
    return run;
}

StoredRun with_warnings(std::size_t count) {
    StoredRun run = trained(60, 35);
    run.warnings.assign(
        count, "many words: " + std::string(50, 'x') + " and more, more, more, more of them");
    return run;
}

StoredRun of_model() {
    StoredRun run = comm_run();
    run.config.push_back({"from-model", "resnet50"});
    run.tables.push_back(sample_buckets({1048576, 2097152}));
    run.measurements.push_back(
        comm_measurement("buckets_time_s", "s", results::Kind::cost, 0.0125));
    return run;
}

StoredRun ended_before_its_first_number() {
    StoredRun run = sample_run();
    for (auto& m : run.measurements) {
        m.samples.clear();
        m.warmup.clear();
        m.summary = {};
    }
    return run;
}

std::vector<std::pair<std::string, StoredRun>> all_runs() {
    return {{"a training", trained(80, 19.8)},
            {"one that mostly waits", trained(40, 60)},
            {"half overlapped", overlapped(0.5)},
            {"overlap unknown", overlapped(stats::kNone)},
            {"warnings", with_warnings(5)},
            {"ended before its first number", ended_before_its_first_number()},
            {"invalid", invalid(sample_run(), "the loss is NaN at step 7")},
            {"nothing", {}},
            {"a strategy", rung_run("mpi-send", 2, 1, {0.5, {0.4, 0.6}})},
            {"all strategies", sample_ladder()},
            {"allreduce", comm_run()},
            {"wrong elements", invalid(comm_run({{.wrong = 3}}), "24 elements are wrong")},
            {"one rank, unchecked", comm_run({{.in_place = false, .ranks = 1, .wrong = -1}})},
            {"a model's buckets", of_model()}};
}

TEST(Screens, AreAsStored) {
    Outputs answers, texts;
    for (const auto& [name, run] : all_runs()) {
        answers.add(name, answer_text(run) + answer_line(run));
        texts.add(name, run_text(run, true));
    }
    answers.expect("answers.txt");
    texts.expect("runs.txt");
}

TEST(Screens, HaveTheResultLastAndAtMostEightLinesBelowTables) {
    for (const auto& [name, run] : all_runs()) {
        if (!run.valid || run.command != "train") continue;
        const std::string text = answer_text(run);
        EXPECT_LE(std::ranges::count(text, '\n'), name == "warnings" ? 15 : 12) << name << text;
        EXPECT_GT(text.rfind("  result "),
                  text.rfind("  warning ") == std::string::npos ? 0 : text.rfind("  warning "));
    }
}

// The longer half of a wide interval is longer than the rate.
TEST(Screens, HaveNoRatesBelow0) {
    StoredRun run = trained(80, 20);
    for (auto& one : run.measurements)
        one.summary.ci95 = {one.summary.median / 3, 3 * one.summary.median};
    EXPECT_THAT(answer_text(run), HasSubstr("1600.0 +- n/a\n"));
}

TEST(Screens, FitATerminalAndSteerNone) {
    for (auto [name, run] : all_runs()) {
        run.label = "\x1b[31mred";
        for (const auto& text : {answer_text(run), run_text(run, true)}) {
            EXPECT_THAT(text, Not(HasSubstr("\x1b")));
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);)
                EXPECT_TRUE(line.size() <= 80 || line.starts_with("  typed"))
                    << name << ": " << line;
        }
    }
    EXPECT_THAT(answer_text(with_warnings(1), {.colour = true}),
                HasSubstr("\033[33mwarning\033[0m"));
}

TEST(RunsList, IsAsStored) {
    Outputs all;
    Runs runs;
    for (int i = 0; i < 5; ++i) runs.push_back(step_run("2026112" + std::to_string(i), 2, 0.1));
    runs[1].valid = false;
    runs[1].exit_code = 3;
    runs[2].exit_code = 6;
    const StoredRuns stored(runs);
    const auto list = [&](std::size_t most) {
        return model::list_runs(stored.file(), stored.chosen().headers(), most);
    };
    all.add("all", runs_text(list(5), 5, "", "ranklab report r.h5 --run"));
    all.add("the last two of some", runs_text(list(2), 5, "sync=flat", ""));
    all.expect("runs_list.txt");
}

model::Groups groups_of(const Runs& runs, const Texts& keys) {
    const model::GroupQuery query{.keys = keys};
    Frame table;
    for (const auto& run : runs) model::add_run(table, query, run);
    return {std::move(table), query};
}

// Weak scaling: efficiency 1 at two ranks, 0.5 at four.
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

TEST(GroupText, IsAsStored) {
    Outputs all;
    const auto weak = groups_of(weak_runs(7), {"ranks"});
    all.add("weak scaling", groups_text(weak));
    all.add("JSON", groups_json(weak));
    all.add("CSV", groups_csv(weak));
    all.add("Markdown", groups_markdown(weak, "label a|b"));
    all.add("LaTeX", groups_latex(weak, "label a_b"));
    all.add("single runs", groups_text(groups_of(weak_runs(1), {"ranks"})));
    all.add("ways to sum",
            groups_text(groups_of({step_run("a", 2, 0.1), step_run("b", 2, 0.2, "per-parameter"),
                                   step_run("c", 2, 0.05, "none")},
                                  {"sync"})));
    all.add("messages of more ranks",
            groups_text(groups_of({comm_run(), comm_run({{.ranks = 3}}, "b")}, {"ranks"})));
    Runs without = weak_runs(1);
    for (auto& run : without) run.measurements.clear();
    all.add("no measurements", groups_text(groups_of(without, {"ranks"})));
    all.expect("groups.txt");
}

}  // namespace
}  // namespace ranklab::report::formats
