#include "comm/mpi_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mpi_words.hpp"
#include "base/numbers.hpp"
#include "base/progress.hpp"
#include "base/ticker.hpp"
#include "comm/backends/mpi_communicator.hpp"

namespace ranklab::comm {

void mpi_check(int rc, const char* call) {
    if (rc == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(rc, text, &length);
    throw base::MpiError(
        fmt::format("{} failed: {}; another rank may have died, look for its message", call, text));
}

void mpi_done(int rc, const char* call) {
    mpi_check(rc, call);
    base::count_progress();
}

namespace {

// While it lives. MPI allows no call beside the one that hangs, so that the process ends without MPI.
base::Ticker exit_if_it_hangs(const char* call, int code) {
    constexpr auto kPatience = std::chrono::seconds(10);
    return {kPatience, [=](double) {
                base::log::warn(fmt::format("{} has not returned within {} s; exiting without it", call,
                                            kPatience.count()));
                std::_Exit(code);
            }};
}

}  // namespace

MpiEnvironment::MpiEnvironment(Start start) {
    if (start == Start::without_mpi) {
        control_ = make_self();
        exit_plane_ = make_self();
        return;
    }
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
    control_ = std::make_unique<MpiCommunicator>(duplicate, std::make_shared<const MpiOwnOps>());
    exit_plane_ = control_->split(0, control_->rank());
}

MpiEnvironment::~MpiEnvironment() {
    if (!running()) return;
    const auto limit = exit_if_it_hangs("MPI_Finalize", exit_code_);
    try {
        control_->barrier();  // a rank that is still inside another call may be missed by the library's end
    } catch (const std::exception& error) {
        base::log::warn(fmt::format("the barrier before MPI_Finalize failed: {}", error.what()));
    }
    exit_plane_.reset();
    control_.reset();
    if (MPI_Finalize() != MPI_SUCCESS) base::log::warn("MPI_Finalize failed; the results are not affected");
}

void MpiEnvironment::abort(int exit_code) {
    if (running()) {
        const auto limit = exit_if_it_hangs("MPI_Abort", exit_code);
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
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
