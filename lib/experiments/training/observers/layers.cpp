// --profile layers: the times, FLOPs and bytes of each layer.
#include <cmath>

#include "base/numbers.hpp"
#include "experiments/training/observer.hpp"

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

    void fill(results::Run& run, RankMeasurements&) override {
        if (observed_.made.empty()) return;
        const auto means = layer_means();
        double whole = 0;
        for (const auto& mean : means) whole += mean.forward_s + mean.backward_s;
        results::Rows table("layers");
        for (std::size_t i = 0; i < means.size(); ++i)
            if (means[i].calls > 0) add_row(table, layers_[i], means[i], whole);
        run.tables.push_back(std::move(table).table());
    }

  private:
    std::vector<LayerMeans> layer_means() const {
        std::vector<double> sums;
        for (const auto& layer : layers_)
            sums.insert(sums.end(), {layer.forward_s, layer.backward_s, layer.gradient_ready_s,
                                     base::real(layer.calls), base::real(layer.forward_flops),
                                     base::real(layer.activation_bytes)});
        sums.push_back(base::real(batches_));
        sums = measure::sums_of_ranks(observed_.control, std::move(sums));
        const double batches = sums.back();
        std::vector<LayerMeans> means;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const double* const sum = sums.data() + kMeans * i;
            means.push_back({sum[0] / batches, sum[1] / batches, sum[2] / batches, sum[3] / batches,
                             sum[4] / batches, sum[5] / batches});
        }
        return means;
    }

    static void add_row(results::Rows& table, const train::LayerTimes& layer,
                        const LayerMeans& mean, double whole) {
        const std::int64_t bytes = layer.parameter_bytes;
        table.add({layer.name, std::llround(mean.calls), mean.forward_s, mean.backward_s,
                   100 * (mean.forward_s + mean.backward_s) / whole, mean.gradient_ready_s,
                   std::llround(mean.flops), 1e-9 * mean.flops / mean.forward_s,
                   mean.flops / (base::real(bytes) + mean.outputs_bytes), bytes,
                   std::llround(mean.outputs_bytes)});
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
