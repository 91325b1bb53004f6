// MPI from MPI_Init_thread to MPI_Finalize, with the control communicator, or one rank without MPI;
// messages between ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"
#include "comm/communicator.hpp"

namespace ranklab::comm {

/// without_mpi: one rank; saves the 0.3 s that Open MPI takes to start and end. one_thread: only
/// one thread calls MPI (MPI_THREAD_SINGLE). At any higher level Open MPI 4.1 locks, which takes a
/// fifth or more of the shortest allreduce's time.
enum class Start { with_mpi, one_thread, without_mpi };

class MpiEnvironment {
  public:
    /// Throws base::Error if with_mpi gets less than MPI_THREAD_SERIALIZED. The communicators
    /// return errors, since MPI's default handler would abort.
    explicit MpiEnvironment(Start start = Start::with_mpi);
    /// Calls MPI_Finalize. After 10 s without return the process exits with exit_with()'s code:
    /// some libraries never return (MPICH 4.0.2 over UCX).
    ~MpiEnvironment();

    /// All ranks, for options, ids and timings: never the measured communicator.
    Communicator& control() { return *control_; }

    /// All ranks, for the exit code only: usable after a rank failed within a collective of
    /// control().
    Communicator& exit_plane() { return *exit_plane_; }

    /// Sets the exit code that all ranks have agreed on.
    void exit_with(int code) { exit_code_ = code; }

    /// Ends all ranks with this exit code; before MPI_Init has returned, this process only. Any
    /// thread may call it.
    [[noreturn]] static void abort(int exit_code);
    /// Whether several threads may call MPI at a time (MPI_THREAD_MULTIPLE).
    static bool serves_several_threads();
    static bool running();                 ///< MPI is initialised and not yet finalised
    static std::string library_version();  ///< "Open MPI v4.1.4, ...", "MPICH 4.0.2": one line

  private:
    std::unique_ptr<Communicator> control_;
    std::unique_ptr<Communicator> exit_plane_;
    int exit_code_ = base::number_of(base::ExitCode::environment);
};

// Messages between ranks in host memory, over the MPI backend, of at most 2^31 - 1 elements.

/// Returns when `message` may be overwritten: a short one at once, a long one perhaps only once the
/// other rank receives it. Messages of one tag between two ranks stay in order.
void send(Communicator& communicator, const BufferView& message, int to, int tag);

/// Receives a message of that tag from rank `from`. Throws base::Error if the message is longer
/// than `buffer`. Busy-waits.
void receive(Communicator& communicator, const BufferView& buffer, int from, int tag);

/// MPI_Scatterv: on `root`, counts[r] elements of `send` go to rank r, in order of ranks; the
/// counts sum up to send.count. Other ranks' `send` and `counts` are ignored. receive.count is this
/// rank's count; `receive` must not overlap `send`. Collective.
void scatterv(Communicator& communicator, const BufferView& send,
              std::span<const std::size_t> counts, const BufferView& receive, int root);

/// Returns the communicator's MPI_Comm, for parallel HDF5, valid as long as `communicator`; nullptr
/// for other backends.
const void* native_mpi(const Communicator& communicator);

}  // namespace ranklab::comm
