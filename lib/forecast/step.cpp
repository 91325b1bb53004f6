#include "forecast/step.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/summary.hpp"

namespace ranklab::forecast {

double RankWork::compute_s(std::size_t micro_batches) const {
    return optimizer_s + base::real(micro_batches) * (input_s + forward_s + backward_s);
}

std::vector<Gradient> buckets_of(std::span<const Gradient> gradients, double first_cap_bytes,
                                 double cap_bytes) {
    std::vector<Gradient> buckets;
    bool is_open = false;
    for (const auto& gradient : gradients) {
        if (!is_open) buckets.push_back({0, 0});
        Gradient& bucket = buckets.back();
        bucket.bytes += gradient.bytes;
        bucket.ready = std::max(bucket.ready, gradient.ready);
        is_open = bucket.bytes < (buckets.size() == 1 ? first_cap_bytes : cap_bytes);
    }
    return buckets;
}

SimulatedStep simulate_step(const RankWork& work, std::size_t micro_batches,
                            std::span<const Gradient> buckets,
                            const std::function<double(double bytes)>& allreduce_s,
                            double compute_share) {
    const double compute_s = work.compute_s(micro_batches),
                 loader_s = base::real(micro_batches) * work.loader_s;
    double now = compute_s - work.backward_s, done = 0, summed = 0;
    // From `now` to `summed` allreduces follow without a gap, and slow computing down.
    const auto compute_until = [&](double ready) {
        const double left = (ready - done) * work.backward_s, speed = 1 - compute_share,
                     busy = std::max(0.0, summed - now);
        done = ready;
        if (left > speed * busy)
            now += busy + left - speed * busy;
        else if (left > 0)
            now += left / speed;
    };
    for (const auto& bucket : buckets) {
        compute_until(bucket.ready);
        summed = std::max(now, summed) + allreduce_s(bucket.bytes);
    }
    compute_until(1);
    return {std::max({now, summed, loader_s}), std::max(compute_s, loader_s)};
}

double expected_maximum(std::span<const double> samples, std::size_t ranks) {
    const auto x = stats::sorted(samples);
    if (!x || ranks < 1 || x->size() < ranks) return stats::kNone;
    const double n = base::real(x->size()), p = base::real(ranks);
    double mean = 0, below = 0;
    for (std::size_t i = 0; i < x->size(); ++i) {
        const double upto = std::pow(base::real(i + 1) / n, p);
        mean += (*x)[i] * (upto - below);
        below = upto;
    }
    return mean;
}

}  // namespace ranklab::forecast
