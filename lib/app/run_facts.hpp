// Facts of a process's runs beside the experiment's: how it was called, on what hosts, and how busy
// they were.
#pragma once

#include <string>
#include <vector>

#include "app/job_start.hpp"
#include "app/session.hpp"
#include "base/clock.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/load.hpp"

namespace ranklab::app {

/// A part of the start-up of all ranks.
struct StartUpPart {
    std::string name;
    double mean_s = 0, most_s = 0;  ///< over ranks
    int slowest_rank = 0;
};

class RunFacts {
  public:
    /// Collective: the work begins. All arguments outlive it.
    RunFacts(Session& session, const Launch& launch, const options::Options& options,
             const experiments::Experiment& experiment);

    /// For the experiment, which tells which part of its work counts.
    experiments::CountedPart counted_part();
    /// Collective: the work is over.
    void gather();
    /// On rank 0: gives each run an id, settings, hosts, context and warnings. `command_line` is
    /// shell-quoted.
    void complete(std::vector<results::Run>& runs, const std::string& command_line) const;

  private:
    void complete_one(results::Run& run) const;
    void add_warnings(results::Run& run) const;
    void add_context(results::Run& run) const;

    Session& session_;
    const Launch& launch_;
    const options::Options& options_;
    const experiments::Experiment& experiment_;
    vocabulary::CommonSettings common_;
    base::Clock::time_point began_ = base::Clock::now();
    std::int64_t started_;  // seconds since 1970
    host::UseMeter meter_;
    std::vector<host::Use> uses_;
    std::vector<StartUpPart> start_up_;
};

}  // namespace ranklab::app
