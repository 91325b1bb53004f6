// The ranks' clocks while a sweep lasts: those of several hosts drift apart.
#pragma once

#include <string>
#include <vector>

#include "measure/clock_offset.hpp"

namespace ranklab::experiments {

class JobClocks {
  public:
    /// Looks at them. `hosts`: each rank's, by name. Collective.
    JobClocks(comm::Communicator& control, std::vector<std::string> hosts);

    /// Looks again where the last look is some seconds old and there are several hosts. Collective.
    void refresh();
    /// Looks once more, at the end. Collective.
    void finish() { last_ = measure::clock_offsets(control_, hosts_); }

    /// This rank's clock minus rank 0's.
    double mine() const { return now_[static_cast<std::size_t>(control_.rank())].offset_s; }
    /// Within which two ranks' moments are compared: the least sure of all, and what they may have drifted
    /// since.
    double error_s() const;

    const std::vector<measure::ClockOffset>& first() const { return first_; }
    const std::vector<measure::ClockOffset>& last() const { return last_; }  ///< empty before finish()

  private:
    comm::Communicator& control_;
    std::vector<std::string> hosts_;
    bool several_hosts_;
    std::vector<measure::ClockOffset> first_, now_, last_;
};

}  // namespace ranklab::experiments
