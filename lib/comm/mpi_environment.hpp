// MPI from MPI_Init_thread to MPI_Finalize, and the control communicator; or one process without
// MPI.
#pragma once

#include <memory>
#include <string>

#include "base/error.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

/// without_mpi: the process is the only rank. Open MPI's start and end take 0.3 s. one_thread: no
/// other thread calls MPI, so that the library needs no locks, which take a fifth and more of the
/// shortest allreduce at any level above MPI_THREAD_SINGLE (Open MPI 4.1).
enum class Start { with_mpi, one_thread, without_mpi };

class MpiEnvironment {
  public:
    /// With MPI it calls MPI_Init_thread; throws MpiError if with_mpi gets less than
    /// MPI_THREAD_SERIALIZED. Errors are returned and checked on a duplicate of the world: MPI's
    /// default handler would abort first.
    explicit MpiEnvironment(Start start = Start::with_mpi);
    /// Calls MPI_Finalize. If it has not returned after 10 s, the process exits with exit_with()'s
    /// code: the work is done, and some libraries never return (MPICH 4.0.2 over UCX).
    ~MpiEnvironment();

    /// A duplicate of the world, for options, ids and timings; never the measured one. Without MPI:
    /// 'self'.
    Communicator& control() { return *control_; }

    /// A second communicator of all ranks, for the exit code alone: a rank that failed within a
    /// collective of the other one can still use it.
    Communicator& exit_plane() { return *exit_plane_; }

    /// The code that all ranks have agreed on.
    void exit_with(int code) { exit_code_ = code; }

    /// Ends all ranks at once with this exit code, where they no longer agree; before MPI_Init has
    /// returned, this process alone. Any thread may call it.
    [[noreturn]] static void abort(int exit_code);
    static bool running();                 ///< MPI is initialised and not yet finalised
    static std::string library_version();  ///< "Open MPI v4.1.4, ...", "MPICH 4.0.2": one line

  private:
    std::unique_ptr<Communicator> control_;
    std::unique_ptr<Communicator> exit_plane_;
    int exit_code_ = base::number_of(base::ExitCode::environment);
};

}  // namespace ranklab::comm
