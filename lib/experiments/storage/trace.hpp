// `ranklab io --trace FILE.json`: the last writing of each strategy, a lane per rank and worker.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "experiments/storage/repetition.hpp"

namespace ranklab::experiments {

struct TracedStrategy {
    std::string name;
    Repeater::Traced traced;
};

/// Writes the Trace Event Format: a process per strategy, a thread per rank and worker, an event
/// per phase, record and wait for a task. Times are in us since the writing began, which all ranks
/// do after a barrier. Throws EnvironmentError on all ranks if the file cannot be written.
/// Collective.
void write_trace(const std::string& path, const std::vector<TracedStrategy>& mine,
                 comm::Communicator& control);

}  // namespace ranklab::experiments
