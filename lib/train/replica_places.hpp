// The device and the thread of each replica of a process (--mode dp).
#pragma once

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/types.h>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.hpp"

namespace ranklab::train {

/// The replicas' GPU streams, one per GPU; replica 0's is the current stream of the constructing
/// thread. Every thread that works for replicas makes all of these streams current, so that a copy
/// between two GPUs is ordered with the work of both. Does nothing on the CPU.
class ReplicaPlaces : base::Immovable {
  public:
    /// `devices`: one per replica, all of one kind. Makes the streams current in the calling thread
    /// while the object lives; does not change the thread's GPU. Tests replace LibTorch's device
    /// guard by `guard`.
    explicit ReplicaPlaces(std::vector<torch::Device> devices,
                           const c10::impl::DeviceGuardImplInterface* guard = nullptr);
    ~ReplicaPlaces();

    /// Selects the GPU of `replica` in the calling thread, and makes all streams current.
    void enter(std::size_t replica) const;

    bool on_gpus() const { return !streams_.empty(); }

  private:
    std::vector<torch::Device> devices_;
    const c10::impl::DeviceGuardImplInterface* guard_;
    std::vector<c10::Stream> streams_;  // empty on the CPU
    std::vector<c10::Stream> before_;   // the constructing thread's, to be restored
};

/// Divides `cores` (each a list of hardware threads) among `replicas` in consecutive groups.
/// Returns an empty list if there are fewer cores than replicas: with binding, two replicas could
/// share one core while another core is idle.
std::vector<std::vector<int>> share_cores(const std::vector<std::vector<int>>& cores,
                                          std::size_t replicas);

class ReplicaThreads {
  public:
    /// Starts `count` threads. Each binds itself to its share of `cores` and computes with its part
    /// of the `threads` OpenMP threads, at least one. Does not change the caller's number of
    /// threads. Throws EnvironmentError if a thread cannot be started.
    ReplicaThreads(std::size_t count, int threads, const std::vector<std::vector<int>>& cores);

    /// Calls work(replica) in every replica's thread and waits for all. Throws the error of the
    /// lowest replica that threw (a base::Error with the replica as context); the threads stay
    /// usable. Must not be called from within `work`.
    void run(const std::function<void(std::size_t)>& work);

    std::size_t count() const { return errors_.size(); }
    int threads_each() const { return threads_each_; }
    /// The CPUs that each replica is bound to; empty if the replicas are not bound.
    const std::vector<std::vector<int>>& cpus() const { return cpus_; }
    /// "replica 0 on CPUs 0-3, ...; 4 threads each".
    std::string placement() const;

  private:
    void serve(const std::stop_token& stop, std::size_t replica);
    void settle(std::size_t replica);

    int threads_each_;
    std::vector<std::vector<int>> cpus_;
    std::vector<std::exception_ptr> errors_;
    std::mutex mutex_;
    std::condition_variable_any started_;
    std::condition_variable finished_;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t round_ = 0;    // counts the calls of run()
    std::size_t working_ = 0;  // replicas that have not finished this round
    // Declared last: threads end before the members that they use, also if the constructor throws.
    std::vector<std::jthread> threads_;
};

}  // namespace ranklab::train
