// Phases that a device computes, timed where they are computed: by events on the compute stream.
#pragma once

#include <utility>
#include <vector>

#include "device/stream.hpp"
#include "measure/samples.hpp"

namespace ranklab::measure {

/// Passes marks on to a recorder, and puts an event on the compute stream at both ends of all
/// phases but data and copy. Nothing waits inside a step: finish_step() does, at its end, and
/// replaces the host's times, which cover only launches, by the events'. The phases data and copy
/// keep the host's times, as they are its work. With replicas on several GPUs the phases are those
/// of the first one: its waiting for others counts in gather and reduce.
class DevicePhases final : public base::PhaseSink {
  public:
    explicit DevicePhases(PhaseRecorder& recorder) : recorder_(recorder) {}

    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;
    /// Replaces the recorder's end_step(): waits for the compute stream, so that the step's time
    /// covers all its work.
    void finish_step();

  private:
    struct Span {
        base::Phase phase{};
        device::Event begin{device::Event::Kind::timing};
        device::Event end{device::Event::Kind::timing};
    };

    PhaseRecorder& recorder_;
    std::vector<Span> spans_;  // made once, used again in every step
    std::size_t used_ = 0;
};

}  // namespace ranklab::measure
