// What a person reads of a run and of a list of runs: whole in golden files, rules that hold for any run
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/wrap.hpp"
#include "report/formats/formats.hpp"
#include "report/model/text_table.hpp"
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

StoredRun of_steps(std::int64_t steps) {
    return with_table(sample_run(), {"statistics",
                                     {{"name", Texts{"step_time_s", "forward_time_s"}},
                                      {"n", Counts{steps, steps}},
                                      {"outliers_low", Counts{0, 1}},
                                      {"outliers_high", Counts{3, 9}},
                                      {"warmup_fixed", Counts{10, 10}},
                                      {"warmup_detected", Counts{35, 0}}}});
}

// A training of several ranks, shares as of its phases.
StoredRun trained(double computes, double waits) {
    StoredRun run = sample_run();
    results::Measurement forward = run.measurements[0];
    forward.name = "forward_time_s";
    run.measurements.push_back(forward);
    return with_table(
        run, {"phases",
              {{"phase", Texts{"forward", "backward", "sync", "other", "step"}},
               {"percent", Numbers{computes / 4, 3 * computes / 4, waits, 100 - computes - waits, 100}}}});
}

StoredRun with_late_rank(StoredRun run, double share_of_rank_1) {
    run.context.push_back({"communication", "late_rank", "1"});
    return with_table(run, {"waiting",
                            {{"rank", Counts{0, 1}},
                             {"host", Texts{"node06", "node07"}},
                             {"came_last_share", Numbers{1 - share_of_rank_1, share_of_rank_1}},
                             {"longest_excess_phase", Texts{"none", "backward"}},
                             {"excess_s", Numbers{0, 0.0123}}}});
}

StoredRun overlapped(double share) {
    StoredRun run = sample_run();
    run.measurements.push_back(results::one_value("overlap", "1", results::Kind::ratio, {stats::kNone}));
    run.measurements.back().summary.median = share;
    run.measurements.back().summary.ci95 = {share - 0.1, share + 0.1};
    run.context.push_back({"communication", "no_overlap", "the host does not see when the data moves"});
    return run;
}

// Of a run that was ended before its first number, and of one whose numbers are none.
StoredRun without_numbers(std::size_t n) {
    StoredRun run = sample_run();
    run.measurements.push_back(results::one_value("load_imbalance", "1", results::Kind::ratio, {1}));
    run.measurements.push_back(results::one_value("overlap", "1", results::Kind::ratio, {1}));
    for (auto& m : run.measurements) {
        m.samples.clear();
        m.warmup.clear();
        m.summary = {};
        m.summary.n = n;
    }
    run.measurements.back().summary.median = 0.5;  // of the overlap, whose balance is not there
    return run;
}

StoredRun evaluated(bool resumed) {
    StoredRun run = with_table(sample_run(), {"epochs",
                                              {{"epoch", Counts{5, 6}},
                                               {"steps", Counts{40, 14}},
                                               {"steps_per_epoch", Counts{40, 40}},
                                               {"validation_loss", Numbers{0.3, stats::kNone}}}});
    run.measurements.push_back(
        results::one_value(std::string(vocabulary::kTestLoss), "1", results::Kind::cost, {0.3}));
    if (resumed) run.context.push_back({"checkpoint", "resumed_from_step", "190"});
    return run;
}

StoredRun on_cores(const std::string& second) {
    StoredRun run = sample_run();
    run.hosts = {{0, 0, "node", "0-1", "cpu", 2, "0-1"}, {1, 1, "node", second, "cpu", 2, second}};
    return run;
}

// Of three strategies, the second one the fastest; intervals as wide as told.
StoredRun ladder(double half_width, const Texts& verified = {"yes", "yes", "yes"}) {
    StoredRun run;
    run.command = "io";
    run.tables.push_back({"ladder",
                          {{"rung", Texts{"text-loop", "binary", "hdf5-serial"}},
                           {"ranks", Counts{1, 1, 1}},
                           {"workers", Counts{0, 0, 0}},
                           {"n", Counts{7, 7, 7}},
                           {"job_time_s", Numbers{0.1, 0.01, 0.011}},
                           {"low_s", Numbers{0.09, 0.01 - half_width, 0.011 - half_width}},
                           {"high_s", Numbers{0.11, 0.01 + half_width, 0.011 + half_width}},
                           {"write_MiBps", Numbers{10, 100, 90}},
                           {"read_MiBps", Numbers{4000, 5000, 6000}},
                           {"cache", Texts{"warm (all of it)", "cold", "warm (all of it)"}},
                           {"verified", verified}}});
    return run;
}

StoredRun variants(const Texts& batches, const Texts& sync = {"flat", "bucketed"}) {
    StoredRun run;
    run.command = "train";
    run.config = {{"mode", "ddp", false}};
    run.hosts = {{0, 0, "node", "0", "cpu"}, {1, 1, "node", "1", "cpu"}};
    run.tables.push_back({"variants",
                          {{"global_batch", batches},
                           {"sync", sync},
                           {"valid", Texts{"yes", "yes"}},
                           {"step_time_s", Numbers{0.2, 0.1}},
                           {"low_s", Numbers{0.19, 0.09}},
                           {"high_s", Numbers{0.21, 0.11}}}});
    return run;
}

StoredRun with_ceilings(const std::string& unit) {
    auto run = rung_run("binary", 1, 1, {0.5, {}});
    run.tables = {{"ceilings",
                   {{"ceiling", Texts{"raw write()", "file creation"}},
                    {"value", Numbers{1000, 25000}},
                    {"unit", Texts{"MiB/s", unit}},
                    {"percent", Numbers{150.1, 93.5}},
                    {"binds", Texts{"does not bind", "yes"}},
                    {"mark", Texts{"150.1 % of raw write(): for a reason", ""}}}},
                  {"io_reads", {{"pass", Texts{"read 1"}}, {"MiB_per_s", Numbers{1000}}}}};
    return run;
}

StoredRun failed_ladder() {
    auto run = invalid(sample_ladder(), "a strategy failed");
    std::get<Texts>(run.tables[0].columns[13].values)[2] = "NO";
    std::get<Numbers>(run.tables[0].columns[12].values)[3] = 190.9;  // as older versions stored it
    return run;
}

StoredRun of_model() {
    StoredRun run = comm_run();
    run.config.push_back({"from-model", "resnet50"});
    run.tables.push_back(sample_buckets({1048576, 2097152}));
    run.measurements.push_back(comm_measurement("buckets_time_s", "s", results::Kind::cost, 0.0125));
    return run;
}

StoredRun nonblocking() {
    StoredRun run = comm_run();
    results::Rows rows("nonblocking");
    rows.add({std::string("allreduce"), std::string("job"), std::string("idle"), std::string("fp32"),
              std::string("sum"), std::int64_t{2}, std::int64_t{1024}, std::string("poll"), std::int64_t{50},
              30.0, 20.0, 1.5, 2.5, 6.0, 20.5, 51.25, 40.0, 60.0, std::string()});
    run.tables.push_back(std::move(rows).table());
    run.context.push_back({"collectives", "late", "rank 1 on node02 comes 20 ms after the others"});
    return run;
}

StoredRun with_each_call() {
    StoredRun run = comm_run();
    run.config.back().value = "true";
    return run;
}

StoredRun with_warnings(std::size_t count) {
    StoredRun run = with_late_rank(trained(60, 35), 0.9);
    run.warnings.assign(count, "many words: " + std::string(90, 'x') + " and more, more, more, more of them");
    return run;
}

StoredRun few_samples() {
    StoredRun run = sample_run();
    run.measurements[1] = results::throughput(0.0123456, stats::kNone, stats::kNone, 3);
    run.measurements[3].samples.clear();  // as read with Detail::summaries: the last accuracy is not there
    run.tables = {{"many", {{"n", Counts(100, 7)}}}};
    return run;
}

struct Shown {
    std::string name;
    StoredRun run;
    bool as_text = true;  ///< by run_text too: the first screen alone tells them apart where it is false
};

std::vector<Shown> trainings() {
    return {{"a training", with_late_rank(trained(80, 19.8), 0.8)},
            {"warm-up of 300 steps", of_steps(300)},
            {"warm-up of 14 steps", of_steps(14)},
            {"few samples, a long table", few_samples()},
            {"ended before its first number", without_numbers(0)},
            {"numbers that are none", without_numbers(1)},
            {"invalid", invalid(sample_run(), "the loss is NaN at step 7")},
            {"nothing", {}},
            {"one that mostly waits", trained(40, 60), false},
            {"2 cores oversubscribed", on_cores("0-1"), false},
            {"4 cores", on_cores("2-3"), false},
            {"evaluated in the middle", evaluated(false), false},
            {"resumed", evaluated(true), false},
            {"overlap unknown", overlapped(stats::kNone), false},
            {"half overlapped", overlapped(0.5), false},
            {"warnings", with_warnings(5), false},
            {"variants", variants({"64", "64"}), false},
            {"variants of other batches", variants({"64", "128"}), false},
            {"ranks that sum nothing", variants({"64", "64"}, {"flat", "none"}), false}};
}

std::vector<Shown> writings() {
    return {{"a rung", rung_run("mpi-send", 2, 1, {0.5, {0.4, 0.6}})},
            {"an invalid rung", invalid(rung_run("binary", 1, 1, {0.5, {}}), "3 values are wrong")},
            {"all strategies", sample_ladder()},
            {"a failed strategy", failed_ladder()},
            {"ceilings of creation", with_ceilings("files/s")},
            {"ceilings of writing", with_ceilings("MiB/s"), false},
            {"a clear ladder", ladder(0.0001), false},
            {"intervals that overlap", ladder(0.002), false},
            {"no intervals", ladder(stats::kNone), false},
            {"the fastest failed", ladder(0.0001, {"yes", "NO", "yes"}), false}};
}

// The first columns are those of nccl-tests' util.cu: "%12li  %12li  %8s  %6s  %6s", and twice
// "  %7s  %6s  %6s  %6g".
std::vector<Shown> messages() {
    return {{"allreduce", comm_run()},
            {"wrong elements", invalid(comm_run({{.wrong = 3}}), "24 elements are wrong")},
            {"each call", with_each_call(), false},
            {"one rank, unchecked", comm_run({{.in_place = false, .ranks = 1, .wrong = -1}}), false},
            {"operations, levels and loads",
             comm_run({{},
                       {.op = "alltoall", .in_place = false},
                       {.level = "host"},
                       {.load = "loaded", .mark = "few"}}),
             false},
            {"started operations", nonblocking(), false},
            {"buckets of a model", of_model(), false}};
}

TEST(Screens, AreAsStored) {
    for (const auto& [command, all] :
         {std::pair{"train", trainings()}, {"io", writings()}, {"comm", messages()}}) {
        Outputs answers, texts;
        for (const auto& [name, run, as_text] : all) {
            answers.add(name, answer_text(run, {.all = "--verbose shows all"}) + answer_line(run));
            if (as_text) texts.add(name, run_text(run, {.all_rows = "--format json"}));
        }
        if (std::string(command) == "train")
            answers.add("colours", answer_text(invalid(sample_run(), "why"), {.colour = true}) +
                                       answer_text(sample_run(), {.colour = true}));
        answers.expect(fmt::format("answer_{}.txt", command));
        texts.expect(fmt::format("text_{}.txt", command));
    }
}

TEST(Screens, HaveNeitherNumbersThatAreNoneNorMoreThan80ColumnsNorColoursUnasked) {
    for (const auto& all : {trainings(), writings(), messages()})
        for (const auto& [name, run, as_text] : all) {
            for (const auto& text : {run_text(run), answer_text(run)})
                for (const char* bad : {" nan", "-nan", "(nan", " inf", "\033"})
                    EXPECT_THAT(text, Not(HasSubstr(bad))) << name;
            std::istringstream lines(run.command == "comm" ? "" : answer_text(run));  // NCCL's are wide
            for (std::string line; std::getline(lines, line);)
                EXPECT_TRUE(base::columns_of(line) <= 80 || line.find("xxx") != std::string::npos) << line;
        }
}

TEST(Screens, LetNoControlCharacterThrough) {
    StoredRun run = sample_run();
    run.label = "\x1b[31mred\a";
    run.warnings = {"a\nb\x1b]0;title"};
    run.measurements[0].name = "step\x1b_time";
    run.hosts[0].host = "\x1b";
    for (const char c : run_text(run) + answer_text(run))
        EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20U);
}

class NetworkLine : public testing::Test {
  protected:
    StoredRun training = step_run("train", 2, 0.1);

    NetworkLine() {
        training.config.push_back({"backend", "mpi"});
        training.tables = {sample_communication({{1048576, 0.0008}, {65536, 0.00005}})};
        training.hosts = comm_run().hosts;
    }
    std::string line(const std::vector<StoredRun>& others) {
        std::vector<StoredRun> runs = others;
        runs.push_back(training);
        return network_line(StoredRuns(runs).file(), training, "`comm` would");
    }
};

TEST_F(NetworkLine, SaysWhatTheNetworkGivesBesideWhatTheStepPaysAndExtrapolatesNothing) {
    Outputs lines;
    StoredRun old = comm_run({{.GBps = 1}}, "old");
    old.started_utc = "2026-11-23T10:15:00Z";
    // 64 KiB was measured in place: 20.2 us; 1 MiB lies between 20.2 us and 1156 us (in place).
    lines.add("the newest of two runs", line({comm_run(), old}));
    training.tables = {sample_communication({{1048576, 0.0008}, {8388608, 0.01}})};
    lines.add("a bucket beyond its sizes", line({comm_run()}));
    training.tables = {sample_communication({{8388608, 0.01}})};
    lines.add("all beyond its sizes", line({comm_run()}));
    StoredRun model = comm_run();
    model.config.push_back({"from-model", "mnist-cnn"});
    model.tables.push_back(sample_buckets({8388608}));
    lines.add("a run of the model's buckets", line({model}));
    lines.expect("network_line.txt");
}

TEST_F(NetworkLine, NeedsARunOfTheSameKind) {
    const std::string how = line({});
    EXPECT_THAT(how, HasSubstr("`comm` would"));
    StoredRun hosts = comm_run(), backend = comm_run(), failed = comm_run();
    hosts.hosts[1].host = "node02";
    backend.config[3].value = "nccl";
    failed.valid = false;
    for (const auto& other : {hosts, backend, failed, comm_run({{.ranks = 3}}),
                              comm_run({{.op = "broadcast"}}), comm_run({{.dtype = "fp16"}})})
        EXPECT_EQ(line({other}), how);
    training.hosts.resize(1);
    EXPECT_EQ(line({}), "") << "one rank pays nothing";
}

using model::ListedRun;

ListedRun listed(results::RunHeader header, std::string what, std::string rate) {
    ListedRun run(header);
    run.what = std::move(what);
    run.rate = std::move(rate);
    return run;
}

TEST(RunsText, ListsTheNewestAndSaysWhatToType) {
    Outputs texts;
    std::vector<ListedRun> runs{
        listed({"first", "train", "größer", "2026-11-21T10:15:00Z", true, 0}, "train mnist-cnn ddp on 2 x 1",
               "494.2 samples/s"),
        listed({"second", "io", "b", "2026-11-21T10:16:00Z", false, 3}, "io binary on 1 x 1", "")};
    texts.add("two", runs_text(runs, SIZE_MAX, "", {.one_run = "ranklab report r.h5 --run"}));
    texts.add("two, with nothing to type", runs_text(runs));
    runs = {listed({"20261121T101500Z-0a1b2c3d", "train", std::string(300, 'x'), "t", true, 0},
                   "train mnist-cnn ddp on 1 x 1", "494.2 samples/s"),
            listed({"20261121T101600Z-0a1b2c3d", "train", "short", "t", true, 0},
                   std::string(200, 'y') + " on 2 x 1", "494.2 samples/s")};
    texts.add("long texts", runs_text(runs));
    texts.add("long texts, none shown", runs_text(runs, 0));
    runs.clear();
    for (int i = 0; i < 30; ++i)
        runs.push_back(results::RunHeader{"id" + std::to_string(100 + i), i % 3 == 0 ? "io" : "train",
                                          "night", "t", i != 5, 0});
    texts.add("20 of 30", runs_text(runs, 20, "label=night", {.list_older = "--last lists more"}));
    texts.expect("runs_list.txt");
    EXPECT_THAT(runs_text(runs), Not(HasSubstr(std::string(model::kNoBreak)))) << "shown as blanks";
}

// Its numbers are those of a shorter run; text, JSON and CSV say so alike.
TEST(RunsText, MarksWhatWasCutShort) {
    const auto said = [](int exit_code, bool valid, const std::string& warning) {
        StoredRun run = sample_run("id");
        run.label = "";
        run.exit_code = exit_code;
        run.valid = valid;
        run.warnings = {warning};
        const std::string why = run.cut_short(), word = why.substr(0, why.find(' '));
        EXPECT_EQ(runs_text({model::listed(run)}).find(word) != std::string::npos, true) << word;
        EXPECT_EQ(run_text(run).find("\n  cut short     " + why) != std::string::npos, !why.empty());
        EXPECT_THAT(one_run_json(run), HasSubstr("\"cut_short\":\"" + why + "\""));
        EXPECT_THAT(runs_csv({run}), HasSubstr(',' + why + '\n'));
        return why;
    };
    EXPECT_EQ(said(0, true, "2 ranks share a core"), "");
    EXPECT_EQ(said(3, false, "the loss is NaN"), "");
    EXPECT_EQ(said(137, false, ""), "SIGKILL");
    EXPECT_EQ(said(6, true, "the time limit ended the run"), "time limit");
    EXPECT_EQ(said(143, true, "stopped by SIGTERM"), "SIGTERM");
    EXPECT_EQ(said(5, false, std::string(results::kNotComplete) + "it was measured until noon"),
              "not complete");
}

TEST(RunsText, TellsOfARunWhatItIsFoundBy) {
    StoredRun run = sample_run();
    run.config = {{"model", "mnist-cnn", false}, {"mode", "ddp", false}, {"threads", "2", true}};
    EXPECT_EQ(model::listed(run).what, "train mnist-cnn ddp on 2 x 2");
    run.valid = false;
    EXPECT_EQ(model::listed(run).rate, "") << "its numbers do not stand";
    run.command = "io";
    run.config = {{"strategy", "process-pool,process-queue,binary", false}, {"workers", "3", true}};
    EXPECT_EQ(model::listed(run).what, "io process-pool, process-queue and 1 more by 3 workers");
}

}  // namespace
}  // namespace ranklab::report::formats
