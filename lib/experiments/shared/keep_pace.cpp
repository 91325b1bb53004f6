#include "experiments/shared/keep_pace.hpp"

#include <algorithm>

#include "comm/exchange.hpp"

namespace ranklab::experiments {

bool KeepPace::due(const Surroundings& surroundings) {
    constexpr Clock::duration kLeast = std::chrono::seconds(2);
    constexpr int kTimesCost = 50;
    // Whether there is a keep is the same on all ranks.
    if (!surroundings.keep) return false;
    return comm::from_root(surroundings.control,
                           Clock::now() - last_ >= std::max(kLeast, kTimesCost * cost_));
}

void KeepPace::keep(const Surroundings& surroundings, const std::function<results::Run()>& so_far) {
    if (!surroundings.keep) return;
    const auto start = Clock::now();
    surroundings.keep(so_far());
    last_ = Clock::now();
    cost_ = last_ - start;
}

void KeepPace::keep_if_due(const Surroundings& surroundings, const std::function<results::Run()>& so_far) {
    if (due(surroundings)) keep(surroundings, so_far);
}

}  // namespace ranklab::experiments
