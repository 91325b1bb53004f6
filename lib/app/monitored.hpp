// Adds the samples of --monitor to the run, as tables and measurements.
#pragma once

#include <vector>

#include "host/monitor.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// Adds the tables `monitor` and `gpu_monitor`, and the energy over all hosts (with epochs also per
/// sample), or a fact with the reason if it is unknown.
void add_monitored(results::Run& run, const std::vector<host::Monitored>& hosts);

}  // namespace ranklab::app
