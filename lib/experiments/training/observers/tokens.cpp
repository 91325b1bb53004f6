// Tokens per second and model FLOPs utilisation (MFU) of language models.
#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <limits>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "device/gpus.hpp"
#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/names.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kEdge = 1024;  // of the matrices by which a CPU's peak is measured

// FLOP/s of a matrix product on this rank's threads, the fastest of five.
double most_flops_per_s(torch::Dtype type) {
    const torch::NoGradGuard no_gradients;
    const auto left = torch::randn({kEdge, kEdge}, type);
    auto product = torch::empty_like(left);
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 5; ++i) {
        const auto start = base::Clock::now();
        torch::mm_out(product, left, left);
        shortest = std::min(shortest, base::seconds_since(start));
    }
    return 2.0 * base::real(kEdge * kEdge * kEdge) / shortest;
}

struct Peak {
    double flops_per_s = 0;  // 0: unknown
    std::string source;
};

Peak peak_of_gpu(const std::string& name, train::Precision precision) {
    using train::Precision;
    for (const auto& gpu : device::kGpuPeaks)
        if (name.find(gpu.name) != std::string::npos)
            return {1e12 * (precision == Precision::fp64   ? gpu.wide
                            : precision == Precision::fp32 ? gpu.single
                            : precision == Precision::tf32 ? gpu.tf32
                                                           : gpu.half),
                    gpu.source};
    return {};
}

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
        const Facts fact{run, "training"};
        fact("flops_per_token", fmt::format("{:.6g}", options.outline.flops_per_token));
        const auto peak = peak_of(gpus);
        if (peak.flops_per_s <= 0) return;
        fact("peak_tflops", fmt::format("{:.4g}", 1e-12 * peak.flops_per_s));
        fact("peak_source", peak.source);
        add("mfu_percent",
            100 * options.outline.flops_per_token * length /
                (ranks * std::max(1.0, base::real(std::ssize(gpus))) * peak.flops_per_s));
    }

  private:
    // Returns the peak of one GPU, or of the threads of one rank. Collective.
    Peak peak_of(const std::vector<torch::Device>& gpus) const {
        const auto& options = observed_.options;
        if (options.settings.peak_tflops)
            return {1e12 * *options.settings.peak_tflops, "--peak-tflops"};
        if (!gpus.empty())
            return peak_of_gpu(device::list_gpus().gpus.at(gpus.front().index()).name,
                               options.precision());
        auto& control = observed_.control;
        const double waited_s = observed_.steps.core_wait_s();
        const auto start = base::Clock::now();
        control.barrier();  // all ranks measure at once
        const double here = most_flops_per_s(options.parameter_type());
        const double waited = (observed_.steps.core_wait_s() - waited_s) /
                              (base::seconds_since(start) * compute_threads(options));
        const auto sum = measure::sums_of_ranks(control, {here});
        const double most = comm::reduced(control, waited, comm::ReduceOp::max);
        const bool wide = options.parameter_type() == torch::kDouble;
        return {sum.front() / base::real(control.world_size()),
                fmt::format(
                    "a rank's threads, measured by a product of {0} x {0} matrices in {1}{2}",
                    kEdge, wide ? "fp64" : "fp32",
                    most > vocabulary::kMostOtherLoad
                        ? fmt::format("; too low: they waited for a core for {:.0f} %", 100 * most)
                        : "")};
    }
};

}  // namespace

ObserverEntry tokens_entry() {
    return {.wanted = [](auto& options) { return model_input(options).is_tokens(); },
            .make = make_observer<Tokens>};
}

}  // namespace ranklab::experiments
