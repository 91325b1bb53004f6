// What recording, statistics and storing add to a run of ranklab train on one rank: marks of the phases,
// notes, measurements of every phase, and the append to a results file.
//   own_cost_bench [STEP_SECONDS [FOLDER]]     (default 0.025, a step of 64 images of the MNIST CNN; the
//   system's
//                                               temporary folder)
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "comm/self.hpp"
#include "experiments/shared/measurements.hpp"
#include "host/process.hpp"
#include "measure/phase_recorder.hpp"
#include "results/result_file.hpp"
#include "results/vocabulary/measurements.hpp"

namespace {

using ranklab::base::Phase;
using ranklab::measure::Clock;
using ranklab::measure::PhaseRecorder;

constexpr double kRunSeconds = 60;
constexpr double kLargestShare = 0.01;
constexpr std::size_t kPhases = 7;
constexpr int kRepetitions = 5;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Cost {
    double record = 0, gather = 0, append = 0;
    std::uintmax_t stored = 0;
    double all() const { return record + gather + append; }
};

// Every step of another length, so that deflate has something to do.
void make_steps(std::size_t steps, PhaseRecorder& recorder) {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> draw(-4, 0.1);
    recorder.reserve(steps);
    for (std::size_t step = 0; step < steps; ++step) {
        recorder.begin_step();
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            const auto held = recorder.phase(static_cast<Phase>(phase));
        }
        recorder.end_step();
        recorder.correct_last(Phase::forward, draw(random));
    }
}

// Each phase twice, since a run has notes of its steps, too.
void add_measurements(ranklab::results::Run& run, ranklab::comm::Communicator& control,
                      const PhaseRecorder& recorder) {
    ranklab::experiments::RankMeasurements of_ranks(run, control);
    for (std::size_t i = 0; i < 2 * kPhases; ++i)
        of_ranks.add(ranklab::vocabulary::quantities()[i].name, "step",
                     ranklab::experiments::column_of(
                         recorder.steps(), [i](const auto& step) { return step.phases[i % kPhases]; }),
                     10);
}

Cost cost_of(std::size_t steps, const std::filesystem::path& folder) {
    const auto control = ranklab::comm::make_self();
    const auto file = folder / "own_cost.h5";
    Cost cost;
    PhaseRecorder recorder;
    auto start = Clock::now();
    make_steps(steps, recorder);
    cost.record = since(start);
    start = Clock::now();
    ranklab::results::Run run;
    run.id = "own-cost";
    add_measurements(run, *control, recorder);
    cost.gather = since(start);
    start = Clock::now();
    ranklab::results::ResultFile(file).append(run);
    cost.append = since(start);
    cost.stored = std::filesystem::file_size(file);
    std::filesystem::remove(file);
    return cost;
}

void print(const char* what, std::size_t steps, const Cost& cost) {
    fmt::print(
        "{}: {} steps, 14 measurements: recording {:.4f} s, gathering and statistics {:.4f} s, append {:.4f} "
        "s "
        "({:.1f} KB); peak memory {:.0f} MiB\n",
        what, steps, cost.record, cost.gather, cost.append, static_cast<double>(cost.stored) / 1e3,
        static_cast<double>(ranklab::host::peak_rss_bytes()) / (1 << 20));
}

}  // namespace

int main(int argc, char** argv) {
    const double step_s = argc > 1 ? std::atof(argv[1]) : 0.025;
    const auto place = argc > 2 ? std::filesystem::path(argv[2]) : std::filesystem::temp_directory_path();
    if (!(step_s > 0)) {
        fmt::print(stderr, "own_cost_bench: '{}' is no number of seconds\n", argv[1]);
        return 2;
    }
    const auto folder = place / fmt::format("ranklab-own-cost-{}", ::getpid());
    std::filesystem::create_directories(folder);
    const auto steps = static_cast<std::size_t>(kRunSeconds / step_s);
    std::vector<Cost> costs;
    for (int i = 0; i < kRepetitions; ++i) costs.push_back(cost_of(steps, folder));
    std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.all() < b.all(); });
    const Cost& middle = costs[kRepetitions / 2];
    print("a run of 60 s", steps, middle);
    print("a long run", 1000000, cost_of(1000000, folder));
    std::filesystem::remove_all(folder);
    const double share = middle.all() / kRunSeconds;
    fmt::print("of 60 s: {:.4f} %   (to be at most {:.0f} %)\n", 100 * share, 100 * kLargestShare);
    return share <= kLargestShare ? 0 : 4;
}
