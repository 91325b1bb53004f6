// --monitor: its samples become tables and measurements of the run.
#pragma once

#include <vector>

#include "host/monitor.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// The tables `monitor` and `gpu_monitor`, and the energy over all hosts, or a fact that says why
/// it is not known; of a run with epochs also by sample.
void add_monitored(results::Run& run, const std::vector<host::Monitored>& hosts);

}  // namespace ranklab::app
