#include "comm/mpi_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/cast.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/last_words.hpp"
#include "base/log.hpp"
#include "base/mpi_library.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/bare_machine.hpp"
#include "comm/mpi_check.hpp"
#include "comm/parting.hpp"
#include "comm/self.hpp"

namespace ranklab::comm {

void mpi_check(int rc, const char* call) {
    if (rc == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(rc, text, &length);
    throw base::MpiError(
        fmt::format("{} failed: {}; another rank may have died, look for its message", call, text));
}

MpiEnvironment::MpiEnvironment(Start start) {
    if (start == Start::without_mpi) {
        control_ = make_self();
        exit_plane_ = make_self();
        return;
    }
#ifdef OPEN_MPI
    settle_for_bare_machine();
#endif
    const int wanted = start == Start::one_thread ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    int provided = MPI_THREAD_SINGLE;
    mpi_check(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
    if (provided < std::min<int>(wanted, MPI_THREAD_SERIALIZED)) {
        MPI_Finalize();
        throw base::MpiError(
            "this MPI library gives no thread support (MPI_THREAD_SERIALIZED is needed); build it with "
            "threads");
    }
    MPI_Comm duplicate = MPI_COMM_NULL;
    mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate), "MPI_Comm_dup");
    auto control = std::make_unique<MpiCommunicator>(duplicate, std::make_shared<const MpiOwnOps>());
    exit_plane_ = MpiCommunicator::world_beside(*control);
    control_ = std::move(control);
}

void MpiEnvironment::part() noexcept {
    try {
        if (must_part_without_mpi(*control_)) part_without_mpi(*control_, end_within_s_);
    } catch (const std::exception& error) {
        base::log::warn(fmt::format("the ranks did not part as they should: {}", error.what()));
    }
    exit_plane_.reset();
    control_.reset();
}

MpiEnvironment::~MpiEnvironment() {
    if (!running()) return;
    // No call of MPI is allowed beside MPI_Finalize, so nothing gentler ends it.
    const base::Deadline deadline(end_within_s_, [this] {
        return fmt::format(
            "MPI did not finish within {} s after all ranks had done their work: one of them "
            "is stopped, or its node hangs",
            end_within_s_);
    });
    part();
    if (MPI_Finalize() != MPI_SUCCESS) base::log::warn("MPI_Finalize failed; the results are not affected");
}

void MpiEnvironment::abort(int exit_code) {
    base::LastWords::say();  // nobody comes to it afterwards
    if (running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);  // no MPI, or a library that returns from MPI_Abort all the same
}

bool MpiEnvironment::running() {
    int initialised = 0;
    int finalised = 0;
    return MPI_Initialized(&initialised) == MPI_SUCCESS && initialised != 0 &&
           MPI_Finalized(&finalised) == MPI_SUCCESS && finalised == 0;
}

std::string MpiEnvironment::library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return base::mpi_library_name(text);  // not `length`: Open MPI counts the NUL
}

}  // namespace ranklab::comm
