// What runs computed on: the cores, or the GPUs, of all their ranks together. Scaling costs these, not ranks.
#pragma once

#include <cstddef>
#include <string>

#include "results/run.hpp"

namespace ranklab::report::model {

/// Physical cores; of files whose program did not store them CPUs, as the kernel counts hardware threads.
enum class Unit { core, cpu, gpu };

struct Cores {
    std::size_t count = 0;  ///< that computed; 0: not known
    Unit of = Unit::core;
    std::string why_not = {};  ///< not known: a clause, "the CPUs of its ranks are not stored"
    std::string crowded = {};  ///< more wants to compute than can at once: "3 compute threads on 2 cores"

    bool known() const { return count > 0; }
    bool oversubscribed() const { return !crowded.empty(); }
    std::string unit() const { return of == Unit::gpu ? "GPU" : of == Unit::cpu ? "CPU" : "core"; }
};

/// "; oversubscribed: ..." behind what a run made; "" where it is not.
inline std::string and_crowd(const std::string& crowded) {
    return crowded.empty() ? "" : "; oversubscribed: " + crowded;
}
/// "on 2 cores; oversubscribed: 3 compute threads on 2 cores". Of cores that are known.
std::string on_cores(const Cores& cores);

/// On each host as many as its ranks have compute threads, but of those that share cores no more than these;
/// of a run on GPUs the different ones. Loader threads do not count.
Cores cores_of(const results::Run& run);

/// Compute threads of a rank (of all replicas; of `ranklab io` of a process that writes); 0: not known, or
/// not the same of all ranks.
std::size_t threads_per_rank(const results::Run& run);
/// The same; "1 or 2" where ranks have different numbers, "" where not known.
std::string threads_text(const results::Run& run);

/// Of several runs what is the same in all of them.
class CoresOfRuns {
  public:
    void add(const Cores& of_one);
    /// Unknown where the runs differ.
    const Cores& common() const { return common_; }
    /// "": no run is oversubscribed; "3 compute threads on 2 cores", with the number of runs where not all
    /// are.
    std::string oversubscribed() const;

  private:
    Cores common_{.why_not = "no run counts"};
    std::size_t runs_ = 0, crowded_runs_ = 0;
    std::string crowded_;
};

}  // namespace ranklab::report::model
