// The conditions of a run, by the roles that the vocabulary gives to settings and facts: which ones
// keep runs apart, which ones must agree in repetitions, and which ones --ignore lets differ.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

using Conditions = std::map<std::string, std::string>;

/// The facts ("section.key") on which times depend or that describe the work, without empty values.
Conditions decisive_facts(const results::Run& run);
/// Whether the key has no meaning for a single rank: a setting of how ranks work together, or an
/// environment variable.
bool is_between_ranks(const std::string& key);

/// The facts on which times depend, plus version, revision, hosts, devices, file system and cache.
/// Leaves out empty values.
Conditions surroundings_of(const results::Run& run);
/// The surroundings, but without the cache and facts that follow from the number of ranks. The
/// hosts stay.
Conditions machine_of(const results::Run& run);
/// The machine and, for `ranklab io`, fsync and the cache. Runs that differ here are pooled only on
/// request.
Conditions pooling_key_of(const results::Run& run);
/// The settings and facts that numbers depend on: runs that agree in all of them are repetitions.
Conditions factors_of(const results::Run& run);

/// Whether the run trained on one device: also in mode ddp, since one rank has no gradients to sum.
bool is_single_device(const results::Run& run);
/// The command, the number of ranks (for io: those that took part), the number of nodes, and the
/// settings that identify a group. For a run on a single device, settings of how ranks work
/// together are left out, except the mode.
Conditions group_key_of(const results::Run& run);

/// Whether a word of --ignore names the key: the key, the key without its section ("cpu" for
/// host.cpu), "host" for hosts, or a beginning of the key and '*'.
bool is_ignored(const std::string& key, const std::vector<std::string>& ignore);
/// Throws OptionError if a word names none of the keys, as after a typing error.
void refuse_unknown_ignored(const std::vector<std::string>& ignore,
                            const std::set<std::string>& keys);

/// The names of hosts and of devices, each once; "" for devices that an older version did not
/// store.
std::string hosts_of(const results::Run& run);
std::string devices_of(const results::Run& run);

/// Where a run of `ranklab io` had its files, by name: `directory`, `file_system`, `fsync` ("yes"
/// or "no"; "" if nothing was written) and `cache` ("cold", "warm 100 %", "mixed 37 %", "memory
/// (tmpfs)"; "" if nothing was read). "unknown" if the run's version did not store the value, ""
/// for other commands.
std::vector<std::pair<std::string, std::string>> storage_place(const results::Run& run);
/// "cold", "warm", "mixed", "memory" or "unknown"; "" if the run stored no cache.
std::string cache_kind(const results::Run& run);
std::string file_system_of(const results::Run& run);
/// "yes" or "no"; "" if the run has no such setting.
std::string fsync_of(const results::Run& run);

// The cores or GPUs on which all ranks of a run computed. Efficiency is per core or GPU, not per
// rank.

struct Cores {
    std::size_t count = 0;  ///< cores or GPUs that computed; 0: not known
    /// "core", "GPU", or "CPU" (the kernel's hardware thread) if the program stored no cores.
    std::string unit = "core";
    std::string why_not = {};  ///< reason for an unknown count
    /// Not empty if more threads compute than cores exist: "3 compute threads on 2 cores".
    std::string oversubscription = {};

    bool known() const { return count > 0; }
    bool oversubscribed() const { return !oversubscription.empty(); }
};

/// Counts on each host the compute threads of its ranks, but at most the cores that the ranks
/// share; in a run on GPUs the distinct GPUs. Loader threads do not count.
Cores cores_of(const results::Run& run);

/// The compute threads of a rank (of all replicas; in `ranklab io` its worker processes); "1 or 2"
/// if ranks differ, "" if unknown.
std::string threads_text(const results::Run& run);

/// "2 of 5 runs"; "the run" if `all` is 1.
std::string some_runs(std::size_t some, std::size_t all);

/// The share of the run's CPUs that other processes used, on the host where they used most; NaN:
/// not measured.
double other_load(const results::Run& run);

/// The shares of several runs.
struct OtherLoad {
    std::size_t runs = 0, measured = 0, busy = 0;  ///< busy: above vocabulary::kMostOtherLoad
    double mean = 0, most = 0;                     ///< of the measured runs

    explicit OtherLoad(const std::vector<double>& shares);
    /// Whether other processes alone may explain that times of these runs and of `other` differ.
    bool differs_from(const OtherLoad& other) const;
    /// "up to 31 % of the cores in 2 of 5 runs, not measured in 1 of 5 runs"; "none".
    std::string text() const;
};

/// The cores of several runs: unknown if the runs differ, oversubscribed if one run is.
Cores common_cores(const std::vector<Cores>& of_runs);
/// Why cores `own` have no efficiency over the baseline's cores `base`; "" if they have one.
std::string why_no_efficiency(const Cores& base, const Cores& own);

}  // namespace ranklab::report::model
