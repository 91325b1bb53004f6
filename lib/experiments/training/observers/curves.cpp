// --tensorboard DIR: rank 0 writes the curves of a running training.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "comm/exchange.hpp"
#include "experiments/training/observer.hpp"
#include "results/event_file.hpp"

namespace ranklab::experiments {
namespace {

// Every 10th step of an epoch, from its first on, is logged.
constexpr std::int64_t kLogEvery = 10;

class Curves final : public StepObserver {
  public:
    explicit Curves(ObservedRun& observed)
        : StepObserver(observed),
          folder_(*observed.options.settings.tensorboard),
          phases_(observed.steps.phases()),
          last_step_(observed.schedule.first),
          last_(base::Clock::now()) {
        comm::on_root(observed.control, [&] {
            file_ = std::make_unique<results::EventFile>(folder_, observed.options.settings.resume,
                                                         "tensorboard");
        });
    }

    void after(const MadeStep& made) override {
        if (made.step % observed_.schedule.steps_per_epoch % kLogEvery != 0) return;
        const auto hit = observed_.lines.hit(&LineTimes::logging);
        std::vector<double> sums{made.loss_sum, made.times.step};
        sums.insert(sums.end(), made.times.phases.begin(), made.times.phases.end());
        sums = measure::sums_of_ranks(observed_.control, std::move(sums));
        if (!file_) return;
        write(made.step + 1, scalars_of(made, sums));
        last_step_ = made.step + 1;
        last_ = base::Clock::now();
    }

    bool goes_on(const MadeStep& made, bool) override {
        const auto& all = observed_.validations;
        if (file_ && !all.empty() && all.back().step == made.step) log(all.back());
        return true;
    }

    void fill(results::Run& run, RankMeasurements&) override {
        if (!whole_ || (file_ && !file_->sync()))
            run.warnings.push_back(
                fmt::format("the curves in {} end early: the file could not be "
                            "written; free space there",
                            folder_));
    }

  private:
    // `sums`: sums over ranks of the loss, the step's time and its phases' times.
    std::vector<results::Scalar> scalars_of(const MadeStep& made,
                                            const std::vector<double>& sums) const {
        const double ranks = base::real(observed_.control.world_size());
        const auto first = observed_.schedule.first;
        const double seconds =
            last_step_ == first
                ? made.times.step * base::real(made.step + 1 - first)
                : base::seconds_since(last_);  // the first interval would include the start-up
        std::vector<results::Scalar> scalars{
            {"Loss/train", sums[0] / base::real(made.global)},
            {"Learning Rate", made.learning_rate},
            {"Avg iters per sec", base::real(made.step + 1 - last_step_) / seconds},
            {"Throughput/samples per sec", base::real(made.unrepeated) * ranks / sums[1]},
            {"Phases/step", sums[1] / ranks}};
        for (const auto phase : phases_) {
            const auto i = base::number_of(phase);
            scalars.push_back(
                {fmt::format("Phases/{}", base::kPhaseNames[i]), sums[2 + i] / ranks});
        }
        return scalars;
    }

    void log(const Validation& validation) {
        // The evaluation is no part of the steps' time.
        last_ += std::chrono::duration_cast<base::Clock::duration>(
            std::chrono::duration<double>(validation.seconds));
        std::vector<results::Scalar> scalars{{"Loss/valid", validation.loss}};
        if (!std::isnan(validation.accuracy))
            scalars.push_back({"Accuracy/valid", validation.accuracy});
        write(validation.step + 1, std::move(scalars));
    }

    // Makes the file at the first point, so that a run that is refused leaves no file.
    void write(std::int64_t step, const std::vector<results::Scalar>& scalars) {
        if (!std::exchange(begun_, true)) whole_ = file_->start(observed_.schedule.first + 1);
        whole_ = whole_ && file_->add(step, scalars);
    }

    std::string folder_;
    std::vector<base::Phase> phases_;
    std::unique_ptr<results::EventFile> file_;  // on rank 0
    std::int64_t last_step_;                    // the last step logged
    base::Clock::time_point last_;
    bool begun_ = false, whole_ = true;
};

}  // namespace

ObserverEntry curves_entry() {
    return {.wanted = [](auto& options) { return options.settings.tensorboard.has_value(); },
            .make = make_observer<Curves>};
}

}  // namespace ranklab::experiments
