// Where and with what runs were measured, by the roles that the vocabulary gives to facts and settings: what
// keeps runs apart, and what the user said may differ all the same (--allow).
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

/// Decisive facts, and devices, that the program which made the run did not store yet: nobody knows them.
std::vector<std::string> facts_left_open(const results::Run& run);

/// Facts and places that follow from the number of ranks, or from how one rank is started.
bool follows_from_ranks(const std::string& condition);
/// Settings of how ranks work together, and variables for the launcher: they mean nothing to one rank alone.
bool is_between_ranks(const std::string& key);

/// Where and with what a run was measured: decisive facts of build, libraries, host, process and environment,
/// its threads, version and revision, its hosts and devices, its files' file system and whether its reading
/// was cold. Runs that differ here are never pooled. Empty values are left out.
Conditions surroundings_of(const results::Run& run);
/// The same without what follows from the ranks or is of the files alone; hosts stay where they count.
Conditions machine_of(const results::Run& run, bool hosts_count);
/// Of `ranklab io`: whether its files were brought to the disk, and where its reading came from. They decide
/// what a rate is of, so runs that differ in them are never pooled either.
Conditions files_of(const results::Run& run);
/// Whether two runs may stand side by side in one table or curve: one machine. Hosts count where as many took
/// part.
bool same_surroundings(const results::Run& a, const results::Run& b);
/// Settings, and facts of the context, that numbers depend on: runs that are equal in them are repetitions.
/// What has no part in a number is left out: labels, paths, seeds, limits.
Conditions factors_of(const results::Run& run);

/// What several runs, or groups of them, say of some keys.
class MetConditions {
  public:
    /// Of one of them: pairs of a key and its value, each key once.
    template <class Pairs>
    void add(const Pairs& conditions) {
        ++all_;
        for (const auto& [key, value] : conditions) add(key, value);
    }
    /// Keys that some lack, or of which they have several values, in the order met.
    std::vector<std::string> differing() const;
    bool differs(const std::string& key) const;
    const std::vector<std::string>& keys() const { return order_; }  ///< in the order met
    /// The one value that all have; "" where they differ or have none.
    std::string common(const std::string& key) const;

  private:
    struct Met {
        std::set<std::string> values;
        std::size_t times = 0;
    };
    void add(const std::string& key, const std::string& value);

    std::vector<std::string> order_;
    std::map<std::string, Met> met_;
    std::size_t all_ = 0;
};

/// Whether the user said that this key may differ: by its name, the part after its section's dot, "host" for
/// hosts, or a beginning with '*'.
bool is_allowed(const std::string& key, const std::vector<std::string>& allow);
/// OptionError where a word allows none of these keys, with the nearest of them and what there is. So that a
/// slip does not pass for a permission.
void refuse_unknown_allowed(const std::vector<std::string>& allow, const std::set<std::string>& keys);

/// Devices without what tells one GPU from another of its kind.
std::string device_kind(const std::string& device);

/// `hosts` and `devices` of the run, each name once; "" for devices that an older program did not tell.
std::string hosts_of(const results::Run& run);
std::string devices_of(const results::Run& run);
/// What the tables of `ranklab io` say of its files: where they lay, or whether reads came from a cache. ""
/// where no table has that column.
std::string seen_in_tables(const results::Run& run, const char* column);

/// A run of the single-device code: one rank that shares nothing with others. Every speedup's base is one.
bool is_single_device(const results::Run& run);
/// A run of several ranks that share nothing (`--sync none`): each trains a model of its own. Its speed is no
/// answer to how fast the ranks train.
bool sums_no_gradients(const results::Run& run, std::size_t ranks);
/// The same where `sync` is that of one of the runs that `run` compares.
bool sums_no_gradients(const results::Run& run, std::size_t ranks, std::string_view sync);

}  // namespace ranklab::report::model
