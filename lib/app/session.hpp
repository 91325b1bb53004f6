// An MPI program's life: MPI, the control plane, the launch guard, and how all ranks come to one exit code.
#pragma once

#include <functional>
#include <vector>

#include "app/watchdog.hpp"
#include "base/handle.hpp"
#include "comm/mpi_environment.hpp"
#include "host/placement.hpp"
#include "host/process.hpp"

namespace ranklab::app {

class Session {
  public:
    /// --stall-timeout, while a config file that may set it is not read yet.
    static constexpr double kStallTimeout = 600;

    /// Without MPI: one rank, the same guard, exit codes and watchdog. The watchdog runs from here on.
    explicit Session(comm::Start start = comm::Start::with_mpi, double stall_timeout_s = kStallTimeout);

    comm::Communicator& control() { return mpi_.control(); }
    host::StartUp& start_up() { return start_up_; }
    bool is_root() { return control().rank() == 0; }

    /// Collective. Every rank's placement. `threads` 0: one per core of the cpuset, as far as the cgroups'
    /// limits of CPU time go.
    std::vector<host::Placement> gather_placements(int threads);
    /// Ends the job where this rank makes no progress for `seconds`; 0: never. See Watchdog.
    void watch(double seconds) { watchdog_.set_limit(seconds); }
    /// While this lives the activity that `progress` was told is what the rank is doing.
    class Watch : base::Pinned {
      public:
        Watch(Watchdog& watchdog, TerminalProgress& progress) : watchdog_(watchdog) {
            watchdog_.name_activity_of(&progress);
        }
        ~Watch() {
            watchdog_.set_activity("ending");
            watchdog_.name_activity_of(nullptr);
        }

      private:
        Watchdog& watchdog_;
    };
    Watch watch(TerminalProgress& progress, double seconds);

    /// Runs `work` on every rank: the only catch of an MPI program. An error becomes one line on stderr and
    /// an exit code; the ranks then agree on the largest code. A rank that failed gives the others 5 s, since
    /// they may wait in a collective that it left, and then aborts the job.
    int conclude(const std::function<int()>& work);

  private:
    host::StartUp start_up_;
    Watchdog watchdog_;  // before MPI, whose start may hang
    comm::MpiEnvironment mpi_;
};

}  // namespace ranklab::app
