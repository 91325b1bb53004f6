// The conditions under which runs were measured, by the roles that the vocabulary gives to facts
// and settings: those that keep runs apart, make them repetitions, or may differ nevertheless
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

/// Facts of the context, "section.key", on which times depend, or which show that the work differs.
/// Empty values are left out.
Conditions decisive_facts(const results::Run& run);
/// Whether `key` is a setting of how ranks work together, or a launcher's variable: without meaning
/// for one rank.
bool is_between_ranks(const std::string& key);

/// Decisive facts of build, libraries, host, process and environment, version and revision, hosts,
/// devices, the files' file system and cache. Empty values are left out.
Conditions surroundings_of(const results::Run& run);
/// As surroundings_of, without facts that follow from the number of ranks or concern only the
/// files; hosts stay where they count.
Conditions machine_of(const results::Run& run, bool hosts_count = true);
/// The machine and, for `ranklab io`, whether its files were brought to the disk and where its
/// reading came from. Runs that differ here are pooled only on request.
Conditions pooling_key_of(const results::Run& run, bool hosts_count = true);
/// Settings, and facts of the context, that numbers depend on: runs that are equal in them are
/// repetitions.
Conditions factors_of(const results::Run& run);

/// All properties except conditions that make a run more than a repetition. How ranks work together
/// does not count on a single device. `ranks` of io are those that took part.
Conditions group_key_of(const results::Run& run);

/// Keys that some of these lack, or of which they have several values.
std::vector<std::string> differing_keys(const std::vector<Conditions>& all);

/// Whether the user allowed this key to differ: by its name, the part after its section's dot,
/// "host" for hosts, or a beginning with '*'.
bool is_ignored(const std::string& key, const std::vector<std::string>& ignore);
/// OptionError where a word allows none of these keys, so that a typing error is noticed.
void refuse_unknown_ignored(const std::vector<std::string>& ignore,
                            const std::set<std::string>& keys);

/// The run's `hosts` and `devices`, each name once; "" for devices that an older program did not
/// store.
std::string hosts_of(const results::Run& run);
std::string devices_of(const results::Run& run);

/// The place of the files of a run of `ranklab io`, whether they were brought to the disk, and the
/// source of its reading. "unknown" where the program that made the run did not store it.
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

/// Physical cores; CPUs (the kernel's hardware threads) where the program did not store cores.
enum class Unit { core, cpu, gpu };

struct Cores {
    std::size_t count = 0;  ///< that computed; 0: not known
    Unit of = Unit::core;
    std::string why_not = {};  ///< not known: a clause, "the CPUs of its ranks are not stored"
    /// More threads compute than cores exist: "3 compute threads on 2 cores".
    std::string oversubscription = {};

    bool known() const { return count > 0; }
    bool oversubscribed() const { return !oversubscription.empty(); }
    std::string unit() const { return of == Unit::gpu ? "GPU" : of == Unit::cpu ? "CPU" : "core"; }
};

/// Counts on each host the compute threads of its ranks, but at most the cores that they share; in
/// a run on GPUs the different GPUs. Loader threads do not count.
Cores cores_of(const results::Run& run);

/// The compute threads of a rank (of all replicas; in `ranklab io` of a writing process); "1 or 2"
/// where ranks differ, "" where not known.
std::string threads_text(const results::Run& run);

/// The common value of several runs: unknown where they differ, and oversubscribed where one is.
Cores common_cores(const std::vector<Cores>& of_runs);
/// Why there is no efficiency of these over those of the baseline; "" where there is one.
std::string why_no_efficiency(const Cores& base, const Cores& own);

}  // namespace ranklab::report::model
