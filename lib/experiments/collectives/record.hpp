// What a run of `ranklab comm` holds.
#pragma once

#include "experiments/collectives/options.hpp"
#include "experiments/collectives/sweep.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

struct SweepEnd {
    int stopped_by = 0;  ///< a signal; 0: none
    bool hit_time_limit = false;
};

/// Measurements, tables, facts, verdicts and warnings of what is measured so far; the same on all ranks.
void fill_collectives_run(results::Run& run, const Sweep& sweep, const SweepEnd& end,
                          const CollectivesOptions& options, const comm::BackendEntry& backend,
                          comm::Communicator& control);

/// Adds to a run with its measurements and their intervals the tables messages, nonblocking, buckets, fits,
/// guidelines and clocks, as far as they have rows. `library`: what serves the backend.
void add_collectives_tables(results::Run& run, const Sweep& sweep, const CollectivesOptions& options,
                            const std::string& library, comm::Communicator& control);

}  // namespace ranklab::experiments
