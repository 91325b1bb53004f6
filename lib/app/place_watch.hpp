// How quiet the hosts of a job are, from when this is made on: host/activity.hpp, over the ranks.
#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "host/activity.hpp"

namespace ranklab::app {

class PlaceWatch {
  public:
    /// On every rank, with the places of all.
    PlaceWatch(comm::Communicator& control, const std::vector<host::Placement>& placements);
    /// Collective; the same on all ranks.
    host::Quiet since_then() const;

  private:
    comm::Communicator& control_;
    std::vector<int> cpus_;  // of all ranks of this host
    bool looks_ = false;
    host::Activity begin_;
};

}  // namespace ranklab::app
