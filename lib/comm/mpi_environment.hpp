// MPI from MPI_Init_thread to MPI_Finalize, and the control communicator; or one process without MPI.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "comm/communicator.hpp"

namespace ranklab::comm {

/// without_mpi: the process is the only rank. Starting and ending Open MPI costs a process alone 0.3 s.
/// one_thread: no other thread ever calls MPI, so that the library needs no locks. They are a fifth and more
/// of the shortest allreduce, at any level above MPI_THREAD_SINGLE (Open MPI 4.1).
enum class Start { with_mpi, one_thread, without_mpi };

class MpiEnvironment {
  public:
    /// With MPI: MPI_Init_thread; throws MpiError if with_mpi gets less than MPI_THREAD_SERIALIZED.
    /// Errors are returned and checked on a duplicate of the world: MPI's default handler would abort first.
    explicit MpiEnvironment(Start start = Start::with_mpi);
    ~MpiEnvironment();

    /// A duplicate of the world, for options, ids and timings; never the measured one. Without MPI: 'self'.
    Communicator& control() { return *control_; }

    /// The same ranks, for the exit code and nothing else: a rank that failed within a collective of the
    /// other one can still use it. The world itself: a second duplicate would cost all ranks rounds of
    /// messages.
    Communicator& exit_plane() { return *exit_plane_; }

    /// How long MPI_Finalize may take: it waits for all ranks, and one may be stopped or lost by then.
    void end_within(double seconds) { end_within_s_ = std::max(seconds, kShortestEnd); }

    /// Ends all ranks at once with this exit code; for when they no longer agree. Does not return.
    [[noreturn]] static void abort(int exit_code);
    static bool running();                 ///< MPI is initialised and not yet finalised
    static std::string library_version();  ///< "Open MPI v4.1.4, ...", "MPICH 4.0.2": one line

  private:
    static constexpr double kShortestEnd = 10;  // of a crowded machine, too

    void part() noexcept;  // the last of this rank's calls of MPI but MPI_Finalize

    std::unique_ptr<Communicator> control_;
    std::unique_ptr<Communicator> exit_plane_;
    double end_within_s_ = 300;
};

}  // namespace ranklab::comm
