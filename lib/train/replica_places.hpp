// Where the replicas of one process compute: the device or GPU of each, and a long-lived thread for
// each.
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

/// Each GPU has one stream on which its replica computes: replica 0's is the one on which the maker
/// of this object computes. Every thread that works for replicas takes all of these streams as
/// current, so that a copy between two GPUs from any thread waits for the work of both, and later
/// work waits for it. On the CPU it does nothing.
class ReplicaPlaces : base::Immovable {
  public:
    /// `devices`: one per replica, all of one kind. The calling thread takes the streams as long as
    /// this lives; its GPU stays selected. `guard` is LibTorch's guard for that kind of device;
    /// null: its own.
    explicit ReplicaPlaces(std::vector<torch::Device> devices,
                           const c10::impl::DeviceGuardImplInterface* guard = nullptr);
    ~ReplicaPlaces();

    /// Makes the calling thread work for `replica` from now on: selects its GPU and takes all
    /// streams.
    void enter(std::size_t replica) const;

    bool on_gpus() const { return !streams_.empty(); }
    std::size_t count() const { return devices_.size(); }
    torch::Device device(std::size_t replica) const { return devices_[replica]; }

  private:
    std::vector<torch::Device> devices_;
    const c10::impl::DeviceGuardImplInterface* guard_;
    std::vector<c10::Stream> streams_;  // none on the CPU
    std::vector<c10::Stream> before_;   // of the maker's thread
};

/// The devices of the replicas, for people: "replica 0 on GPU 0, replica 1 on GPU 1".
std::string placement(const ReplicaPlaces& places);

/// Divides whole cores (each the hardware threads of one core) among `replicas`, neighbours
/// together. Empty where there are fewer cores than replicas: then nothing is bound, since two
/// replicas on one core would take turns while another idles.
std::vector<std::vector<int>> share_cores(const std::vector<std::vector<int>>& cores,
                                          std::size_t replicas);

class ReplicaThreads {
  public:
    /// Starts `count` threads; each binds itself to its share of `cores` and computes with threads
    /// / count OpenMP threads, at least one. The caller's own number of threads stays what it is.
    /// EnvironmentError if a thread cannot be started.
    ReplicaThreads(std::size_t count, int threads, const std::vector<std::vector<int>>& cores);

    /// Calls work(replica) in every replica's thread and waits for all of them. If some threw, the
    /// error of the lowest replica is thrown here, with its number before a base::Error's sentence;
    /// the threads stay usable. Not to be called from within `work`.
    void run(const std::function<void(std::size_t)>& work);

    std::size_t count() const { return errors_.size(); }
    int threads_each() const { return threads_each_; }
    /// The CPUs each replica is bound to; empty where none is.
    const std::vector<std::vector<int>>& cpus() const { return cpus_; }
    /// The CPUs and threads of the replicas, for people: "replica 0 on CPUs 0-3, ...; 4 threads
    /// each".
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
    // Last, so that they have ended before what they use goes, also when the constructor throws.
    std::vector<std::jthread> threads_;
};

}  // namespace ranklab::train
