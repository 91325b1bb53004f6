// Groups of ranks that communicate: the whole job, the ranks of one host, one rank of each host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "measure/clock_offset.hpp"

namespace ranklab::experiments {

struct Level {
    std::string name;    ///< job, host, hosts
    int ranks = 1;       ///< of one group; the same on all ranks of the job
    bool active = true;  ///< this rank belongs to a group
    std::shared_ptr<comm::Communicator> data = nullptr, control = nullptr;  ///< of the group
};

struct HostsOfJob {
    std::vector<std::string> by_rank;    ///< host name of each rank
    int first_here = 0, ranks_here = 0;  ///< on this rank's host: lowest rank, number of ranks
    int count = 0;                       ///< of hosts
    int most_ranks = 0;                  ///< on one host
    bool has_levels() const { return count > 1 && most_ranks > 1; }
};
/// Collective.
HostsOfJob hosts_of_job(comm::Communicator& control);

/// The level job and, with `all`, the levels host and hosts of a job that has both. Hosts with
/// fewer ranks than others take no part in the level host. Collective.
std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const HostsOfJob& hosts, bool all);

/// Offsets between the clocks of the job's hosts.
class JobClocks {
  public:
    /// Measures the offsets. `hosts`: host name of each rank. Collective.
    JobClocks(comm::Communicator& control, std::vector<std::string> hosts);

    /// Measures again if there are several hosts and the offsets are some seconds old. Collective.
    void refresh();

    /// This rank's clock minus rank 0's.
    double mine() const { return offsets_[static_cast<std::size_t>(control_.rank())].offset_s; }
    /// Bound on the error of comparing moments of two ranks: the largest error of an offset, plus
    /// drift since it was measured.
    double error_s() const;

    const std::vector<measure::ClockOffset>& offsets() const { return offsets_; }

  private:
    comm::Communicator& control_;
    std::vector<std::string> hosts_;
    bool several_hosts_;
    std::vector<measure::ClockOffset> offsets_;
};

}  // namespace ranklab::experiments
