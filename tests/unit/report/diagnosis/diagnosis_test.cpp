#include "report/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <map>

#include "unit/report/runs_in_file.hpp"

namespace ranklab::report::diagnosis {
namespace {

using Parts = std::map<std::string, std::vector<double>>;  // a rank each, in all steps

constexpr std::size_t kSteps = 40;

results::Run run_of(const Parts& parts, std::vector<results::Setting> settings = {},
                    std::vector<results::HostRow> hosts = {{0, 0, "n1", "0", "cpu", 1, "0"},
                                                           {1, 1, "n1", "1", "cpu", 1, "1"}}) {
    results::Run run;
    run.id = "a";
    run.command = "train";
    run.duration_s = 10;
    run.hosts = std::move(hosts);
    run.config = {{"mode", "ddp", false},
                  {"sync", "bucketed", false},
                  {"batch-size", "32", true},
                  {"workers", "0", true},
                  {"steps", "40", true}};
    for (const auto& one : settings)
        for (auto& setting : run.config)
            if (setting.key == one.key) setting = one;
    run.context = {{"host", "logical_cpus", "4"}};
    for (const auto& [name, of_ranks] : parts) {
        results::Measurement m{name, "s", results::Kind::cost, "max", "step", of_ranks.size(), {},
                               {},   {}};
        for (std::size_t step = 0; step < kSteps; ++step)
            for (const double seconds : of_ranks)
                m.samples.push_back(seconds * (1 + 0.01 * static_cast<double>(step % 3)));
        m.summary = stats::summarise(m.largest_of_rows());
        run.measurements.push_back(std::move(m));
    }
    return run;
}

std::vector<results::HostRow> one_rank(int threads, const std::string& cores) {
    return {{0, 0, "n1", cores, "cpu", threads, cores}};
}

std::vector<results::HostRow> two_hosts() {
    return {{0, 0, "n1", "0", "cpu", 1, "0"}, {1, 0, "n2", "0", "cpu", 1, "0"}};
}

struct Case {
    const char* name;
    results::Run run;
    std::string bound, cause;
    std::string option = {};                ///< first advice
    double most = 0, least = stats::kNone;  ///< percent saved
};

// Other processes used `cores` of the host.
results::Run beside(results::Run run, const char* cores) {
    run.context.push_back({"place", "others_cores", cores});
    return run;
}

// Forward and backward take 4 s on the GPU; the host launches their kernels in `launch_s`.
results::Run launching(double launch_s) {
    return run_of({{"step_time_s", {4}},
                   {"forward_time_s", {1}},
                   {"backward_time_s", {3}},
                   {"launch_time_s", {launch_s}}},
                  {}, {{0, 0, "n1", "0", "cuda:0 [a]", 1, "0"}});
}

std::vector<Case> cases() {
    const Parts loading{{"step_time_s", {4}}, {"data_time_s", {3}}, {"loader_decode_time_s", {3}}};
    const Parts reading{{"step_time_s", {4}}, {"data_time_s", {3}}, {"loader_read_time_s", {3}}};
    const Parts slow{{"step_time_s", {3, 3}}, {"sync_exposed_time_s", {2, 0}}};
    const Parts sends{{"step_time_s", {4, 4}}, {"sync_exposed_time_s", {2, 2}}};
    const Parts small{{"step_time_s", {4}}, {"optimizer_time_s", {2}}};
    const Parts computes{{"step_time_s", {4, 4}}, {"sync_exposed_time_s", {0.1, 0.1}}};
    auto shared = one_rank(1, "0-1");
    shared.resize(4, shared.front());
    const Parts crowded{{"step_time_s", {4, 4, 4, 4}}, {"sync_exposed_time_s", {2, 1, 0, 1}}};
    return {
        {"one core for both", run_of(loading, {}, one_rank(1, "0")), "input", "costly_loader"},
        // (3 + 1) / 2 cores.
        {"a core to spare", beside(run_of(loading, {}, one_rank(1, "0-1")), "0.00"), "input",
         "costly_loader", "--workers 2", 55},
        // Reading takes no core, so that the step is as long as computing: 1 s.
        {"slow reading", beside(run_of(reading, {}, one_rank(1, "0")), "0.00"), "input",
         "slow_input", "--workers 3", 80},
        {"a slow rank", run_of(slow), "imbalance", "late_rank", "mpirun --bind-to none"},
        // The sum does not depend on the batch: 2 of 4 s, and at most all does.
        {"a slow link", run_of(sends, {}, two_hosts()), "communication", "transfer",
         "--batch-size 512", 95, 40},
        // As the update.
        {"a small batch", run_of(small, {}, one_rank(1, "0")), "compute", "small_batch",
         "--batch-size 512", 95, 40},
        {"threads",
         run_of(computes, {}, {{0, 0, "n1", "0", "cpu", 2, "0"}, {1, 1, "n1", "1", "cpu", 2, "1"}}),
         "compute", "threads_on_cores", "mpirun --map-by slot:PE=2 --bind-to core"},
        {"ranks", run_of(crowded, {}, shared), "compute", "ranks_on_cores", "mpirun -n 2"},
        {"cores to spare",
         run_of(computes, {},
                {{0, 0, "n1", "0-1", "cpu", 1, "0-1"}, {1, 1, "n1", "2-3", "cpu", 1, "2-3"}}),
         "compute", "idle_cores", "--threads 2"},
        {"a GPU as fast as its launches", launching(3.9), "launches", "launches", "--cuda-graph"},
        {"a GPU behind its launches", launching(1), "compute", "none"},
        {"healthy", run_of(computes), "compute", "none"},
        {"waits hidden in backward", run_of(computes, {{"sync", "c10d", false}}), "unknown",
         "not_measured", "--ablation"},
    };
}

std::string option_of(const Diagnosis& found) {
    return found.advice.empty() ? "" : found.advice.at(0, "option").text;
}

TEST(Diagnosis, ItsAdviceFitsOnALine) {
    std::map<std::string, std::string> lines;
    for (const auto& one : cases()) lines[one.name] = advice_text(diagnose(one.run));
    EXPECT_EQ(lines["a core to spare"], "--workers 2 saves at most 55 % of the time per sample");
    EXPECT_EQ(lines["cores to spare"], "--threads 2") << "the load was not measured";
    EXPECT_EQ(lines["a small batch"],
              "--batch-size 512 saves at least 40 %, at most 95 % of the time per sample");
    EXPECT_EQ(lines["a GPU as fast as its launches"], "--cuda-graph");
    EXPECT_EQ(lines["healthy"], "");
}

TEST(Diagnosis, NamesTheCauseAndWhatToTry) {
    for (const auto& one : cases()) {
        SCOPED_TRACE(one.name);
        const auto found = diagnose(one.run);
        EXPECT_EQ(bound_of(found.cause), one.bound) << found.why;
        EXPECT_EQ(name_of(found.cause), one.cause) << found.why;
        EXPECT_EQ(option_of(found), one.option);
        if (one.most == 0) continue;
        EXPECT_EQ(found.advice.at(0, "at_most_percent").number, one.most);
        const Cell& least = found.advice.at(0, "at_least_percent");
        EXPECT_EQ(least.empty(), std::isnan(one.least));
        if (!least.empty()) {
            EXPECT_EQ(least.number, one.least);
        }
    }
}

// Seconds of a step's parts on three ranks that have one core each.
struct Made {
    double input = 0, late = 0, uneven = 0, others = 0, update = 0, transfer = 0;
    int late_rank = 0;
    int threads = 1;  // per rank
};

// Rank r's computing takes 1 s; the late rank is late in forward.
results::Run run_with(const Made& made) {
    constexpr std::size_t kRanks = 3;
    results::Run run = run_of({}, {}, {});
    std::map<std::string_view, std::vector<double>> samples;
    for (std::size_t step = 0; step < kSteps; ++step) {
        std::vector<double> forward(kRanks, 1 + made.others);
        forward[static_cast<std::size_t>(made.late_rank)] += made.late;
        forward[step % kRanks] += made.uneven;
        const double last = std::ranges::max(forward);
        for (const double own : forward) {
            const double sync = last - own + made.transfer;
            samples["forward_time_s"].push_back(own);
            samples["data_time_s"].push_back(made.input);
            samples["loader_read_time_s"].push_back(made.input);
            samples["optimizer_time_s"].push_back(made.update);
            samples["sync_exposed_time_s"].push_back(sync);
            samples["core_wait_time_s"].push_back(made.others);
            samples[vocabulary::kStepTime].push_back(made.input + own + sync + made.update);
        }
    }
    for (int rank = 0; rank < static_cast<int>(kRanks); ++rank)
        run.hosts.push_back(
            {rank, rank, "n1", std::to_string(rank), "cpu", made.threads, std::to_string(rank)});
    for (auto& [name, values] : samples) {
        run.measurements.push_back(
            {std::string(name), "s", results::Kind::cost, "max", "step", kRanks, values, {}, {}});
        run.measurements.back().summary =
            stats::summarise(run.measurements.back().largest_of_rows());
    }
    run.context.push_back({"place", "others_cores", made.threads > 1 ? "0.00" : "2.50"});
    return run;
}

// Of any two losses the larger one is named, whichever comes first.
TEST(Diagnosis, NamesTheLargestLoss) {
    const std::pair<const char*, double Made::*> losses[] = {
        {"slow_input", &Made::input},    {"late_rank", &Made::late},
        {"uneven_steps", &Made::uneven}, {"other_load", &Made::others},
        {"small_batch", &Made::update},  {"transfer", &Made::transfer}};
    for (const auto& [name, large] : losses)
        for (const auto& [other, small] : losses) {
            if (large == small) continue;
            Made made;
            made.*small = 0.5;
            // A loss in turns costs a third more on a rank that is late in any case.
            made.*large = 1.5;
            const auto found = diagnose(run_with(made));
            EXPECT_EQ(name_of(found.cause), name) << other << ": " << found.why;
        }
    EXPECT_EQ(name_of(diagnose(run_with({.others = 1, .threads = 2})).cause), "threads_on_cores");
    EXPECT_EQ(name_of(diagnose(run_with({.late = 1, .others = 0.3, .threads = 2})).cause),
              "late_rank");
    EXPECT_EQ(name_of(diagnose(run_with({.input = 0.1, .late = 0.1})).cause), "none");
}

// Threads and ranks that take turns lose time to the switches, too, which count as computing.
TEST(Diagnosis, TakingTurnsCostsMoreThanTheWaits) {
    const auto saved = [](std::vector<results::HostRow> hosts, double waited_s) {
        const std::vector<double> step(hosts.size(), 4), waited(hosts.size(), waited_s);
        const auto run = run_of({{"step_time_s", step}, {"core_wait_time_s", waited}}, {}, hosts);
        return advice_text(diagnose(beside(run, "0.00")));
    };
    EXPECT_EQ(saved(one_rank(2, "0"), 2),
              "mpirun --map-by slot:PE=2 --bind-to core saves at least 35 %, at most 80 % of the "
              "time per sample; oversubscribed: 2 compute threads on 1 core of a rank");
    // Three of four seconds are waits; two ranks take two steps of a second each.
    EXPECT_EQ(saved(std::vector(4, one_rank(1, "0-1").front()), 3),
              "mpirun -n 2 saves at least 45 %, at most 80 % of the time per sample; "
              "oversubscribed: 4 compute threads on 2 cores");
}

// Without a measured load nobody is blamed.
TEST(Diagnosis, OtherLoadIsNamedWhereItWasMeasured) {
    auto run = run_with({.others = 1.5});
    EXPECT_EQ(diagnose(run).cause, Cause::other_load);
    EXPECT_EQ(option_of(diagnose(run)), "end the other processes");
    run.context.pop_back();
    const auto found = diagnose(run);
    EXPECT_EQ(found.cause, Cause::core_wait) << found.why;
    EXPECT_TRUE(found.advice.empty());
}

// It need not be the last one in the sums: it may be late after them, in the optimizer.
TEST(Diagnosis, NamesTheLateRankWithItsFullCost) {
    auto run = run_with({.late = 2, .late_rank = 2});
    results::Rows waiting("waiting");
    for (const std::int64_t rank : {0, 1, 2})
        waiting.add({rank, std::string("n1"), rank < 2 ? 2.0 : 0.0, rank < 2 ? 0.4 : 0.2,
                     std::string(rank < 2 ? "none" : "forward"), rank < 2 ? 0.0 : 2.0});
    run.tables.push_back(std::move(waiting).table());
    const auto found = diagnose(run);
    EXPECT_NEAR(found.parts.at(1, "time_s").number, 2, 1e-9);
    EXPECT_NE(found.why.find("rank 2 on n1"), std::string::npos) << found.why;
    EXPECT_NE(found.why.find("forward"), std::string::npos) << found.why;
}

TEST(Diagnosis, OfAnAblationIsItsWaterfall) {
    auto run = run_of({});
    results::Rows falls("waterfall");
    for (const auto& [part, seconds] : {std::pair{"compute", 1.0}, {"communication", 2.0}})
        falls.add({std::string(part), seconds, 0.0, 0.0, 0.0});
    run.tables.push_back(std::move(falls).table());
    EXPECT_EQ(diagnose(run).cause, Cause::transfer);
}

// Ten blocks of four steps each, or none; a factor is never outside 0 and 1.
TEST(Diagnosis, IntervalsNeedTenBlocks) {
    auto run = run_with({.uneven = 3});
    const auto found = diagnose(run);
    for (const auto& row : found.parts.rows) {
        const Cell& factor = row.cells.at(found.parts.find("efficiency"));
        if (!factor.is_number()) continue;
        EXPECT_TRUE(factor.interval.low >= 0 && factor.interval.high <= 1) << row.cells[0].text;
    }
    for (auto& m : run.measurements) m.samples.resize(m.samples.size() - m.columns);
    EXPECT_TRUE(std::isnan(diagnose(run).parts.at(1, "efficiency").interval.low));
}

TEST(Diagnosis, HdfReadsForOneThreadAtATime) {
    const Parts parts{{"step_time_s", {4}}, {"data_time_s", {2}}, {"loader_read_time_s", {2}}};
    auto run = beside(run_of(parts, {}, one_rank(1, "0")), "0.00");
    run.config.push_back({"data", "hdf5", false});
    const auto found = diagnose(run);
    EXPECT_EQ(option_of(found), "--workers 1");
    EXPECT_EQ(found.advice.at(0, "at_most_percent").number, 55);
}

TEST(Diagnosis, FurtherCoresHaveANumberOnQuietHostsAlone) {
    for (const auto& one : cases()) {
        if (one.cause != "ranks_on_cores" && one.option != "--workers 2") continue;
        auto run = one.run;
        std::erase_if(run.context, [](const auto& fact) { return fact.section == "place"; });
        EXPECT_FALSE(diagnose(beside(run, "0.00")).advice.at(0, "at_most_percent").empty());
        for (const auto& disturbed : {run, beside(run, "0.50")}) {
            const auto advice = diagnose(disturbed).advice;
            EXPECT_EQ(advice.columns.size(), 1U) << "no number";
            EXPECT_FALSE(advice.notes.empty());
        }
    }
    auto idle = beside(run_of({{"step_time_s", {4}}}, {}, one_rank(1, "0-1")), "0.00");
    EXPECT_EQ(advice_text(diagnose(idle)), "--threads 2 saves at most 55 % of the time per sample");
    idle.context.back().value = "0.50";
    EXPECT_EQ(diagnose(idle).advice.columns.size(), 1U) << "no number";
    EXPECT_EQ(option_of(diagnose(idle)), "--threads 2");
    idle.context.back().value = "0.90";
    EXPECT_EQ(option_of(diagnose(idle)), "") << "two threads wait for the one that shares a core";
}

// Replicas move 2 s and compute 1 s longer than ranks, which sum in 0.5 s.
TEST(Diagnosis, ReplicasPayBesideRanks) {
    const StoredRuns file(
        {run_of({{"step_time_s", {1.5, 1.5}}, {"sync_exposed_time_s", {0.5, 0.5}}})});
    auto replicas = run_of({{"step_time_s", {4}}, {"replicate_time_s", {2}}},
                           {{"mode", "dp", false}}, one_rank(2, "0-1"));
    replicas.config.push_back({"replicas", "2", true});
    const auto found = diagnose(replicas, file.file());
    EXPECT_EQ(found.cause, Cause::replicas);
    for (const char* part :
         {"2.67 times as long as on 2 ranks", "computing 1.01 s more",
          "moving between replicas 2.02 s more", "summing gradients 505 ms less"})
        EXPECT_NE(found.why.find(part), std::string::npos) << found.why;
    EXPECT_EQ(diagnose(file.file().read("a"), file.file()).why.find("times as long"),
              std::string::npos);
}

// Start-up counts for a training, not for a run of --steps.
TEST(Diagnosis, AStartThatTakesMostOfATraining) {
    auto run =
        run_of({{"step_time_s", {1}}, {"time_to_first_step_s", {600}}}, {}, one_rank(1, "0"));
    EXPECT_EQ(diagnose(run).cause, Cause::none);
    std::erase_if(run.config, [](const auto& setting) { return setting.key == "steps"; });
    EXPECT_EQ(diagnose(run).cause, Cause::starting);
}

TEST(Diagnosis, SaysThatItCannotTell) {
    auto run = run_of({});
    EXPECT_EQ(option_of(diagnose(run)), "--ablation");
    run.tables.push_back(results::Rows("waterfall").table());
    EXPECT_EQ(option_of(diagnose(run)), "");
}

TEST(Diagnosis, JsonHasAllOfIt) {
    const auto found = diagnose(cases()[1].run);
    for (const char* member :
         {"\"bound\":\"input\"", "\"cause\":\"costly_loader\"", "\"option\":\"--workers 2\"",
          "\"at_most_percent\":55", "\"efficiency_high\":", "\"start_up_s\":null"})
        EXPECT_NE(json_of(found).find(member), std::string::npos) << member;
    EXPECT_NE(html_of(found).find("<table>"), std::string::npos);
}

}  // namespace
}  // namespace ranklab::report::diagnosis
