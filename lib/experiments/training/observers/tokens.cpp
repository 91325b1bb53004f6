// Tokens per second and model FLOPs utilisation (MFU) of language models.
#include <fmt/format.h>
#include <torch/utils.h>

#include "device/gpus.hpp"
#include "experiments/training/observer.hpp"
#include "experiments/training/roof.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

class Tokens final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    // MFU = FLOPs of the model per token x tokens/s / peak (PaLM, arXiv:2204.02311, appendix B).
    void fill(results::Run& run, RankMeasurements& of_ranks) override {
        const auto counted = observed_.counted_steps();
        if (!run.valid || counted.empty()) return;
        const auto& options = observed_.options;
        const auto length = base::real(model_input(options).usual_size());
        const auto add = [&](std::string_view name, double by) {
            of_ranks.add_rate(name, vocabulary::kStepTime, counted, [by](const MadeStep& made) {
                return by * base::real(made.unrepeated);
            });
        };
        const auto gpus = observed_.steps.gpus();
        const auto ranks = base::real(observed_.control.world_size());
        const double devices =
            ranks * (gpus.empty() ? compute_threads(options) : base::real(std::ssize(gpus)));
        add("tokens_per_s", length);
        add("tokens_per_s_per_device", length / devices);
        const auto fact = [&run](const char* key, std::string value) {
            run.context.push_back({"training", key, std::move(value)});
        };
        fact("flops_per_token", fmt::format("{:.6g}", options.flops_per_token));
        const auto peak = peak_of(gpus);
        if (peak.flops_per_s <= 0) return;
        fact("peak_tflops", fmt::format("{:.4g}", 1e-12 * peak.flops_per_s));
        fact("peak_source", peak.source);
        add("mfu_percent",
            100 * options.flops_per_token * length /
                (ranks * std::max(1.0, base::real(std::ssize(gpus))) * peak.flops_per_s));
    }

  private:
    // Of one GPU, or of the threads of one rank.
    Peak peak_of(const std::vector<torch::Device>& gpus) const {
        const auto& options = observed_.options;
        if (options.settings.peak_tflops)
            return {1e12 * *options.settings.peak_tflops, "--peak-tflops"};
        if (!gpus.empty())
            return peak_of_gpu(device::list_gpus().gpus.at(gpus.front().index()).name,
                               options.precision());
        const auto here = measured_roof(
            torch::TensorOptions(options.parameter_type()).device(torch::kCPU), observed_.control);
        const auto sum = measure::sums_of_ranks(observed_.control, {here.flops_per_s});
        return {sum.front() / base::real(observed_.control.world_size()),
                "measured: LibTorch's fastest matrix product or convolution, in fp32 or fp64"};
    }
};

}  // namespace

ObserverEntry tokens_entry() {
    return {.wanted = [](auto& options) { return model_input(options).is_tokens(); },
            .make = make_observer<Tokens>};
}

}  // namespace ranklab::experiments
