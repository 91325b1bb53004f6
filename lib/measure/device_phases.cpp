#include "measure/device_phases.hpp"

#include <array>

#include "base/numbers.hpp"

namespace ranklab::measure {
namespace {

using base::Phase;

// The phases data and copy are the host's work.
bool on_device(Phase phase) {
    return phase != Phase::data && phase != Phase::copy;
}

}  // namespace

void DevicePhases::enter(Phase phase) {
    recorder_.enter(phase);
    if (!on_device(phase)) return;
    if (used_ == spans_.size()) spans_.emplace_back();
    spans_[used_].phase = phase;
    spans_[used_].begin.record(device::compute_stream());
}

void DevicePhases::leave(Phase phase) {
    if (on_device(phase)) spans_[used_++].end.record(device::compute_stream());
    recorder_.leave(phase);
}

void DevicePhases::finish_step() {
    device::synchronize(device::compute_stream());
    recorder_.end_step();
    std::array<double, base::kPhaseCount> seconds{};
    for (std::size_t i = 0; i < used_; ++i)
        seconds[base::number_of(spans_[i].phase)] += spans_[i].end.seconds_since(spans_[i].begin);
    used_ = 0;
    for (std::size_t phase = 0; phase < seconds.size(); ++phase) {
        if (on_device(static_cast<Phase>(phase)))
            recorder_.correct_last(static_cast<Phase>(phase), seconds[phase]);
    }
}

}  // namespace ranklab::measure
