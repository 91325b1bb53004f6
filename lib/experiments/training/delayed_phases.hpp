// A fault on purpose: one rank's phase made longer, to see that the report names it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "base/phase.hpp"

namespace ranklab::experiments {

/// `--inject-delay RANK:PHASE:MS`.
struct Delay {
    int rank = 0;
    base::Phase phase = base::Phase::data;
    double ms = 0;
};

/// OptionError for what is no such text; "" is none.
std::optional<Delay> parse_delay(const std::string& text, int world_size);

/// Passes marks on; in the chosen phase it sleeps first, inside the mark.
class DelayedPhases final : public base::PhaseSink {
  public:
    DelayedPhases(base::PhaseSink& sink, std::optional<Delay> delay) : sink_(sink), delay_(delay) {}
    void enter(base::Phase phase) override {
        sink_.enter(phase);
        if (!delay_ || delay_->phase != phase) return;
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(delay_->ms));
    }
    void leave(base::Phase phase) override { sink_.leave(phase); }

  private:
    base::PhaseSink& sink_;
    std::optional<Delay> delay_;
};

}  // namespace ranklab::experiments
