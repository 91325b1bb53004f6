#include "forecast/step.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "stats/summary.hpp"

namespace ranklab::forecast {
namespace {

double micro_batch_s(const RankWork& work) {
    return work.input_s + work.forward_s + work.backward_s;
}

double compute_of(const RankWork& work, std::size_t accumulate) {
    return work.optimizer_s + base::real(accumulate) * micro_batch_s(work);
}

// A rank on its way through the backward whose gradients are summed. What it computes while a sum
// is under way goes slower.
class Backward {
  public:
    Backward(const RankWork& work, std::size_t accumulate)
        : backward_s_(work.backward_s), now_(compute_of(work, accumulate) - work.backward_s) {}

    /// The time at which this share of it is over, with those sums under way, in their order.
    double reach(double share, const std::vector<Reduction>& sums, double compute_share) {
        double left = std::max(0.0, share - done_) * backward_s_;
        done_ = std::max(done_, share);
        while (left > 0) {
            while (next_ < sums.size() && sums[next_].end_s <= now_) ++next_;
            if (next_ == sums.size() || now_ + left <= sums[next_].start_s) return now_ += left;
            left -= std::max(0.0, sums[next_].start_s - now_);
            now_ = std::max(now_, sums[next_].start_s);
            left = compute_beside(sums[next_], left, 1 - compute_share);
        }
        return now_;
    }

  private:
    double compute_beside(const Reduction& sum, double left, double speed) {
        const double made = speed * (sum.end_s - now_);
        now_ = made < left ? sum.end_s : now_ + left / speed;
        return std::max(0.0, left - made);
    }

    double backward_s_, now_;
    double done_ = 0;       // the share
    std::size_t next_ = 0;  // the first sum that is not over
};

double latest(std::vector<Backward>& ranks, double share, const std::vector<Reduction>& sums,
              double compute_share) {
    double last = 0;
    for (auto& rank : ranks) last = std::max(last, rank.reach(share, sums, compute_share));
    return last;
}

bool is_overlapped(const SyncPlan& plan) {
    return plan.sync == Sync::bucketed && plan.overlaps;
}

}  // namespace

std::vector<Gradient> buckets_of(std::span<const Gradient> gradients, const SyncPlan& plan) {
    std::vector<Gradient> buckets;
    if (plan.sync == Sync::none) return buckets;
    bool is_open = false;
    for (const auto& gradient : gradients) {
        if (!is_open) buckets.push_back({0, 0});
        Gradient& bucket = buckets.back();
        bucket.bytes += gradient.bytes;
        bucket.ready = std::max(bucket.ready, gradient.ready);
        const double cap = buckets.size() == 1 ? plan.first_cap_bytes : plan.cap_bytes;
        is_open = plan.sync == Sync::flat || (plan.sync == Sync::bucketed && bucket.bytes < cap);
    }
    return buckets;
}

SimulatedStep simulate_step(std::span<const RankWork> ranks, std::span<const Gradient> gradients,
                            const SyncPlan& plan, const Network& network) {
    SimulatedStep step;
    std::vector<Backward> backwards;
    double loader_s = 0;
    for (const auto& work : ranks) {
        backwards.emplace_back(work, plan.accumulate);
        step.compute_s = std::max(step.compute_s, compute_of(work, plan.accumulate));
        loader_s = std::max(loader_s, base::real(plan.accumulate) * work.loader_s);
    }
    double summed_s = 0;
    for (const auto& bucket : buckets_of(gradients, plan)) {
        const double share = is_overlapped(plan) ? bucket.ready : 1;
        const double ready = latest(backwards, share, step.reductions, network.compute_share);
        const double start = std::max(ready, summed_s);
        summed_s = start + network.allreduce_s(bucket.bytes);
        step.reductions.push_back({bucket.bytes, ready, start, summed_s});
    }
    step.step_s = std::max(summed_s, latest(backwards, 1, step.reductions, network.compute_share));
    step.compute_s = std::max(step.compute_s, loader_s);
    step.step_s = std::max(step.step_s, loader_s);
    step.exposed_s = step.step_s - step.compute_s;
    return step;
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
