// The times of steps, their phases and the loader's threads, and what follows from them.
#include <numeric>

#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using base::Phase;
using measure::StepTimes;

StepTimes sums_of(std::span<const MadeStep> steps) {
    StepTimes sums;
    for (const auto& made : steps) {
        sums.step += made.times.step;
        for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase)
            sums.phases[phase] += made.times.phases[phase];
    }
    return sums;
}

class Times final : public StepObserver {
  public:
    explicit Times(ObservedRun& observed)
        : StepObserver(observed), phases_(observed.steps.phases()) {}

    void after(const MadeStep& made) override {
        (observed_.schedule.counts(made.step) ? launched_s_ : warmup_s_) = launching();
    }

    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        const auto& made = observed_.made;
        const auto warmup = observed_.warmup_rows();
        const auto add = [&](std::string_view name, auto value) {
            of_ranks.add(name, "step", made, value, warmup);
        };
        const auto add_if_any = [&](std::string_view name, auto value) {
            of_ranks.add_if_any(name, "step", made, value, warmup);
        };
        add(vocabulary::kStepTime, [](const MadeStep& one) { return one.times.step; });
        for (const auto phase : phases_)
            add(name_of(phase),
                [i = base::number_of(phase)](const MadeStep& one) { return one.times.phases[i]; });
        // The loader's threads work during the steps, which data_time_s does not show.
        add("loader_read_time_s", [](const MadeStep& one) { return one.reading.read; });
        add_if_any("loader_decode_time_s", [](const MadeStep& one) { return one.reading.decode; });
        add_if_any("loader_augment_time_s",
                   [](const MadeStep& one) { return one.reading.augment; });
        add_if_any("core_wait_time_s", &MadeStep::core_wait);
        add_if_any("core_wait_in_sync_time_s", &MadeStep::core_wait_in_sync);
        const auto counted = observed_.counted_steps();
        if (!observed_.steps.gpus().empty() && !counted.empty())
            of_ranks.add_of_run(vocabulary::kLaunchTime,
                                (launched_s_ - warmup_s_) / base::real(counted.size()));
        const auto sums = sums_of(counted);
        add_phases(run, sums, std::ssize(counted));
        if (run.valid && !counted.empty())
            of_ranks.add_rate(vocabulary::kThroughput, vocabulary::kStepTime, counted,
                              &MadeStep::unrepeated);
        // Work alone counts for the imbalance, not waiting for other ranks.
        const double waiting = sums.phases[base::number_of(Phase::sync)];
        of_ranks.add_imbalance(std::reduce(sums.phases.begin(), sums.phases.end()) - waiting);
    }

  private:
    // The host's seconds in forward and backward of all steps so far.
    double launching() const {
        const auto& host_s = observed_.steps.host_seconds();
        return host_s[base::number_of(Phase::forward)] + host_s[base::number_of(Phase::backward)];
    }

    // Returns the name of a phase's measurement. For sync it is the exposed communication time.
    static std::string_view name_of(Phase phase) {
        return vocabulary::part_of(vocabulary::quantity(vocabulary::kStepTime),
                                   base::kPhaseNames[base::number_of(phase)])
            .name;
    }

    // Adds the table `phases`: means over ranks, so that the rows add up to the step.
    void add_phases(results::Run& run, const StepTimes& mine, std::int64_t steps) const {
        std::vector<double> means(mine.phases.begin(), mine.phases.end());
        means.push_back(mine.step);
        means = measure::sums_of_ranks(observed_.control, std::move(means));
        for (double& mean : means) mean /= base::real(observed_.control.world_size());
        if (steps == 0) return;
        const double whole = means.back();
        results::Rows table("phases");
        const auto add = [&](std::string_view name, double seconds) {
            table.add({std::string(name), steps, seconds, seconds / base::real(steps),
                       100 * seconds / whole});
        };
        double rest = whole;
        for (const auto phase : phases_) {
            const auto i = base::number_of(phase);
            add(base::kPhaseNames[i], means[i]);
            rest -= means[i];
        }
        add("other", rest);
        add("step", whole);
        run.tables.push_back(std::move(table).table());
    }

    std::vector<Phase> phases_;
    double launched_s_ = 0, warmup_s_ = 0;  // launching() after the last counted, warm-up step
};

}  // namespace

ObserverEntry times_entry() {
    return {.make = make_observer<Times>};
}

}  // namespace ranklab::experiments
