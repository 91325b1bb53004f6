// The cost of timing phases: the marks of one training step without its work.
//   phase_mark_bench [STEP_SECONDS]     (default 0.025, a step of 64 images of the MNIST CNN on two
//   cores)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "measure/samples.hpp"

namespace {

using ranklab::base::Phase;
using ranklab::measure::Clock;
using ranklab::measure::PhaseRecorder;

constexpr std::size_t kSteps = 20000;
constexpr int kRepetitions = 21;
constexpr double kLargestShare = 0.002;

void mark(ranklab::base::PhaseSink& sink, Phase phase) {
    const auto held = sink.phase(phase);
}

// The marks of one step in lib/experiments/training/steps.cpp and lib/train/trainer.cpp.
double seconds_per_step() {
    PhaseRecorder recorder;
    const auto start = Clock::now();
    for (std::size_t step = 0; step < kSteps; ++step) {
        recorder.begin_step();
        for (std::size_t phase = 0; phase < ranklab::base::kPhaseCount; ++phase)
            mark(recorder, static_cast<Phase>(phase));
        recorder.end_step();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return recorder.last_step().step > 0 ? seconds / static_cast<double>(kSteps) : -1;
}

}  // namespace

int main(int argc, char** argv) {
    const double step_s = argc > 1 ? std::atof(argv[1]) : 0.025;
    if (!(step_s > 0)) {
        fmt::print(stderr, "phase_mark_bench: '{}' is no number of seconds\n", argv[1]);
        return 2;
    }
    std::vector<double> costs;
    for (int i = 0; i < kRepetitions; ++i) costs.push_back(seconds_per_step());
    std::sort(costs.begin(), costs.end());
    const double median = costs[costs.size() / 2];
    // Two clock readings per phase, and two per step.
    const auto readings = 2 * (ranklab::base::kPhaseCount + 1);
    fmt::print(
        "marks of one step: {:.1f} ns (min {:.1f}, max {:.1f}; {} repetitions of {} steps), {} "
        "clock readings of {:.1f} ns\n",
        median * 1e9, costs.front() * 1e9, costs.back() * 1e9, kRepetitions, kSteps, readings,
        median * 1e9 / static_cast<double>(readings));
    fmt::print("of a step of {} ms: {:.5f} %   (to be at most {} %)\n", step_s * 1e3,
               100 * median / step_s, 100 * kLargestShare);
    return median / step_s <= kLargestShare ? 0 : 4;
}
