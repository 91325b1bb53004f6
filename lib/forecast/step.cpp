#include "forecast/step.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/numbers.hpp"

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

namespace {

// A forward or backward pass, `pass_s` long if alone, and the collectives that run meanwhile, one
// after another without a gap. Running collectives slow computing down.
struct Pass {
    double pass_s, speed, now, done = 0, moved = now;

    void compute_until(double fraction) {
        const double left = (fraction - done) * pass_s, busy = std::max(0.0, moved - now);
        done = fraction;
        if (left > 0) now += std::min(left / speed, left + (1 - speed) * busy);
    }
    void move(double seconds) { moved = std::max(now, moved) + seconds; }
    void await() { now = std::max(now, moved); }
};

}  // namespace

SimulatedStep simulate_step(const RankWork& work, std::size_t micro_batches,
                            std::span<const Gradient> buckets,
                            const std::function<double(double bytes)>& allreduce_s,
                            double compute_share, const Sharded& sharded) {
    RankWork own = work;
    own.optimizer_s /= sharded.sharing_ranks;
    const double compute_s = own.compute_s(micro_batches),
                 loader_s = base::real(micro_batches) * own.loader_s, speed = 1 - compute_share;
    double now = own.optimizer_s;
    for (std::size_t micro = 1; micro <= micro_batches; ++micro) {
        Pass forward{.pass_s = own.forward_s, .speed = speed, .now = now + own.input_s};
        const bool gathers = sharded.stage == 3 || (sharded.stage > 0 && micro == 1);
        for (const auto& bucket : buckets | std::views::reverse) {
            if (!gathers) break;
            forward.move(sharded.in_forward() * allreduce_s(bucket.bytes));
            forward.compute_until(std::max(forward.done, 1 - bucket.ready));
            forward.await();
        }
        forward.compute_until(1);
        Pass backward{.pass_s = own.backward_s, .speed = speed, .now = forward.now};
        for (const auto& bucket : buckets) {
            if (micro < micro_batches && !sharded.each_micro_batch()) break;
            backward.compute_until(bucket.ready);
            backward.move(sharded.in_backward() * allreduce_s(bucket.bytes));
        }
        backward.compute_until(1);
        backward.await();
        now = backward.now;
    }
    return {std::max(now, loader_s), std::max(compute_s, loader_s)};
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
