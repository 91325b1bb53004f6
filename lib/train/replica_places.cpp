#include "train/replica_places.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::train {

ReplicaPlaces::ReplicaPlaces(std::vector<torch::Device> devices,
                             const c10::impl::DeviceGuardImplInterface* guard)
    : devices_(std::move(devices)), guard_(guard) {
    const auto type = devices_.front().type();
    if (type == torch::kCPU) return;
    if (guard_ == nullptr) guard_ = c10::impl::getDeviceGuardImpl(type);
    streams_.push_back(guard_->getStream(devices_.front()));
    for (std::size_t r = 1; r < devices_.size(); ++r)
        streams_.push_back(guard_->getStreamFromGlobalPool(devices_[r]));
    for (const auto& stream : streams_) before_.push_back(guard_->exchangeStream(stream));
}

ReplicaPlaces::~ReplicaPlaces() {
    for (const auto& stream : before_) {
        try {
            guard_->exchangeStream(stream);
        } catch (...) {  // the thread keeps a stream that works as well
        }
    }
}

void ReplicaPlaces::enter(std::size_t replica) const {
    if (!on_gpus()) return;
    guard_->setDevice(devices_[replica]);
    for (const auto& stream : streams_) guard_->exchangeStream(stream);
}

namespace {

// Binds this thread and, by inheritance, OpenMP workers that it starts later.
bool bind_this_thread(const std::vector<int>& cpus) {
    const auto most = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
    cpu_set_t* set = CPU_ALLOC(most);
    const std::size_t size = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(size, set);
    for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
    const bool bound = sched_setaffinity(0, size, set) == 0;
    CPU_FREE(set);
    return bound;
}

// Sets this thread's number of OpenMP threads. At a thread's first computation LibTorch would reset
// the number to the process's, unless a flag is set. An inline function holds the flag, so LibTorch
// and ranklab each have a copy: the first two calls set both copies.
void compute_with(int threads) {
    static_cast<void>(at::get_num_threads());
    at::internal::lazy_init_num_threads();
    at::set_num_threads(threads);
}

}  // namespace

std::vector<std::vector<int>> share_cores(const std::vector<std::vector<int>>& cores,
                                          std::size_t replicas) {
    std::vector<std::vector<int>> shares;
    if (cores.size() < replicas) return shares;
    for (std::size_t replica = 0; replica < replicas; ++replica) {
        auto& share = shares.emplace_back();
        const std::size_t end = cores.size() * (replica + 1) / replicas;
        for (std::size_t core = cores.size() * replica / replicas; core < end; ++core)
            share.insert(share.end(), cores[core].begin(), cores[core].end());
        std::sort(share.begin(), share.end());
    }
    return shares;
}

ReplicaThreads::ReplicaThreads(std::size_t count, int threads,
                               const std::vector<std::vector<int>>& cores)
    : threads_each_(std::max(1, threads / static_cast<int>(count))),
      cpus_(share_cores(cores, count)),
      errors_(count) {
    const int callers = at::get_num_threads();
    try {
        for (std::size_t replica = 0; replica < count; ++replica) {
            threads_.emplace_back(
                [this, replica](const std::stop_token& stop) { serve(stop, replica); });
        }
    } catch (const std::system_error& error) {
        throw base::EnvironmentError(
            fmt::format("only {} of {} replica threads started ({}); use fewer replicas, or raise "
                        "the limit of processes (ulimit -u)",
                        threads_.size(), count, error.what()),
            {"replicas"});
    }
    run([this](std::size_t replica) { settle(replica); });
    // Lists the CPUs of all replicas or of none.
    if (std::any_of(cpus_.begin(), cpus_.end(), [](const auto& share) { return share.empty(); }))
        cpus_.clear();
    // The threads' at::set_num_threads also changed the default of later threads: restores it.
    at::set_num_threads(callers);
}

void ReplicaThreads::settle(std::size_t replica) {
    // Locked, since LibTorch's setter writes process-wide state, too.
    const std::lock_guard lock(mutex_);
    if (!cpus_.empty() && !bind_this_thread(cpus_[replica])) cpus_[replica].clear();
    compute_with(threads_each_);
}

void ReplicaThreads::run(const std::function<void(std::size_t)>& work) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    working_ = count();
    ++round_;
    started_.notify_all();
    finished_.wait(lock, [this] { return working_ == 0; });
    std::vector<std::exception_ptr> errors(count());
    errors.swap(errors_);
    for (std::size_t replica = 0; replica < errors.size(); ++replica) {
        if (errors[replica] == nullptr) continue;
        try {
            std::rethrow_exception(errors[replica]);
        } catch (base::Error& error) {
            error.add_context(fmt::format("replica {}", replica));
            throw;
        }
    }
}

void ReplicaThreads::serve(const std::stop_token& stop, std::size_t replica) {
    std::unique_lock lock(mutex_);
    for (std::size_t done = 0; started_.wait(lock, stop, [&] { return round_ != done; });) {
        done = round_;
        const auto* const work = work_;
        lock.unlock();
        std::exception_ptr error;
        try {
            (*work)(replica);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        errors_[replica] = error;
        if (--working_ == 0) finished_.notify_one();
    }
}

std::string ReplicaThreads::placement() const {
    const std::string threads =
        fmt::format("{} thread{} each", threads_each_, threads_each_ == 1 ? "" : "s");
    if (cpus_.empty()) return fmt::format("{} replicas, not bound to cores; {}", count(), threads);
    std::vector<std::string> parts;
    for (std::size_t replica = 0; replica < count(); ++replica)
        parts.push_back(
            fmt::format("replica {} on CPUs {}", replica, base::compact_ranges(cpus_[replica])));
    return fmt::format("{}; {}", base::join(parts, ", "), threads);
}

}  // namespace ranklab::train
