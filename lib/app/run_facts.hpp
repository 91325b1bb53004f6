// Facts of a run from outside the experiment: command line, hosts, and their load.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session.hpp"
#include "base/clock.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/load.hpp"
#include "host/monitor.hpp"
#include "host/topology.hpp"
#include "results/run.hpp"

namespace ranklab::app {

class RunFacts {
  public:
    /// Collective, at the start of the work. Keeps references to its arguments. `on_gpus`: the
    /// ranks compute on GPUs.
    RunFacts(Session& session, const Launch& launch, const vocabulary::CommonSettings& common,
             bool on_gpus);

    /// The callbacks with which the experiment marks its counted part (without warm-up).
    experiments::CountedPart counted_part();
    /// Collective, at the end of the work.
    void gather();
    /// On rank 0: gives each run the command ("train"), the shell-quoted command line, an id,
    /// hosts, context and warnings.
    void complete(std::vector<results::Run>& runs, const std::string& command,
                  const std::string& command_line) const;

  private:
    void complete_one(results::Run& run) const;
    void gather_monitored();
    void add_warnings(results::Run& run) const;
    void add_context(results::Run& run) const;

    Session& session_;
    const Launch& launch_;
    const vocabulary::CommonSettings& common_;
    bool on_gpus_;
    base::Clock::time_point began_ = base::Clock::now();
    std::int64_t started_;  // seconds since 1970
    host::UseMeter meter_;
    std::unique_ptr<host::Monitor> monitor_;  // on a host's first rank, with --monitor; else null
    std::vector<host::Monitored> monitored_;  // by host
    std::vector<host::Use> uses_;
    results::Table start_up_;
};

/// Adds the samples of --monitor: the tables `monitor` and `gpu_monitor`, and the energy over all
/// hosts (with epochs also per sample), or a fact with the reason if it is unknown.
void add_monitored(results::Run& run, const std::vector<host::Monitored>& hosts);

/// Facts of this node, the libraries, the allowed environment variables, and the cgroup limits of
/// the ranks' hosts.
std::vector<results::Fact> collect_context(const std::string& output_file,
                                           const std::vector<host::Placement>& placements);

/// "# ranks: 2 on 1 node, each 1 thread on 2 cores (node07)".
std::string placement_line(const std::vector<host::Placement>& placements);

}  // namespace ranklab::app
