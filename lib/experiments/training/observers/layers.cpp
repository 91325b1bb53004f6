// --profile layers: the times of each layer, and the roofline: the most that this machine can do.
#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.hpp"
#include "experiments/training/observer.hpp"
#include "experiments/training/roof.hpp"

namespace ranklab::experiments {
namespace {

// Means over batches and ranks.
struct LayerMeans {
    double forward_s, backward_s, gradient_ready_s, calls, flops, outputs_bytes;
};
constexpr std::size_t kMeans = sizeof(LayerMeans) / sizeof(double);

class Layers final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void before(std::int64_t step) override {
        const auto& schedule = observed_.schedule;
        if (step == schedule.first + schedule.warmup) observed_.steps.layers()->restart();
    }
    void end() override {
        layers_ = observed_.steps.layers()->layers();
        batches_ = observed_.steps.layers()->batches();
    }

    // Measures the roofline on all ranks at once, in the run's number format.
    void fill(results::Run& run, RankMeasurements&) override {
        if (observed_.made.empty()) return;
        const auto type = torch::TensorOptions(observed_.options.parameter_type())
                              .device(observed_.options.on_gpu() ? torch::kCUDA : torch::kCPU);
        const auto [means, roof] = means_of(measured_roof(type, observed_.control));
        double whole = 0;
        for (const auto& mean : means) whole += mean.forward_s + mean.backward_s;
        results::Rows table("layers");
        for (std::size_t i = 0; i < means.size(); ++i)
            if (means[i].calls > 0) add_row(table, layers_[i], means[i], roof, whole);
        run.tables.push_back(std::move(table).table());
        const auto fact = [&run](const char* key, double value) {
            run.context.push_back({"training", key, fmt::format("{:.4g}", 1e-9 * value)});
        };
        fact("roof_gflops_per_s", roof.flops_per_s);
        fact("roof_gb_per_s", roof.bytes_per_s);
    }

  private:
    std::pair<std::vector<LayerMeans>, Roof> means_of(const Roof& here) const {
        std::vector<double> sums;
        for (const auto& layer : layers_)
            sums.insert(sums.end(), {layer.forward_s, layer.backward_s, layer.gradient_ready_s,
                                     base::real(layer.calls), base::real(layer.forward_flops),
                                     base::real(layer.activation_bytes)});
        sums.insert(sums.end(), {here.flops_per_s, here.bytes_per_s, base::real(batches_)});
        sums = measure::sums_of_ranks(observed_.control, std::move(sums));
        const double ranks = base::real(observed_.control.world_size()), batches = sums.back();
        std::vector<LayerMeans> means;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const double* const sum = sums.data() + kMeans * i;
            means.push_back({sum[0] / batches, sum[1] / batches, sum[2] / batches, sum[3] / batches,
                             sum[4] / batches, sum[5] / batches});
        }
        return {means, {sums[sums.size() - 3] / ranks, sums[sums.size() - 2] / ranks}};
    }

    static void add_row(results::Rows& table, const train::LayerTimes& layer,
                        const LayerMeans& mean, const Roof& roof, double whole) {
        const std::int64_t bytes = layer.parameter_bytes;
        const double rate = mean.flops / mean.forward_s;
        const double intensity = mean.flops / (base::real(bytes) + mean.outputs_bytes);
        const double limit = std::min(roof.flops_per_s, intensity * roof.bytes_per_s);
        table.add({layer.name, std::llround(mean.calls), mean.forward_s, mean.backward_s,
                   100 * (mean.forward_s + mean.backward_s) / whole, mean.gradient_ready_s,
                   std::llround(mean.flops), 1e-9 * rate, intensity,
                   limit > 0 ? 100 * rate / limit : 0.0, bytes, std::llround(mean.outputs_bytes)});
    }

    std::vector<train::LayerTimes> layers_;  // sums on this rank, in the parameters' order
    std::int64_t batches_ = 0;
};

}  // namespace

ObserverEntry layers_entry() {
    return {.wanted = [](auto& options) { return options.profiles("layers"); },
            .make = make_observer<Layers>};
}

}  // namespace ranklab::experiments
