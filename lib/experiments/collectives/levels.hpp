// Groups of ranks that communicate: the whole job, the ranks of one host, one rank of each host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::experiments {

struct Level {
    std::string name;    ///< job, host, hosts
    int ranks = 1;       ///< in one group; the same on all ranks of the job
    bool active = true;  ///< this rank belongs to a group
    std::shared_ptr<comm::Communicator> data = nullptr, control = nullptr;  ///< of the group
};

/// Returns the level "job" and, with `all` on several hosts of which one has several ranks, "host"
/// and "hosts". In "host" only the hosts with the most ranks take part. `hosts`: host name of each
/// rank. Collective.
std::vector<Level> make_levels(comm::Communicator& data, comm::Communicator& control,
                               const std::vector<std::string>& hosts, bool all);

}  // namespace ranklab::experiments
