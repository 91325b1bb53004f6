#include "fuzz/runs.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ranklab::fuzz {
namespace {

using results::Kind;
using results::Measurement;
using results::Run;

using Texts = std::vector<std::string>;

double positive(Random& random) {
    return std::ldexp(1 + static_cast<double>(random.below(1000)) / 1000,
                      static_cast<int>(random.below(20)) - 10);
}

std::vector<double> numbers(Random& random, std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = positive(random);
    return values;
}

Measurement measurement(Random& random, const std::string& name, Kind kind, std::size_t ranks) {
    const std::size_t rows = 1 + random.below(30);
    Measurement m{name, kind == Kind::cost ? "s" : "samples/s", kind, "max", "step", ranks, {}, {}, {}};
    m.samples = numbers(random, rows * ranks);
    m.warmup = numbers(random, random.below(3) * ranks);
    std::vector<double> first;
    for (std::size_t row = 0; row < rows; ++row) first.push_back(m.samples[row * ranks]);
    m.summary = stats::summarise(first);
    return m;
}

results::Table epochs(Random& random) {
    const std::size_t rows = 1 + random.below(4);
    std::vector<std::int64_t> epoch(rows);
    for (std::size_t i = 0; i < rows; ++i) epoch[i] = static_cast<std::int64_t>(i + 1);
    return {"epochs",
            {{"epoch", epoch},
             {"train_loss", numbers(random, rows)},
             {"validation_loss", numbers(random, rows)},
             {"validation_accuracy", numbers(random, rows)},
             {"epoch_time_s", numbers(random, rows)}}};
}

results::Table verification() {
    return {"verification",
            {{"check", Texts{"parameters equal"}}, {"result", Texts{"passed"}}, {"detail", Texts{""}}}};
}

results::Table ladder(Random& random) {
    const Texts rungs{"text-loop", "binary", "hdf5-serial"};
    const std::size_t n = rungs.size();
    const std::vector<std::int64_t> ones(n, 1);
    return {"ladder",
            {{"rung", rungs},
             {"ranks", ones},
             {"workers", ones},
             {"n", ones},
             {"job_time_s", numbers(random, n)},
             {"low_s", numbers(random, n)},
             {"high_s", numbers(random, n)},
             {"speedup", numbers(random, n)},
             {"over_previous", numbers(random, n)},
             {"write_MiBps", numbers(random, n)},
             {"files_per_s", numbers(random, n)},
             {"ceiling", Texts(n, "write")},
             {"percent_of_ceiling", numbers(random, n)},
             {"verified", Texts(n, "yes")},
             {"mark", Texts(n, "")}}};
}

void as_training(Run& run, Random& random, std::size_t ranks) {
    constexpr std::array kCosts{"step_time_s", "forward_time_s", "backward_time_s", "data_time_s",
                                "epoch_time_s"};
    for (const char* name : kCosts) run.measurements.push_back(measurement(random, name, Kind::cost, ranks));
    run.measurements.push_back(measurement(random, "throughput_samples_per_s", Kind::rate, 1));
    run.config = {{"model", "mnist-cnn", false},
                  {"mode", "ddp", false},
                  {"sync", "bucketed", false},
                  {"batch-size", "32", true},
                  {"steps", "20", true}};
    run.tables = {epochs(random), verification()};
}

void as_storage(Run& run, Random& random, std::size_t ranks) {
    const bool whole = random.chance(50);
    run.config = {
        {"strategy", whole ? "all" : "binary", false}, {"files", "15", true}, {"size", "100", true}};
    if (whole) return run.tables.push_back(ladder(random));
    run.measurements = {measurement(random, "job_time_s", Kind::cost, ranks),
                        measurement(random, "write_MiBps", Kind::rate, 1)};
    run.tables = {verification()};
}

}  // namespace

std::string run_id(std::size_t number) {
    return fmt::format("20261121T101{:03}Z-{:06x}", number % 600, number);
}

Run sound_run(Random& random, const std::string& id) {
    Run run;
    run.id = id;
    const std::size_t ranks = 1 + random.below(4);
    const bool training = random.chance(60);
    run.command = training ? "train" : "io";
    run.argv = "ranklab " + run.command;
    run.label = random.chance(50) ? "night" : "";
    run.started_utc = "2026-11-21T10:15:00Z";
    run.duration_s = positive(random);
    run.version = "0.1.0";
    run.git_revision = "0123abc";
    for (std::size_t rank = 0; rank < ranks; ++rank)
        run.hosts.push_back({static_cast<int>(rank), static_cast<int>(rank), "node01", "0-1", "cpu"});
    training ? as_training(run, random, ranks) : as_storage(run, random, ranks);
    run.config.push_back({"ranks", std::to_string(ranks), true});
    run.context = {{"libraries", "mpi", "Open MPI"}, {"host", "kernel", "6.1"}};
    if (random.chance(30)) run.warnings = {"2 ranks share a core: bind them to different ones"};
    return run;
}

void poison(Run& run, Random& random) {
    const auto touch = [&](std::string& text) {
        if (random.chance(60)) text = hostile_text(random, random.chance(3) ? 70000 : 100);
    };
    for (std::string* text : {&run.command, &run.argv, &run.label, &run.version, &run.git_revision})
        touch(*text);
    for (auto& setting : run.config) touch(setting.value);
    for (auto& fact : run.context) touch(fact.value);
    for (auto& warning : run.warnings) touch(warning);
    for (auto& host : run.hosts) {
        touch(host.host);
        touch(host.device);
        touch(host.cpus);
    }
    for (auto& table : run.tables)
        for (auto& column : table.columns)
            if (auto* texts = std::get_if<Texts>(&column.values))
                for (auto& text : *texts) touch(text);
}

}  // namespace ranklab::fuzz
