// MPI from MPI_Init_thread to MPI_Finalize, and the control communicator.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.hpp"

namespace ranklab::comm {

class MpiEnvironment {
  public:
    /// MPI_Init_thread; throws MpiError if the library gives less than MPI_THREAD_SERIALIZED.
    /// Errors are returned and checked on a duplicate of the world: MPI's default handler would abort first.
    MpiEnvironment();
    ~MpiEnvironment();
    MpiEnvironment(const MpiEnvironment&) = delete;
    MpiEnvironment& operator=(const MpiEnvironment&) = delete;
    MpiEnvironment(MpiEnvironment&&) = delete;
    MpiEnvironment& operator=(MpiEnvironment&&) = delete;

    /// A duplicate of the world, for options, ids and timings; never the measured one.
    Communicator& control() { return *control_; }

    /// Ends all ranks at once with this exit code; for when they no longer agree. Does not return.
    [[noreturn]] static void abort(int exit_code);
    static std::string library_version();  ///< "Open MPI v4.1.4, ..." ; first line only

  private:
    std::unique_ptr<Communicator> control_;
};

}  // namespace ranklab::comm
