// The resources of each rank: time to the first step, memory and threads.
#include "experiments/training/observer.hpp"
#include "host/process.hpp"
#include "train/torch_cuda.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

class Resources final : public StepObserver {
  public:
    explicit Resources(ObservedRun& observed) : StepObserver(observed) {
        train::restart_peak_gpu_bytes(observed.steps.gpus());
    }

    void end() override {
        const auto gpus = observed_.steps.gpus();
        if (!gpus.empty()) gpu_bytes_ = static_cast<double>(train::peak_gpu_bytes(gpus));
    }

    void fill(results::Run&, RankMeasurements& of_ranks) override {
        const auto* const start_up = observed_.around.start_up;
        if (start_up != nullptr && !observed_.made.empty())
            of_ranks.add_of_run("time_to_first_step_s", start_up->seconds());
        of_ranks.add_of_run(vocabulary::kPeakMemory, static_cast<double>(host::peak_rss_bytes()));
        if (gpu_bytes_) of_ranks.add_of_run(vocabulary::kPeakGpuMemory, *gpu_bytes_);
        of_ranks.add_of_run(vocabulary::kThreadCount, host::thread_count());
    }

  private:
    std::optional<double> gpu_bytes_;  // on a GPU
};

}  // namespace

ObserverEntry resources_entry() {
    return {.make = make_observer<Resources>};
}

}  // namespace ranklab::experiments
