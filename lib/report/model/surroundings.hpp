// Where and with what runs were measured, by the roles that the vocabulary gives to
// facts: what keeps runs apart.
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

/// A run of the single-device code: one rank that shares nothing with others. Every speedup's base is one.
bool is_single_device(const results::Run& run);

}  // namespace ranklab::report::model
