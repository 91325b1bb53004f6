// What runs computed on: the cores, or the GPUs, of all their ranks together. Scaling costs these, not ranks.
#pragma once

#include <cstddef>
#include <string>

#include "results/run.hpp"

namespace ranklab::report::model {

/// A core is what the kernel counts as a CPU, a hardware thread.
struct Cores {
    std::size_t count = 0;     ///< that computed; 0: not known
    bool gpus = false;         ///< they are GPUs
    std::string why_not = {};  ///< not known: a clause, "the CPUs of its ranks are not stored"
    std::string crowded = {};  ///< more wants to compute than can at once: "3 compute threads on 2 CPUs"

    bool known() const { return count > 0; }
    bool oversubscribed() const { return !crowded.empty(); }
    std::string unit() const { return gpus ? "GPU" : "core"; }
};

/// On each host as many as all its ranks have compute threads, but no more than the CPUs that they may use;
/// of a run on GPUs the different ones. Loader threads do not count.
Cores cores_of(const results::Run& run);

/// Compute threads of a rank (of all replicas; of `ranklab io` of a process that writes); 0: not known.
std::size_t threads_per_rank(const results::Run& run);

/// Of several runs what is the same in all of them.
class CoresOfRuns {
  public:
    void add(const Cores& of_one);
    /// Unknown where the runs differ.
    const Cores& common() const { return common_; }
    /// "": no run is oversubscribed; "3 compute threads on 2 CPUs", with the number of runs where not all
    /// are.
    std::string oversubscribed() const;

  private:
    Cores common_{.why_not = "no run counts"};
    std::size_t runs_ = 0, crowded_runs_ = 0;
    std::string crowded_;
};

}  // namespace ranklab::report::model
