// Stores a synthetic run of many ranks from one process, for tests and benchmarks: a communicator
// simulates the ranks, and the code for real runs gathers and stores their samples.
//   wide_run PATTERN OUT RANKS STEPS
// Settings, facts and tables come from PATTERN's first run (ranklab train, at least two ranks).
// Prints the times it took as one JSON object.
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "experiments/shared/measurements.hpp"
#include "many_ranks.hpp"
#include "results/result_file.hpp"
#include "vocabulary/measurements.hpp"

namespace {

using ranklab::results::Run;
namespace experiments = ranklab::experiments;
namespace results = ranklab::results;
namespace vocabulary = ranklab::vocabulary;

constexpr int kRanksPerHost = 64;

// Hashes a rank and a value to a number from 0 to 1 (splitmix64).
double noise(std::uint64_t rank, double value) {
    std::uint64_t x = std::bit_cast<std::uint64_t>(value) + (rank + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((x ^ (x >> 31U)) >> 11U) * 0x1p-53;
}

// Scales each rank's times by some per cent; the last rank's are a third longer.
void others(int rank, ranklab::comm::BufferView part, int ranks) {
    if (part.dtype != ranklab::comm::DType::f64) return;
    for (double& value : std::span(static_cast<double*>(part.data), part.count))
        value *= (rank + 1 == ranks ? 1.33 : 0.95) +
                 0.1 * noise(static_cast<std::uint64_t>(rank), value);
}

std::string host_of(int rank) {
    return "node" + std::to_string(1000 + rank / kRanksPerHost);
}

// Repeats rank 0's row of a table for every rank.
void widen(results::Table& table, int ranks) {
    for (auto& column : table.columns) {
        std::visit(
            [&](auto& values) {
                if (!values.empty()) values.assign(static_cast<std::size_t>(ranks), values.front());
            },
            column.values);
        if (auto* numbers = std::get_if<std::vector<std::int64_t>>(&column.values);
            numbers && column.name == "rank")
            for (int rank = 0; rank < ranks; ++rank)
                (*numbers)[static_cast<std::size_t>(rank)] = rank;
        if (auto* texts = std::get_if<std::vector<std::string>>(&column.values);
            texts && column.name == "host")
            for (int rank = 0; rank < ranks; ++rank)
                (*texts)[static_cast<std::size_t>(rank)] = host_of(rank);
        if (auto* reals = std::get_if<std::vector<double>>(&column.values))
            for (int rank = 0; rank < ranks; ++rank)
                (*reals)[static_cast<std::size_t>(rank)] *=
                    0.9 + 0.2 * noise(static_cast<std::uint64_t>(rank), 1);
    }
}

void widen(Run& run, int ranks) {
    const auto first = run.hosts.front();
    run.hosts.assign(static_cast<std::size_t>(ranks), first);
    for (int rank = 0; rank < ranks; ++rank) {
        auto& row = run.hosts[static_cast<std::size_t>(rank)];
        row.rank = rank;
        row.local_rank = rank % kRanksPerHost;
        row.host = host_of(rank);
        row.cpus = row.cores = std::to_string(row.local_rank);
    }
    for (auto& table : run.tables) {
        static const std::set<std::string> one_row_per_rank{"waiting", "job_use", "io_ranks",
                                                            "chunks", "clocks"};
        if (one_row_per_rank.contains(table.name)) widen(table, ranks);
    }
    std::erase_if(run.tables, [](const auto& table) { return table.name == "statistics"; });
}

// One rank's steps: the steps of the pattern's rank 0, repeated and varied.
std::vector<double> lengthened(const std::vector<double>& pattern, std::size_t steps) {
    std::vector<double> all;
    for (std::size_t step = 0; step < steps; ++step)
        all.push_back(pattern[step % pattern.size()] * (1 + 1e-3 * noise(step, 1.0)));
    return all;
}

std::vector<double> rank_0(const results::Measurement& m) {
    std::vector<double> values;
    for (std::size_t i = 0; i < m.samples.size(); i += m.columns) values.push_back(m.samples[i]);
    return values;
}

void measure(Run& run, int ranks, std::size_t steps) {
    ranklab::testing::ManyRanks job(
        ranks, [ranks](int rank, ranklab::comm::BufferView part) { others(rank, part, ranks); });
    const auto pattern = std::exchange(run.measurements, {});
    experiments::RankMeasurements of_ranks(run, job);
    for (const auto& m : pattern) {
        const bool of_steps = m.axis == "step" && m.rows() > 0;
        const auto mine = of_steps ? lengthened(rank_0(m), steps) : rank_0(m);
        if (m.rank_reduction == "max" && m.axis != "probe step")
            of_ranks.add(m.name, m.axis, mine);
        else if (m.name == vocabulary::kThroughput)
            run.measurements.push_back(
                experiments::rate(m.name, "step", std::vector<double>(steps, 8.0 * ranks),
                                  run.find(vocabulary::kStepTime)->largest_of_rows()));
        else if (of_steps)
            run.measurements.push_back(
                experiments::one_column(m.name, "step", m.rank_reduction, mine));
        else
            run.measurements.push_back(m);
    }
    of_ranks.finish();
    experiments::add_statistics(run);
}

double peak_mib() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) / 1024;
}

int write_wide(const std::vector<std::string>& words) {
    const int ranks = std::stoi(words[2]);
    Run run = ranklab::results::ResultFile(words[0]).read_all().at(0);
    if (run.hosts.size() < 2 || run.command != "train")
        throw std::runtime_error("no pattern: " + words[0]);
    run.id = results::make_run_id(1790000000);
    const auto begin = ranklab::base::Clock::now();
    widen(run, ranks);
    measure(run, ranks, std::stoul(words[3]));
    const double made = ranklab::base::seconds_since(begin);
    const double peak_made = peak_mib();
    const auto appending = ranklab::base::Clock::now();
    results::ResultFile(words[1]).append(run);
    std::printf(
        "{\"made_s\": %.4f, \"append_s\": %.4f, \"file_bytes\": %ju, \"peak_made_MiB\": %.1f, "
        "\"peak_MiB\": %.1f}\n",
        made, ranklab::base::seconds_since(appending),
        static_cast<std::uintmax_t>(std::filesystem::file_size(words[1])), peak_made, peak_mib());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() == 4) return write_wide(words);
        std::fputs("wide_run PATTERN OUT RANKS STEPS\n", stderr);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
