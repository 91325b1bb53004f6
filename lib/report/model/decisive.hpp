// Private to this room: the one list of what a number depends on. What `compare` refuses to compare, what the
// page, its curves, the ladder and tables by --group-by keep apart, and what makes two runs repetitions of
// each other is all read from here.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

using Conditions = std::map<std::string, std::string>;

/// Who asks whether a setting matters. A setting that the list does not have matters to all.
enum class Asker {
    comparison,  ///< has it to be equal for two runs to be compared?
    group,       ///< does it tell groups apart, whatever how long or often was measured?
    factor       ///< is a run that differs in it alone no repetition?
};
bool setting_matters(Asker asker, const std::string& setting);
/// A setting whose value is a path: that there is one changes the work, which one it is does not.
bool is_path_setting(const std::string& setting);

/// Of facts of the context, "section.key": times depend on it, or it says that the work is another.
bool is_decisive_fact(const std::string& name, const std::string& value);
/// It may matter, and differs too often to be refused.
bool is_noted_fact(const std::string& name);

/// Decisive facts, and devices, that the program which made the run did not store yet: nobody knows them.
std::vector<std::string> facts_left_open(const results::Run& run);

/// Facts and places that follow from the number of ranks, or from how one rank is started.
bool follows_from_ranks(const std::string& condition);

/// Where and with what a run was measured: decisive facts of build, libraries, host, process and environment,
/// its threads, version and revision, its hosts and devices and its files' file system. Runs that differ here
/// are never pooled. Empty values are left out.
Conditions surroundings_of(const results::Run& run);

/// Whether two runs may stand side by side in one table or curve: the same surroundings, but for what follows
/// from the ranks. Hosts count where as many took part.
bool same_surroundings(const results::Run& a, const results::Run& b);

/// Conditions of several runs: which of them are not the same in all.
class MetConditions {
  public:
    void add(const Conditions& conditions);
    /// Keys with several values, or that some lack.
    std::vector<std::string> differing() const;

  private:
    std::map<std::string, std::set<std::string>> values_;
    std::map<std::string, std::size_t> having_;
    std::size_t all_ = 0;
};

/// Devices without what tells one GPU from another of its kind.
std::string device_kind(const std::string& device);

/// `hosts` and `devices` of the run, each name once; "" for devices that an older program did not tell.
std::string hosts_of(const results::Run& run);
std::string devices_of(const results::Run& run);
/// What the tables of `ranklab io` say of its files: where they lay, or whether reads came from a cache. ""
/// where no table has that column.
std::string seen_in_tables(const results::Run& run, const char* column);

/// Whether the key is that one, or begins like a pattern that ends in '*'.
bool fits(std::string_view key, std::string_view pattern);

}  // namespace ranklab::report::model
