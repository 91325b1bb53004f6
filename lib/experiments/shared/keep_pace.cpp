#include "experiments/shared/keep_pace.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace ranklab::experiments {

bool KeepPace::due(const Surroundings& surroundings) {
    constexpr Clock::duration kLeast = std::chrono::seconds(2);
    constexpr int kTimesCost = 50;
    // Whether there is a keep is the same on all ranks.
    if (!surroundings.keep) return false;
    auto word = static_cast<std::int64_t>(Clock::now() - last_ >= std::max(kLeast, kTimesCost * cost_));
    surroundings.control.broadcast(comm::view(std::span(&word, 1)), 0);
    return word != 0;
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
