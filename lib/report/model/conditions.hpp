// Where and with what runs were measured, by the roles that the vocabulary gives to facts and settings: what
// keeps runs apart, what makes them repetitions, and what may differ all the same (--allow).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

using Conditions = std::map<std::string, std::string>;

/// Of facts of the context, "section.key": times depend on it, or it says that the work is another.
bool is_decisive_fact(const std::string& name, const std::string& value);
/// Settings of how ranks work together, and variables for the launcher: they mean nothing to one rank alone.
bool is_between_ranks(const std::string& key);

/// Decisive facts of build, libraries, host, process and environment, version and revision, hosts, devices,
/// the files' file system and cache. Empty values are left out.
Conditions surroundings_of(const results::Run& run);
/// The same without what follows from the number of ranks or is of the files alone; hosts stay where they
/// count.
Conditions machine_of(const results::Run& run, bool hosts_count = true);
/// The machine, and of `ranklab io` whether its files were brought to the disk and where its reading came
/// from. Runs that differ here are never pooled unasked.
Conditions kept_apart_by(const results::Run& run, bool hosts_count = true);
/// Settings, and facts of the context, that numbers depend on: runs that are equal in them are repetitions.
Conditions factors_of(const results::Run& run);

/// All that makes a run another than a repetition, but for its conditions. How ranks work together means
/// nothing on a single device. Of io those ranks count that took part.
Conditions telling_of(const results::Run& run);

/// Keys that some of these lack, or of which they have several values.
std::vector<std::string> differing_keys(const std::vector<Conditions>& all);

/// Whether the user said that this key may differ: by its name, the part after its section's dot, "host" for
/// hosts, or a beginning with '*'.
bool is_allowed(const std::string& key, const std::vector<std::string>& allow);
/// OptionError where a word allows none of these keys, so that a slip does not pass for a permission.
void refuse_unknown_allowed(const std::vector<std::string>& allow, const std::set<std::string>& keys);

/// `hosts` and `devices` of the run, each name once; "" for devices that an older program did not tell.
std::string hosts_of(const results::Run& run);
std::string devices_of(const results::Run& run);

/// Where the files of a run of `ranklab io` lay, whether they were brought to the disk, and where its reading
/// came from. "unknown" where the program that made the run did not store it.
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

}  // namespace ranklab::report::model
