// An MPI program's life: MPI, the control plane, the launch guard, and how all ranks come to one exit code.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/start_clock.hpp"
#include "app/watchdog.hpp"
#include "base/pinned.hpp"
#include "comm/lifeline.hpp"
#include "comm/mpi_environment.hpp"
#include "host/placement.hpp"
#include "host/start_up.hpp"

namespace ranklab::app {

class Session {
  public:
    /// As --stall-timeout: of a start whose words are not read yet.
    static constexpr double kPatience = 300;

    /// Without MPI: one rank, the same guard, exit codes and watchdog.
    /// `patience_s`: for the start, as of watch().
    explicit Session(comm::Start start = comm::Start::with_mpi, double patience_s = kPatience);

    comm::Communicator& control() { return mpi_.control(); }
    host::StartUp& start_up() { return start_up_; }
    bool is_root() { return control().rank() == 0; }

    /// Gathers every rank's place. Collective. `threads` 0: one per core of the cpuset, as far
    /// as the cgroups' limits of CPU time go.
    std::vector<host::Placement> gather_placements(int threads);
    /// Ends the job where nothing moves for `seconds`, from here to its end; see Watchdog.
    void watch(double seconds);
    /// While this lives the activity that `progress` was told is what the rank is doing.
    class Watch : base::Pinned {
      public:
        Watch(Watchdog& watchdog, TerminalProgress& progress) : watchdog_(watchdog) {
            watchdog_.name_activity_of(&progress);
        }
        ~Watch() { watchdog_.name_activity_of(nullptr); }

      private:
        Watchdog& watchdog_;
    };
    Watch watch(TerminalProgress& progress, double seconds);

    /// Runs `work` on every rank: the only catch of an MPI program. Its error becomes one line on stderr and
    /// an exit code; the ranks then agree on the largest code. If the others do not come (they wait inside a
    /// collective that this rank left, or are dead), the job is ended.
    int conclude(const std::function<int()>& work);

  private:
    comm::MpiEnvironment& started();

    host::StartUp start_up_;
    std::optional<StartClock> start_clock_;  // until all are connected
    comm::MpiEnvironment mpi_;
    comm::Lifeline lifeline_;           // ends the job when a rank is lost
    std::optional<Watchdog> watchdog_;  // uses the lifeline
};

}  // namespace ranklab::app
