#include "comm/nccl/nccl_communicator.hpp"

#include <exception>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "device/gpus.hpp"

namespace ranklab::comm {
namespace {

// Blocking as in nccl-tests and PyTorch: calls return once the operation is on the stream. A
// non-blocking communicator could be aborted while a rank is missing, but NCCL 2.28 then starts a
// thread for every collective, which would be measured. The watchdog handles missing ranks.
ncclConfig_t blocking_config() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    return config;
}

// Waits for a call that the user made non-blocking (NCCL_COMM_BLOCKING=0).
ncclResult_t settled(const NcclLibrary& library, ncclComm_t comm, ncclResult_t rc) {
    while (rc == ncclInProgress && comm != nullptr) {
        const ncclResult_t asked = library.get_async_error(comm, &rc);
        if (asked != ncclSuccess) return asked;
        std::this_thread::yield();
    }
    base::count_progress();
    return rc;
}

}  // namespace

ncclComm_t init_nccl_rank(const NcclLibrary& library, const ncclUniqueId& id, int rank, int ranks) {
    auto config = blocking_config();
    ncclComm_t comm = nullptr;
    const ncclResult_t rc = library.init_rank(&comm, ranks, id, rank, &config);
    library.check(settled(library, comm, rc), "ncclCommInitRankConfig");
    return comm;
}

NcclChannel::NcclChannel(std::shared_ptr<const NcclLibrary> library, ncclComm_t comm, int gpu)
    : library_(std::move(library)),
      comm_(comm),
      gpu_((device::select_gpu(gpu), gpu)) {}  // before the stream is made

NcclChannel::~NcclChannel() {
    if (comm_ == nullptr) return;
    if (std::uncaught_exceptions() > 0) {
        abort();
        return;
    }
    try {
        synchronize();
        device::select_gpu(gpu_);
        const auto rc = library_->destroy(comm_);
        if (rc != ncclInProgress) library_->check(rc, "ncclCommDestroy");
    } catch (const std::exception& error) {
        base::log::warn(error.what());
    }
}

void NcclChannel::need_alive() const {
    if (comm_ != nullptr) return;
    throw base::NcclError("this NCCL communicator was aborted: " + failure_);
}

void NcclChannel::begin(const char* call) {
    check_async();
    device::select_gpu(gpu_);  // a thread of LibTorch may have selected another GPU
    ready_.record(device::compute_stream());
    device::wait_on(stream_.get(), ready_);
    last_call_ = call;
}

void NcclChannel::end(const char* call, ncclResult_t rc) {
    if (rc == ncclSuccess) return;
    try {
        library_->check(settled(*library_, comm_, rc), call);
    } catch (const base::NcclError& error) {
        fail(error.what());
    }
}

// Throws errors that occurred between calls: a rank died, the network broke.
void NcclChannel::check_async() {
    need_alive();
    ncclResult_t state = ncclSuccess;
    library_->check(library_->get_async_error(comm_, &state), "ncclCommGetAsyncError");
    if (state != ncclInProgress) end(last_call_, state);
}

// Without an abort, kernels that wait for a missing rank spin forever: the process cannot end.
void NcclChannel::abort() noexcept {
    try {
        device::select_gpu(gpu_);
        library_->check(library_->abort(std::exchange(comm_, nullptr)), "ncclCommAbort");
    } catch (const std::exception& error) {
        base::log::warn(error.what());
    }
}

void NcclChannel::fail(const std::string& sentence) {
    failure_ = sentence;
    abort();
    throw base::NcclError(sentence);
}

device::Event NcclChannel::mark() {
    if (events_.empty()) events_.emplace_back();
    auto event = std::move(events_.back());
    events_.pop_back();
    event.record(stream_.get());
    return event;
}

void NcclChannel::recycle(device::Event event) {
    events_.push_back(std::move(event));
}

void NcclChannel::order_compute_after(const device::Event& event) {
    check_async();
    device::select_gpu(gpu_);
    device::wait_on(device::compute_stream(), event);
}

bool NcclChannel::done(const device::Event& event) {
    if (event.done()) return true;
    check_async();
    return false;
}

void NcclChannel::synchronize() {
    need_alive();
    auto end = mark();
    while (!done(end)) std::this_thread::yield();
    base::count_progress();
    check_async();
    recycle(std::move(end));
}

std::shared_ptr<NcclChannel> NcclChannel::split(int color, int key) {
    check_async();
    constexpr const char* kCall = "ncclCommSplit";
    last_call_ = kCall;
    ncclComm_t part = nullptr;
    try {
        device::select_gpu(gpu_);
        auto config = blocking_config();
        const auto rc = library_->split(comm_, color, key, &part, &config);
        library_->check(settled(*library_, comm_, rc), kCall);
        library_->check(settled(*library_, part, rc), kCall);
    } catch (const base::NcclError& error) {
        fail(error.what());
    }
    return std::make_shared<NcclChannel>(library_, part, gpu_);
}

}  // namespace ranklab::comm
