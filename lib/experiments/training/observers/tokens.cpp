// Tokens per second and model FLOPs utilisation (MFU) of language models.
#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <functional>
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

double shortest_of(const std::function<void()>& work) {
    constexpr int kTimes = 5;
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTimes; ++i) {
        const auto start = base::Clock::now();
        work();
        shortest = std::min(shortest, base::seconds_since(start));
    }
    return shortest;
}

// FLOP/s of a matrix product or a convolution on this rank's CPU, whichever is faster with
// LibTorch's libraries.
double most_flops_per_s(torch::Dtype type) {
    constexpr std::int64_t kEdge = 1024, kChannels = 64, kImages = 16, kSide = 56, kFilter = 3;
    const torch::NoGradGuard no_gradients;
    const auto left = torch::randn({kEdge, kEdge}, type);
    auto product = torch::empty_like(left);
    const double product_s = shortest_of([&] { torch::mm_out(product, left, left); });
    const auto images = torch::randn({kImages, kChannels, kSide, kSide}, type);
    const auto filters = torch::randn({kChannels, kChannels, kFilter, kFilter}, type);
    const double convolution_s =
        shortest_of([&] { torch::conv2d(images, filters, {}, 1, kFilter / 2); });
    return std::max(
        2.0 * base::real(kEdge * kEdge * kEdge) / product_s,
        2.0 * base::real(images.numel() * kChannels * kFilter * kFilter) / convolution_s);
}

// TFLOP/s for 16 bits, TF32, FP32 and FP64 by tensor or matrix cores where there are any.
struct GpuPeak {
    const char* name;  // the first row whose name is part of the GPU's counts
    double half, tf32, single, wide;
    const char* source;
};
constexpr std::array kGpuPeaks{
    GpuPeak{"B200", 2250, 1125, 75, 37, "NVIDIA HGX data sheet 2025"},
    GpuPeak{"H100 NVL", 835, 417, 60, 60, "NVIDIA H100 data sheet 2024"},
    GpuPeak{"H100 PCIe", 756, 378, 51, 51, "NVIDIA H100 data sheet 2023"},
    GpuPeak{"H200", 989, 494, 67, 67, "NVIDIA H200 data sheet 2024"},
    GpuPeak{"GH200", 989, 494, 67, 67, "NVIDIA GH200 data sheet 2024"},
    GpuPeak{"H100", 989, 494, 67, 67, "NVIDIA H100 data sheet 2024"},
    GpuPeak{"A100", 312, 156, 19.5, 19.5, "NVIDIA A100 data sheet 2021"},
    GpuPeak{"V100", 125, 0, 15.7, 7.8, "NVIDIA V100 data sheet 2020"},
    GpuPeak{"MI300X", 1307.4, 653.7, 163.4, 163.4, "AMD MI300X data sheet 2023"},
    // Half of a module: each of its two dies is a device.
    GpuPeak{"MI250X", 191.5, 0, 47.9, 47.9, "AMD MI250X data sheet 2021, one die"}};

struct Peak {
    double flops_per_s = 0;  // 0: unknown
    std::string source;
};

// The dense peak of a GPU by its vendor's data sheet, without sparsity.
Peak peak_of_gpu(const std::string& name, train::Precision precision) {
    for (const auto& gpu : kGpuPeaks) {
        if (name.find(gpu.name) == std::string::npos) continue;
        using train::Precision;
        const double tera = precision == Precision::fp64   ? gpu.wide
                            : precision == Precision::fp32 ? gpu.single
                            : precision == Precision::tf32 ? gpu.tf32
                                                           : gpu.half;
        return {1e12 * tera, gpu.source};
    }
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
        const auto fact = [&run](const char* key, std::string value) {
            run.context.push_back({"training", key, std::move(value)});
        };
        fact("flops_per_token", fmt::format("{:.6g}", options.outline.flops_per_token));
        const auto peak = peak_of(gpus, run.warnings);
        if (peak.flops_per_s <= 0) return;
        fact("peak_tflops", fmt::format("{:.4g}", 1e-12 * peak.flops_per_s));
        fact("peak_source", peak.source);
        add("mfu_percent",
            100 * options.outline.flops_per_token * length /
                (ranks * std::max(1.0, base::real(std::ssize(gpus))) * peak.flops_per_s));
    }

  private:
    // Of one GPU, or of the threads of one rank.
    Peak peak_of(const std::vector<torch::Device>& gpus, std::vector<std::string>& warnings) const {
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
        Peak peak{sum.front() / base::real(control.world_size()),
                  "measured: LibTorch's fastest matrix product or convolution, in fp32 or fp64"};
        const double most = comm::reduced(control, waited, comm::ReduceOp::max);
        if (most > vocabulary::kMostOtherLoad) {
            peak.source += fmt::format("; threads waited for a core for {:.0f} %", 100 * most);
            warnings.push_back(fmt::format(
                "MFU may be too high: while its peak was measured, threads waited for a core for "
                "{:.0f} % of the time; end other processes, or give --peak-tflops",
                100 * most));
        }
        return peak;
    }
};

}  // namespace

ObserverEntry tokens_entry() {
    return {.wanted = [](auto& options) { return model_input(options).is_tokens(); },
            .make = make_observer<Tokens>};
}

}  // namespace ranklab::experiments
