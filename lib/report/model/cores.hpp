// What runs computed on: the cores, or the GPUs, of all their ranks together. Scaling costs these, not ranks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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

/// On each host as many as its ranks have compute threads, but of those that share cores no more than these;
/// of a run on GPUs the different ones. Loader threads do not count.
Cores cores_of(const results::Run& run);

/// Compute threads of a rank (of all replicas; of `ranklab io` of a process that writes); "1 or 2" where
/// ranks have different numbers, "" where not known.
std::string threads_text(const results::Run& run);

/// What is the same in all of several runs: unknown where they differ, and oversubscribed where one is.
Cores common_cores(const std::vector<Cores>& of_runs);
/// Why there is no efficiency of these over those of the baseline; "" where there is one.
std::string why_no_efficiency(const Cores& base, const Cores& own);

}  // namespace ranklab::report::model
