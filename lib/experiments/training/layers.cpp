#include "experiments/training/layers.hpp"

#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "device/stream.hpp"
#include "measure/samples.hpp"

namespace ranklab::experiments {
namespace {

struct Roof {
    double flops_per_s = 0;
    double bytes_per_s = 0;
};

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

// The faster of a matrix product and a convolution: libraries differ by the processor's maker.
double most_flops_per_s(torch::TensorOptions type, bool on_gpu) {
    const std::int64_t edge = on_gpu ? 8192 : 1024;  // a GPU needs so many to be busy
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

// a = b + 2 c through memory (McCalpin's triad).
double most_bytes_per_s(torch::TensorOptions type, bool on_gpu, int ranks) {
    constexpr std::int64_t kOfHost = std::int64_t{1} << 25U;
    const auto b = torch::ones({kOfHost / ranks}, type), c = torch::ones_like(b);
    auto a = torch::empty_like(b);
    const double triad_s = shortest_of(on_gpu, [&] { torch::add_out(a, b, c, 2); });
    return 3.0 * static_cast<double>(b.nbytes()) / triad_s;
}

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

}  // namespace

void add_layers(results::Run& run, const ProfiledLayers& profiled, torch::TensorOptions type,
                comm::Communicator& control) {
    if (profiled.layers.empty()) return;
    const Roof here = measured_roof(type, control);
    constexpr std::size_t kFirst = 3, kEach = 6;
    std::vector<double> sums{here.flops_per_s, here.bytes_per_s, base::real(profiled.batches)};
    for (const auto& layer : profiled.layers)
        sums.insert(sums.end(), {layer.forward_s, layer.backward_s, layer.gradient_ready_s,
                                 base::real(layer.calls), base::real(layer.forward_flops),
                                 base::real(layer.activation_bytes)});
    sums = measure::sums_of_ranks(control, sums);
    const Roof roof{sums[0] / base::real(control.world_size()),
                    sums[1] / base::real(control.world_size())};
    double whole = 0;
    for (std::size_t i = kFirst; i < sums.size(); i += kEach) whole += sums[i] + sums[i + 1];
    results::Rows table("layers");
    for (std::size_t i = 0; i < profiled.layers.size(); ++i) {
        const auto& layer = profiled.layers[i];
        const auto mean = [&](std::size_t k) { return sums[kFirst + kEach * i + k] / sums[2]; };
        if (!(mean(3) > 0)) continue;
        const double rate = mean(4) / mean(0);
        const double intensity = mean(4) / (base::real(layer.parameter_bytes) + mean(5));
        const double limit = std::min(roof.flops_per_s, intensity * roof.bytes_per_s);
        table.add({layer.name, std::llround(mean(3)), mean(0), mean(1),
                   100 * sums[2] * (mean(0) + mean(1)) / whole, mean(2), std::llround(mean(4)),
                   1e-9 * rate, intensity, limit > 0 ? 100 * rate / limit : 0.0,
                   layer.parameter_bytes, std::llround(mean(5))});
    }
    run.tables.push_back(std::move(table).table());
    run.context.push_back(
        {"training", "roof_gflops_per_s", fmt::format("{:.4g}", 1e-9 * roof.flops_per_s)});
    run.context.push_back(
        {"training", "roof_gb_per_s", fmt::format("{:.4g}", 1e-9 * roof.bytes_per_s)});
}

}  // namespace ranklab::experiments
