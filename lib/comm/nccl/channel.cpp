#include "comm/nccl/channel.hpp"

#include <fmt/format.h>

#include <exception>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "device/gpus.hpp"

namespace ranklab::comm {
namespace {

// Collectives are called as nccl-tests and PyTorch do: they return once the work is on the stream. See
// within().
ncclConfig_t blocking_config() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    return config;
}

// Where NCCL is made non-blocking all the same (NCCL_COMM_BLOCKING=0), calls are still under way when they
// return.
ncclResult_t settled(const NcclLibrary& library, ncclComm_t comm, ncclResult_t rc, Patience patience,
                     const std::string& what) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (rc == ncclInProgress && comm != nullptr) {
        const ncclResult_t asked = library.get_async_error(comm, &rc);
        if (asked != ncclSuccess) return asked;
        if (std::chrono::steady_clock::now() > deadline) throw base::NcclError(hang_sentence(what, patience));
        std::this_thread::yield();
    }
    base::count_progress();
    return rc;
}

}  // namespace

ncclComm_t init_nccl_rank(const std::shared_ptr<const NcclLibrary>& library, const ncclUniqueId& id,
                          const NcclPlace& place, Patience patience) {
    const auto comm = std::make_shared<ncclComm_t>(nullptr);
    const std::string what =
        fmt::format("connecting {} rank{} by NCCL", place.ranks, place.ranks == 1 ? "" : "s");
    const ncclResult_t rc = within(patience, what, [=] {
        if (place.gpu >= 0) device::select_gpu(place.gpu);  // a thread's own
        auto config = blocking_config();
        return library->init_rank(comm.get(), place.ranks, id, place.rank, &config);
    });
    library->check(settled(*library, *comm, rc, patience, what), "ncclCommInitRankConfig");
    return *comm;
}

NcclChannel::NcclChannel(std::shared_ptr<const NcclLibrary> library, ncclComm_t comm, const NcclPlace& place,
                         Patience patience)
    : library_(std::move(library)),
      comm_(comm),
      place_((device::select_gpu(place.gpu), place)),  // before the stream is made
      patience_(patience) {}

NcclChannel::~NcclChannel() {
    if (comm_ == nullptr) return;
    if (std::uncaught_exceptions() > 0) {
        abort();
        return;
    }
    try {
        synchronize();
        const auto rc =
            within(patience_, "ncclCommDestroy", [library = library_, comm = comm_, gpu = place_.gpu] {
                device::select_gpu(gpu);
                return library->destroy(comm);
            });
        if (rc != ncclInProgress) library_->check(rc, "ncclCommDestroy");
    } catch (const std::exception& error) {
        base::log::warn(error.what());
    }
}

void NcclChannel::need_alive() const {
    if (comm_ != nullptr) return;
    throw base::NcclError("this NCCL communicator was aborted before: " + failure_);
}

void NcclChannel::begin(const char* call) {
    check_async();
    device::select_gpu(place_.gpu);  // LibTorch's threads may have another
    ready_.record(device::compute_stream());
    device::wait_on(stream_.get(), ready_);
    last_call_ = call;
}

void NcclChannel::end(const char* call, ncclResult_t rc) {
    if (rc == ncclSuccess) return;
    try {
        library_->check(settled(*library_, comm_, rc, patience_, call), call);
    } catch (const base::NcclError& error) {
        fail(error.what());
    }
}

// What went wrong while no call was there to report it: a rank that died, a network that broke.
void NcclChannel::check_async() {
    need_alive();
    ncclResult_t state = ncclSuccess;
    library_->check(library_->get_async_error(comm_, &state), "ncclCommGetAsyncError");
    if (state != ncclInProgress) end(last_call_, state);
}

// Kernels that wait for a rank that will not come spin until they are told: without this the process could
// not even end.
void NcclChannel::abort() noexcept {
    try {
        const auto comm = std::exchange(comm_, nullptr);
        constexpr Patience kShort(20);
        within(kShort, "ncclCommAbort", [library = library_, comm, gpu = place_.gpu] {
            device::select_gpu(gpu);
            return library->abort(comm);
        });
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
    device::select_gpu(place_.gpu);
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
    const auto deadline = std::chrono::steady_clock::now() + patience_;
    while (!done(end)) {
        if (std::chrono::steady_clock::now() > deadline) fail(hang_sentence(last_call_, patience_));
        std::this_thread::yield();
    }
    base::count_progress();
    check_async();
    recycle(std::move(end));
}

std::shared_ptr<NcclChannel> NcclChannel::split(int color, int key, NcclPlace place) {
    check_async();
    const auto part = std::make_shared<ncclComm_t>(nullptr);
    constexpr const char* kCall = "ncclCommSplit";
    last_call_ = kCall;
    place.gpu = place_.gpu;
    try {
        const auto rc =
            within(patience_, kCall, [library = library_, comm = comm_, part, color, key, gpu = place.gpu] {
                device::select_gpu(gpu);
                auto config = blocking_config();
                return library->split(comm, color, key, part.get(), &config);
            });
        library_->check(settled(*library_, comm_, rc, patience_, kCall), kCall);
        library_->check(settled(*library_, *part, rc, patience_, kCall), kCall);
    } catch (const base::NcclError& error) {
        fail(error.what());
    }
    return std::make_shared<NcclChannel>(library_, *part, place, patience_);
}

}  // namespace ranklab::comm
