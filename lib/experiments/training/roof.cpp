#include "experiments/training/roof.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "device/stream.hpp"

namespace ranklab::experiments {
namespace {

double shortest_of(bool on_gpu, const std::function<void()>& work) {
    constexpr int kTimes = 5;
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTimes; ++i) {
        const auto start = base::Clock::now();
        work();
        if (on_gpu) device::synchronize(device::compute_stream());
        shortest = std::min(shortest, base::seconds_since(start));
    }
    return shortest;
}

// FLOP/s of a matrix product or a convolution, whichever is faster with LibTorch's libraries.
double most_flops_per_s(torch::TensorOptions type, bool on_gpu) {
    const std::int64_t edge = on_gpu ? 8192 : 1024;  // keeps a GPU busy
    constexpr std::int64_t kChannels = 64, kImages = 16, kSide = 56, kFilter = 3;
    const auto left = torch::randn({edge, edge}, type);
    auto product = torch::empty_like(left);
    const double product_s = shortest_of(on_gpu, [&] { torch::mm_out(product, left, left); });
    const auto images = torch::randn({kImages, kChannels, kSide, kSide}, type);
    const auto filters = torch::randn({kChannels, kChannels, kFilter, kFilter}, type);
    const double convolution_s =
        shortest_of(on_gpu, [&] { torch::conv2d(images, filters, {}, 1, kFilter / 2); });
    return std::max(
        2.0 * base::real(edge * edge * edge) / product_s,
        2.0 * base::real(images.numel() * kChannels * kFilter * kFilter) / convolution_s);
}

// Times a = b + 2 c through memory (McCalpin's triad).
double most_bytes_per_s(torch::TensorOptions type, bool on_gpu, int ranks) {
    constexpr std::int64_t kOfHost = std::int64_t{1} << 25U;
    const auto b = torch::ones({kOfHost / ranks}, type), c = torch::ones_like(b);
    auto a = torch::empty_like(b);
    const double triad_s = shortest_of(on_gpu, [&] { torch::add_out(a, b, c, 2); });
    return 3.0 * static_cast<double>(b.nbytes()) / triad_s;
}

// TFLOP/s for 16 bits, TF32, FP32 and FP64 by tensor or matrix cores where there are any.
struct GpuPeak {
    const char* name;  ///< the first row whose name is part of the GPU's counts
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

}  // namespace

Roof measured_roof(torch::TensorOptions type, comm::Communicator& control) {
    const torch::NoGradGuard no_gradients;
    const bool on_gpu = type.device().is_cuda();
    Roof roof;
    control.barrier();
    roof.flops_per_s = most_flops_per_s(type, on_gpu);
    control.barrier();
    roof.bytes_per_s = most_bytes_per_s(type, on_gpu, std::max(1, control.local_size()));
    return roof;
}

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

}  // namespace ranklab::experiments
