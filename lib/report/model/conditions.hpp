// Where and with what runs were measured, by the roles that the vocabulary gives to facts and
// settings: what keeps runs apart, what makes them repetitions, and what may differ all the same
// (--ignore).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

using Conditions = std::map<std::string, std::string>;

/// Facts of the context, "section.key", on which times depend, or which say that the work is
/// another. Empty values are left out.
Conditions decisive_facts(const results::Run& run);
/// Settings of how ranks work together, and variables for the launcher: they mean nothing to one
/// rank alone.
bool is_between_ranks(const std::string& key);

/// Decisive facts of build, libraries, host, process and environment, version and revision, hosts,
/// devices, the files' file system and cache. Empty values are left out.
Conditions surroundings_of(const results::Run& run);
/// surroundings_of without facts that follow from the number of ranks or belong to the files alone;
/// hosts stay where they count.
Conditions machine_of(const results::Run& run, bool hosts_count = true);
/// The machine, and of `ranklab io` whether its files were brought to the disk and where its
/// reading came from. Runs that differ here are never pooled unasked.
Conditions kept_apart_by(const results::Run& run, bool hosts_count = true);
/// Settings, and facts of the context, that numbers depend on: runs that are equal in them are
/// repetitions.
Conditions factors_of(const results::Run& run);

/// All that makes a run another than a repetition, but for its conditions. How ranks work together
/// means nothing on a single device. `ranks` of io are those that took part.
Conditions telling_of(const results::Run& run);

/// Keys that some of these lack, or of which they have several values.
std::vector<std::string> differing_keys(const std::vector<Conditions>& all);

/// Whether the user said that this key may differ: by its name, the part after its section's dot,
/// "host" for hosts, or a beginning with '*'.
bool is_ignored(const std::string& key, const std::vector<std::string>& ignore);
/// OptionError where a word allows none of these keys, so that a slip does not pass for a
/// permission.
void refuse_unknown_ignored(const std::vector<std::string>& ignore,
                            const std::set<std::string>& keys);

/// `hosts` and `devices` of the run, each name once; "" for devices that an older program did not
/// tell.
std::string hosts_of(const results::Run& run);
std::string devices_of(const results::Run& run);

/// Where the files of a run of `ranklab io` lay, whether they were brought to the disk, and where
/// its reading came from. "unknown" where the program that made the run did not store it.
struct StoragePlace {
    std::string directory = {}, file_system = {};
    std::string fsync = {};  ///< "yes" or "no"; "" where nothing was written
    /// "cold", "warm 100 %", "mixed 37 %", "memory (tmpfs)"; "" where nothing was read
    std::string cache = {};
};
StoragePlace storage_place(const results::Run& run);
/// Their names, as columns and members are called, with the values.
std::vector<std::pair<std::string, std::string>> fields_of(const StoragePlace& place);
/// "ext4, no fsync".
std::string place_text(const StoragePlace& place);
/// "cold", "warm", "mixed", "memory" or "unknown". "" where the run does not say it.
std::string cache_kind(const results::Run& run);
std::string file_system_of(const results::Run& run);
/// "yes" or "no"; "" where the run does not say it.
std::string fsync_of(const results::Run& run);

// The cores or GPUs of all ranks of a run together. Efficiency is per core or GPU, not per rank.

/// Physical cores; of files whose program did not store them CPUs, as the kernel counts hardware
/// threads.
enum class Unit { core, cpu, gpu };

struct Cores {
    std::size_t count = 0;  ///< that computed; 0: not known
    Unit of = Unit::core;
    std::string why_not = {};  ///< not known: a clause, "the CPUs of its ranks are not stored"
    /// More wants to compute than can at once: "3 compute threads on 2 cores".
    std::string crowded = {};

    bool known() const { return count > 0; }
    bool oversubscribed() const { return !crowded.empty(); }
    std::string unit() const { return of == Unit::gpu ? "GPU" : of == Unit::cpu ? "CPU" : "core"; }
};

/// On each host as many as its ranks have compute threads, but of those that share cores no more
/// than these; of a run on GPUs the different ones. Loader threads do not count.
Cores cores_of(const results::Run& run);

/// Compute threads of a rank (of all replicas; of `ranklab io` of a process that writes); "1 or 2"
/// where ranks have different numbers, "" where not known.
std::string threads_text(const results::Run& run);

/// The common value of several runs: unknown where they differ, and oversubscribed where one is.
Cores common_cores(const std::vector<Cores>& of_runs);
/// Why there is no efficiency of these over those of the baseline; "" where there is one.
std::string why_no_efficiency(const Cores& base, const Cores& own);

}  // namespace ranklab::report::model
