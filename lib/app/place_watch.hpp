// How quiet the hosts of a job are, from begin() on: host/activity.hpp, over the ranks.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "host/activity.hpp"

namespace ranklab::app {

/// What is looked at. Tests put others in their place.
struct PlaceLooks {
    std::function<host::Activity(const std::vector<int>& cpus)> host = [](const std::vector<int>& cpus) {
        return host::look_at(cpus);
    };
    std::function<double()> own_seconds = host::own_seconds;
    std::function<std::optional<host::CpuClock>()> clock = [] { return host::cpu_clock(); };
};

class PlaceWatch {
  public:
    /// On a rank, with the places of all.
    PlaceWatch(comm::Communicator& control, const std::vector<host::Placement>& placements,
               PlaceLooks looks = {});

    /// Collective.
    void begin();
    /// The part that is counted, without warm-up: what the clock does before says nothing of the numbers.
    void counting_begins() { clocks_ = {looks_.clock(), std::nullopt}; }
    void counting_ends() { clocks_.after = looks_.clock(); }

    /// Collective, and the same on all ranks: of each rank, since begin(); none where that was not called.
    std::vector<host::Span> spans() const;

  private:
    // A host, and its ranks' CPU time just before and just after. Their time at the look itself is in
    // between, whenever a rank comes to it and however it waits for the others.
    struct Look {
        double own_before = 0, own_after = 0;
        host::Activity host;
    };
    Look look() const;

    comm::Communicator& control_;
    PlaceLooks looks_;
    std::vector<int> cpus_;  // of all ranks of this host
    bool looks_at_host_ = false;
    std::optional<Look> begin_;
    struct {
        std::optional<host::CpuClock> before, after;
    } clocks_;
};

}  // namespace ranklab::app
