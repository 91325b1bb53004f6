// A run of a million steps, from the recorder to the results file and back, without ever lying whole in
// memory.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "comm/exchange.hpp"
#include "experiments/shared/series_measurements.hpp"
#include "measure/phase_recorder.hpp"
#include "measure/series.hpp"
#include "mpi_world.hpp"
#include "results/result_file.hpp"
#include "temp_folder.hpp"

namespace ranklab {
namespace {

using base::Phase;
using ranklab::testing::world;

constexpr std::size_t kSteps = 1000000;
constexpr std::size_t kWarmup = 10;
constexpr auto kForward = static_cast<std::size_t>(Phase::forward);

// Seconds of forward in a step of a rank.
double forward(std::size_t step, std::size_t rank) {
    return 1e-3 + 1e-6 * static_cast<double>((step * 7919) % 1000) + 1e-4 * static_cast<double>(rank);
}

#if defined(__SANITIZE_ADDRESS__)
constexpr double kMostMiB = 400;  // what was freed is kept for a while
#else
constexpr double kMostMiB = 80;
#endif

double peak_memory_MiB() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
    return 0;
}

measure::Spool record() {
    measure::PhaseRecorder recorder;
    const auto rank = static_cast<std::size_t>(world().rank());
    for (std::size_t step = 0; step < kWarmup + kSteps; ++step) {
        recorder.begin_step();
        recorder.end_step();
        recorder.correct_last(Phase::forward, forward(step, rank));
    }
    return recorder.take();
}

std::vector<results::Measurement> measured(const std::vector<measure::RankSeries>& steps) {
    return {experiments::by_rank("step_time_s", "step", steps.front(), kWarmup),
            experiments::by_rank("forward_time_s", "step", steps[1 + kForward], kWarmup)};
}

// Rows that are not what was recorded.
std::size_t wrong_rows(const results::Measurement& m) {
    std::size_t row = kWarmup, wrong = 0;
    m.visit([&](std::span<const double> piece) {
        for (std::size_t i = 0; i < piece.size(); i += m.columns, ++row)
            for (std::size_t rank = 0; rank < m.columns; ++rank)
                wrong += piece[i + rank] == forward(row, rank) ? 0 : 1;
    });
    return wrong + (kWarmup + kSteps - row);
}

void check(const results::Measurement& m, const char* where) {
    const auto ranks = static_cast<std::size_t>(world().world_size());
    EXPECT_TRUE(m.samples.empty()) << where;
    EXPECT_NE(m.stream, nullptr) << where;
    EXPECT_EQ(m.columns, ranks) << where;
    EXPECT_EQ(m.rows(), kSteps) << where;
    EXPECT_EQ(m.warmup.size(), kWarmup * ranks) << where;
    EXPECT_EQ(m.summary.n, kSteps) << where;
    EXPECT_EQ(wrong_rows(m), 0U) << where;
    // A thousand values, a thousand times each, of the last rank.
    EXPECT_DOUBLE_EQ(m.summary.median, 1e-3 + 499.5e-6 + 1e-4 * static_cast<double>(ranks - 1)) << where;
    EXPECT_EQ(m.summary.min, forward(0, ranks - 1)) << where;
    EXPECT_FALSE(std::isnan(m.summary.ci95.low)) << where;
}

TEST(LongRun, IsStoredAndReadWithoutBeingHeld) {
    const double before = peak_memory_MiB();
    const tests::TempFolder folder;
    const measure::Spool spool = record();
    EXPECT_LT(spool.held_rows(), 70000U);
    const auto steps = measure::gather_spools(world(), spool);
    results::Run run;
    run.id = "long";
    run.measurements = measured(steps);
    if (world().rank() == 0) {
        check(run.measurements.back(), "before it is stored");
        const results::ResultFile file(folder / "long.h5");
        file.append(run);
        run.measurements.clear();
        const results::Run back = file.read("long");
        check(back.measurements.back(), "read back");
        // Also when the file has another name by now: the next append replaces it.
        results::Run other;
        other.id = "other";
        file.append(other);
        EXPECT_EQ(wrong_rows(back.measurements.back()), 0U);
        const auto largest = back.measurements.back().largest_of_rows();
        EXPECT_EQ(largest.size(), kSteps);
    }
    // Whole, the steps are 88 MB a rank, and all of them 176 or 264 MB on rank 0.
    EXPECT_LT(peak_memory_MiB() - before, kMostMiB);
    const auto all_done = comm::gather_values(world(), 1);
    EXPECT_EQ(all_done.size(), static_cast<std::size_t>(world().world_size()));
}

}  // namespace
}  // namespace ranklab
