// One long-lived thread a replica, each with its share of the process's cores.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ranklab::train {

/// Deals whole cores (each the hardware threads of one core) out to `replicas`, neighbours together. Empty
/// where there are fewer cores than replicas: then nothing is bound, since two replicas on one core would
/// take turns while another idles.
std::vector<std::vector<int>> share_cores(const std::vector<std::vector<int>>& cores, std::size_t replicas);

class ReplicaThreads {
  public:
    /// Starts `count` threads; each binds itself to its share of `cores` and computes with threads / count
    /// OpenMP threads, at least one. The caller's own number of threads stays what it is. EnvironmentError if
    /// a thread cannot be started.
    ReplicaThreads(std::size_t count, int threads, const std::vector<std::vector<int>>& cores);

    /// Calls work(replica) in every replica's thread and waits for all of them. If some threw, the error of
    /// the lowest replica is thrown here, with its number before a base::Error's sentence; the threads stay
    /// usable. Not to be called from within `work`.
    void run(const std::function<void(std::size_t)>& work);

    std::size_t count() const { return errors_.size(); }
    int threads_each() const { return threads_each_; }
    /// The CPUs each replica is bound to; empty where none is.
    const std::vector<std::vector<int>>& cpus() const { return cpus_; }
    /// Who computes where with how many threads, for people: "replica 0 on CPUs 0-3, ...; 4 threads each".
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
