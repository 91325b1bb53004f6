// Phases of a device, timed by events on the compute stream.
#pragma once

#include <vector>

#include "device/stream.hpp"
#include "measure/samples.hpp"

namespace ranklab::measure {

/// Forwards phases to a recorder, and records an event on the compute stream at both ends of every
/// phase except data and copy, which are the host's work. Only finish_step(), at the end of a step,
/// waits for the GPU. It replaces the host's times, which cover launches only, by the events'
/// times. With replicas on several GPUs the phases are the first GPU's; its waits for other GPUs
/// count in gather and reduce.
class DevicePhases final : public base::PhaseSink {
  public:
    explicit DevicePhases(PhaseRecorder& recorder) : recorder_(recorder) {}

    void enter(base::Phase phase) override;
    void leave(base::Phase phase) override;
    /// To be called instead of the recorder's end_step(). Waits for the compute stream, so that the
    /// step time covers all work.
    void finish_step();

  private:
    struct Span {
        base::Phase phase{};
        device::Event begin{device::Event::Kind::timing};
        device::Event end{device::Event::Kind::timing};
    };

    PhaseRecorder& recorder_;
    std::vector<Span> spans_;  // reused in every step
    std::size_t used_ = 0;
};

}  // namespace ranklab::measure
