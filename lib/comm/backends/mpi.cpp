#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/progress.hpp"
#include "base/stop_signals.hpp"
#include "comm/backend.hpp"
#include "comm/backends/mpi_communicator.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::comm {
namespace {

// MPI does not tell a user function its operation, so each operation has a function.
template <class Format, ReduceOp op>
void reduce(void* in, void* inout, int* count, MPI_Datatype*) {
    reduce_small_floats<Format>(static_cast<const std::uint16_t*>(in),
                                static_cast<std::uint16_t*>(inout),
                                static_cast<std::size_t>(*count), op);
}

constexpr std::array<MPI_User_function*, 6> kFunctions{
    reduce<Float16Format, ReduceOp::sum>,  reduce<Float16Format, ReduceOp::min>,
    reduce<Float16Format, ReduceOp::max>,  reduce<BFloat16Format, ReduceOp::sum>,
    reduce<BFloat16Format, ReduceOp::min>, reduce<BFloat16Format, ReduceOp::max>};

// Returns a ticker that ends the process after 10 s, unless destroyed before. Does not call MPI: no
// second call is allowed while one hangs.
std::jthread exit_if_it_hangs(const char* call, int code) {
    constexpr auto kPatience = std::chrono::seconds(10);
    return base::every(kPatience, [=](double) {
        base::log::warn(fmt::format("{} has not returned within {} s; exiting without it", call,
                                    kPatience.count()));
        std::_Exit(code);
    });
}

}  // namespace

MpiRequest::MpiRequest(std::vector<MPI_Request> requests, std::function<void()> finish)
    : requests_(std::move(requests)), finish_(std::move(finish)) {}

MpiRequest::~MpiRequest() {
    for (auto& request : requests_)
        if (request != MPI_REQUEST_NULL && MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            base::log::warn("MPI_Wait failed while a request was destroyed");
}

void MpiRequest::wait() {
    for (auto& request : requests_) mpi_check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    end();
}

bool MpiRequest::test() {
    int done = 0;
    const int count = static_cast<int>(requests_.size());
    mpi_check(MPI_Testall(count, requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done != 0) end();
    return done != 0;
}

void MpiRequest::end() {
    base::count_progress();
    finish_();
}

MpiOwnOps::MpiOwnOps() {
    constexpr int kCommutes = 1;
    for (std::size_t i = 0; i < ops_.size(); ++i)
        mpi_check(MPI_Op_create(kFunctions[i], kCommutes, &ops_[i]), "MPI_Op_create");
}

MpiOwnOps::~MpiOwnOps() {
    for (auto& op : ops_)
        if (MPI_Op_free(&op) != MPI_SUCCESS) base::log::warn("MPI_Op_free failed");
}

MPI_Op MpiOwnOps::op(DType dtype, ReduceOp op) const {
    if (dtype == DType::f16) return ops_[base::number_of(op)];
    if (dtype == DType::bf16) return ops_[3 + base::number_of(op)];
    const std::array all{MPI_SUM, MPI_MIN, MPI_MAX};
    return all.at(base::number_of(op));
}

// In the order of DType. 16-bit floating-point numbers travel as uint16; MpiOwnOps reduces them.
MPI_Datatype mpi_type(DType dtype) {
    static const std::array kTypes{MPI_UINT8_T, MPI_INT32_T,  MPI_INT64_T, MPI_FLOAT,
                                   MPI_DOUBLE,  MPI_UINT16_T, MPI_UINT16_T};
    return kTypes.at(base::number_of(dtype));
}

int mpi_count(std::size_t count) {
    if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw base::Error(
            "a buffer has more than the 2^31 - 1 elements that MPI counts; use smaller messages, "
            "buckets or files");
    }
    return static_cast<int>(count);
}

void MpiCommunicator::begin() {
    mpi_check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    mpi_check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(comm_, &world_size_), "MPI_Comm_size");
}

MpiCommunicator::MpiCommunicator(MPI_Comm comm, std::shared_ptr<const MpiOwnOps> own_ops)
    : comm_(comm), own_ops_(std::move(own_ops)) {
    begin();
    MPI_Comm node = MPI_COMM_NULL;
    mpi_check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    MPI_Comm_rank(node, &local_rank_);
    MPI_Comm_size(node, &local_size_);
    node_ = rank_;
    mpi_check(MPI_Bcast(&node_, 1, MPI_INT, 0, node), "MPI_Bcast");
    MPI_Comm_free(&node);
}

// Counts ranks per node from the known nodes: MPI_Comm_split_type takes several times as long if
// many ranks share a core.
MpiCommunicator::MpiCommunicator(MPI_Comm comm, const MpiCommunicator& whole)
    : comm_(comm), own_ops_(whole.own_ops_), node_(whole.node_) {
    begin();
    std::vector<int> nodes(static_cast<std::size_t>(world_size_));
    mpi_done(MPI_Allgather(&node_, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm_), "MPI_Allgather");
    local_rank_ = static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank_, node_));
    local_size_ = static_cast<int>(std::count(nodes.begin(), nodes.end(), node_));
}

MpiCommunicator::~MpiCommunicator() {
    if (MPI_Comm_free(&comm_) != MPI_SUCCESS) base::log::warn("MPI_Comm_free failed");
}

void MpiCommunicator::barrier() {
    mpi_done(MPI_Barrier(comm_), "MPI_Barrier");
}

std::unique_ptr<Communicator> MpiCommunicator::split(int color, int key) {
    MPI_Comm part = MPI_COMM_NULL;
    mpi_done(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split");
    return std::unique_ptr<Communicator>(new MpiCommunicator(part, *this));
}

BackendEntry mpi_entry() {
    return {.name = "mpi",
            .summary = "collectives of the MPI library, in host memory",
            .memory = Memory::host,
            .refuses = [](const Communicator&) { return std::string(); },
            .make = [](Communicator& control) { return control.split(0, control.rank()); },
            .library = MpiEnvironment::library_version,
            .offers = has_form};
}

void mpi_check(int rc, const char* call) {
    if (rc == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(rc, text, &length);
    throw base::Error(
        fmt::format("{} failed: {}; another rank may have died, look for its message", call, text));
}

void mpi_done(int rc, const char* call) {
    mpi_check(rc, call);
    base::count_progress();
}

MpiEnvironment::MpiEnvironment(Start start) {
    if (start == Start::without_mpi) {
        control_ = make_self();
        exit_plane_ = make_self();
        return;
    }
    const int wanted = start == Start::one_thread ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    int provided = MPI_THREAD_SINGLE;
    // Keeps Open MPI from opening its component cm, unless a fabric may need cm or the user has
    // chosen: cm loads the libraries of PSM, each of which sleeps for 0.1 s.
    const char* const home = std::getenv("HOME");
    const auto own_file = std::string(home == nullptr ? "" : home) + "/.openmpi/mca-params.conf";
    const bool no_cm =
        std::ranges::none_of(
            std::array{"OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_mca_base_param_files"},
            [](const char* name) { return std::getenv(name) != nullptr; }) &&
        ::access(own_file.c_str(), F_OK) != 0 &&
        std::ranges::none_of(
            std::array{"/dev/infiniband", "/dev/hfi1_0", "/dev/ipath", "/dev/cxi0", "/dev/kgni0"},
            [](const char* device) { return ::access(device, F_OK) == 0; });
    if (no_cm) ::setenv("OMPI_MCA_pml", "^cm", 1);
    {
        // Delays signals: Open MPI 4.1's mpirun may never end if a rank dies while connecting.
        const base::StopSignalsBlocked connecting;
        mpi_check(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
    }
    if (no_cm) ::unsetenv("OMPI_MCA_pml");  // not a setting of the run
    if (provided < std::min<int>(wanted, MPI_THREAD_SERIALIZED)) {
        MPI_Finalize();
        throw base::Error(
            "this MPI library has no thread support (MPI_THREAD_SERIALIZED is needed); build it "
            "with "
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
        // Waits for all ranks: MPI_Finalize may fail while a rank is still inside another call.
        control_->barrier();
    } catch (const std::exception& error) {
        base::log::warn(fmt::format("the barrier before MPI_Finalize failed: {}", error.what()));
    }
    exit_plane_.reset();
    control_.reset();
    if (MPI_Finalize() != MPI_SUCCESS)
        base::log::warn("MPI_Finalize failed; the results are not affected");
}

void MpiEnvironment::abort(int exit_code) {
    if (running()) {
        const auto limit = exit_if_it_hangs("MPI_Abort", exit_code);
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
    std::_Exit(exit_code);  // without MPI, or if the library returned from MPI_Abort
}

bool MpiEnvironment::running() {
    int initialised = 0;
    int finalised = 0;
    return MPI_Initialized(&initialised) == MPI_SUCCESS && initialised != 0 &&
           MPI_Finalized(&finalised) == MPI_SUCCESS && finalised == 0;
}

bool MpiEnvironment::serves_several_threads() {
    int provided = MPI_THREAD_SINGLE;
    return !running() ||
           (MPI_Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE);
}

std::string MpiEnvironment::library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    return base::mpi_library_name(text);  // without `length`, in which Open MPI counts the NUL
}

}  // namespace ranklab::comm
