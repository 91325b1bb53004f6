// The tables of `ranklab comm`.
#pragma once

#include <string>
#include <vector>

#include "experiments/collectives/options.hpp"
#include "experiments/collectives/sweep.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Of a run whose measurements are there, with their intervals: tables messages, nonblocking, buckets, fits,
/// guidelines and clocks, as far as they have rows. `library`: what serves the backend.
void add_collectives_tables(results::Run& run, const Sweep& sweep, const CollectivesOptions& options,
                            const std::string& library, comm::Communicator& control);

}  // namespace ranklab::experiments
