#include "experiments/training/layers.hpp"

#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
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
    constexpr std::int64_t kEdge = 1024, kChannels = 64, kImages = 16, kSide = 56, kFilter = 3;
    const auto left = torch::randn({kEdge, kEdge}, type);
    auto product = torch::empty_like(left);
    const double product_s = shortest_of(on_gpu, [&] { torch::mm_out(product, left, left); });
    const auto images = torch::randn({kImages, kChannels, kSide, kSide}, type);
    const auto filters = torch::randn({kChannels, kChannels, kFilter, kFilter}, type);
    const double convolution_s =
        shortest_of(on_gpu, [&] { torch::conv2d(images, filters, {}, 1, kFilter / 2); });
    return std::max(
        2.0 * base::real(kEdge * kEdge * kEdge) / product_s,
        2.0 * base::real(images.numel() * kChannels * kFilter * kFilter) / convolution_s);
}

// a = b + 2 c through memory (McCalpin's triad).
double most_bytes_per_s(torch::TensorOptions type, bool on_gpu) {
    const auto b = torch::ones({std::int64_t{1} << 24U}, type), c = torch::ones_like(b);
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
    roof.bytes_per_s = most_bytes_per_s(type, on_gpu);
    return roof;
}

}  // namespace

void add_layers(results::Run& run, const ProfiledLayers& profiled, torch::TensorOptions type,
                comm::Communicator& control) {
    if (profiled.batches == 0) return;
    const Roof here = measured_roof(type, control);
    std::vector<double> sums{here.flops_per_s, here.bytes_per_s};
    for (const auto& layer : profiled.layers)
        for (const double sum : {layer.forward_s, layer.backward_s, layer.gradient_ready_s})
            sums.push_back(sum / base::real(profiled.batches));
    sums = measure::sums_of_ranks(control, sums);
    for (double& sum : sums) sum /= base::real(control.world_size());
    const Roof roof{sums[0], sums[1]};
    double whole = 0;
    for (std::size_t i = 0; i < profiled.layers.size(); ++i)
        whole += sums[2 + 3 * i] + sums[3 + 3 * i];
    results::Rows table("layers");
    for (std::size_t i = 0; i < profiled.layers.size(); ++i) {
        const auto& layer = profiled.layers[i];
        const auto per_batch = [&](std::int64_t sum) { return sum / profiled.batches; };
        const double forward_s = sums[2 + 3 * i], backward_s = sums[3 + 3 * i];
        const std::int64_t flops = per_batch(layer.forward_flops);
        const std::int64_t outputs = per_batch(layer.activation_bytes);
        const double rate = base::real(flops) / forward_s;
        const double intensity = base::real(flops) / base::real(std::max<std::int64_t>(
                                                         1, layer.parameter_bytes + outputs));
        const double limit = std::min(roof.flops_per_s, intensity * roof.bytes_per_s);
        table.add({layer.name, per_batch(layer.calls), forward_s, backward_s,
                   100 * (forward_s + backward_s) / whole, sums[4 + 3 * i], flops, 1e-9 * rate,
                   intensity, limit > 0 ? 100 * rate / limit : 0.0, layer.parameter_bytes,
                   outputs});
    }
    run.tables.push_back(std::move(table).table());
    run.context.push_back(
        {"training", "roof_gflops_per_s", fmt::format("{:.4g}", 1e-9 * roof.flops_per_s)});
    run.context.push_back(
        {"training", "roof_gb_per_s", fmt::format("{:.4g}", 1e-9 * roof.bytes_per_s)});
}

}  // namespace ranklab::experiments
