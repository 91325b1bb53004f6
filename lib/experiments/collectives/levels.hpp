// Which ranks talk: all of the job, those of one host, or one of each host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/clock_offset.hpp"

namespace ranklab::experiments {

struct Level {
    std::string name;    ///< job, host, hosts
    int ranks = 1;       ///< that talk to each other; the same on all ranks of the job
    bool active = true;  ///< whether this rank is one of them
    std::shared_ptr<comm::Communicator> data = nullptr, control = nullptr;  ///< of the same ranks
};

struct HostsOfJob {
    std::vector<std::string> by_rank;    ///< its host's name
    int first_here = 0, ranks_here = 0;  ///< on this rank's host: the first one, and how many
    int count = 0;
    int most_ranks = 0;  ///< on one of them
    bool has_levels() const { return count > 1 && most_ranks > 1; }
};
/// Finds the job's hosts. Collective.
HostsOfJob hosts_of_job(comm::Communicator& control);

/// Makes the levels: the job and, with `all`, its parts that have at least two ranks. Hosts with
/// fewer ranks than others do not take part in the level host. Collective.
std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const HostsOfJob& hosts, bool all);

class JobClocks {
  public:
    /// Looks at them. `hosts`: each rank's, by name. Collective.
    JobClocks(comm::Communicator& control, std::vector<std::string> hosts);

    /// Looks again where the last look is some seconds old and there are several hosts. Collective.
    void refresh();

    /// This rank's clock minus rank 0's.
    double mine() const { return offsets_[static_cast<std::size_t>(control_.rank())].offset_s; }
    /// The error of comparing two ranks' moments: that of the least certain offset, and the drift
    /// since.
    double error_s() const;

    const std::vector<measure::ClockOffset>& offsets() const { return offsets_; }

  private:
    comm::Communicator& control_;
    std::vector<std::string> hosts_;
    bool several_hosts_;
    std::vector<measure::ClockOffset> offsets_;
};

}  // namespace ranklab::experiments
