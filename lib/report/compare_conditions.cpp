#include "report/compare_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/text.hpp"

namespace ranklab::report {
namespace {

using results::Run;

struct Why {
    std::string_view key;  ///< '*' at its end: all that begin so
    std::string_view reason;
};

// Settings that never matter to a comparison. A setting that is not here has to be equal.
constexpr std::array kNeverSettings{
    Why{"output", "where the run is stored"},
    Why{"label", "what tells A from B"},
    Why{"config", "the file's settings stand among the others"},
    Why{"quiet", "what is printed"},
    Why{"seed", "other random numbers, the same work"},
    Why{"directory", "a path; its file system is compared"},
    Why{"data-dir", "a path; the numbers of samples are compared"},
    Why{"time-limit", "a run that reached it is left out"},
    Why{"stall-timeout", "ends what hangs"},
    Why{"lock-timeout", "how long storing may wait, when all is measured"},
    Why{"order", "which of several runs has its turn when"},
    Why{"expect-ranks", "a guard; the ranks that took part are compared"},
    Why{"made-for-ranks", "a guard; the ranks that took part are compared"},
};

// Settings whose value is a path: that there is one changes the work, which one it is does not.
constexpr std::array<std::string_view, 6> kPaths{"checkpoint",  "resume",          "profile",
                                                 "tensorboard", "save-parameters", "benchy-json"};

// Facts that times depend on, or that say that the work is another. What a launcher sets of its own is not
// among the environment variables that are stored (monitor/host.cpp).
constexpr std::array kDecisiveFacts{
    Why{"build.type", "a debug build's times are others"},
    Why{"build.compiler", "makes the code"},
    Why{"libraries.*", "do most of the work"},
    Why{"host.cpu", "computes"},
    Why{"host.machine", "computes"},
    Why{"host.logical_cpus", "computes"},
    Why{"host.governor", "sets the clock"},
    Why{"process.allocator", "decides on page faults"},
    Why{"process.mpi", "with MPI or without it"},
    Why{"training.parameters", "the size of the work"},
    Why{"training.train_samples", "the size of the work"},
    Why{"training.test_samples", "the size of the work"},
    Why{"training.intra_op_threads", "how many compute"},
    Why{"environment.OMP_*", "set what the libraries do"},
    Why{"environment.NCCL_*", "set what the libraries do"},
    Why{"environment.UCX_*", "set what the libraries do"},
    Why{"environment.OMPI_MCA_*", "set what the libraries do"},
    Why{"environment.HDF5_*", "set what the libraries do"},
};

// Facts that differ from run to run, tell what came out, or are what the comparison is about.
constexpr std::array kNeverFacts{
    Why{"build.version", "what tells A from B"},
    Why{"build.git_revision", "what tells A from B"},
    Why{"host.load_1min", "another in every run"},
    Why{"environment.SLURM_*", "numbers of the job; ranks, nodes and hosts are compared"},
    Why{"output.*", "of the results file"},
    Why{"checkpoint.*", "what came out"},
    Why{"measuring.*", "what came out; a run that did not converge is left out"},
    Why{"training.limit", "what came out"},
    Why{"training.loss_scale", "what came out"},
    Why{"training.skipped_steps", "what came out"},
};

bool fits(const std::string& key, std::string_view pattern) {
    if (!pattern.empty() && pattern.back() == '*')
        return key.compare(0, pattern.size() - 1, pattern.substr(0, pattern.size() - 1)) == 0;
    return key == pattern;
}

template <class List>
bool is_in(const List& list, const std::string& key) {
    return std::any_of(list.begin(), list.end(), [&](const Why& one) { return fits(key, one.key); });
}

// An option that nobody set: a program that did not have it yet did the same.
bool is_unset(const std::string& value) {
    return value.empty() || value == "false" || value == "nan";
}

std::string joined(const std::set<std::string>& values) {
    return base::join({values.begin(), values.end()}, " ");
}

// `ranklab io` has a setting `ranks`: those that a rung used, of the world's.
void add_places(const Run& run, Conditions& conditions) {
    std::set<std::string> hosts, devices;
    for (const auto& row : run.hosts) {
        hosts.insert(row.host);
        devices.insert(row.device);
    }
    const bool asked = conditions.count("ranks") != 0;
    conditions[asked ? "world_size" : "ranks"] = fmt::format("{}", run.hosts.size());
    conditions["nodes"] = fmt::format("{}", hosts.size());
    conditions["hosts"] = joined(hosts);
    conditions["devices"] = joined(devices);
}

// What the tables of `ranklab io` say of its files: where they lay (paths are not compared), and whether
// reads came from a cache. "" where no table has that column.
std::string seen_in_tables(const Run& run, const char* column_name) {
    std::set<std::string> values;
    for (const auto& table : run.tables) {
        if (const auto* column = table.find<std::string>(column_name))
            values.insert(column->begin(), column->end());
    }
    return joined(values);
}

std::string cpusets(const Run& run) {
    std::set<std::string> sets;
    for (const auto& row : run.hosts) sets.insert(row.cpus);
    return joined(sets);
}

}  // namespace

Conditions decisive_conditions(const Run& run) {
    Conditions conditions{{"command", run.command}};
    for (const auto& [key, value, number] : run.config) {
        if (is_in(kNeverSettings, key) || is_unset(value)) continue;
        const bool path = std::find(kPaths.begin(), kPaths.end(), key) != kPaths.end();
        conditions[key] = path ? "set" : value;
    }
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (is_in(kDecisiveFacts, name) && !is_in(kNeverFacts, name) && !value.empty())
            conditions[name] = value;
    }
    add_places(run, conditions);
    const std::string file_system = seen_in_tables(run, "file_system");
    if (!file_system.empty()) conditions["file_system"] = file_system;
    return conditions;
}

Conditions noted_conditions(const Run& run) {
    Conditions conditions{{"cpus", cpusets(run)}};
    const std::string cache = seen_in_tables(run, "cache");
    if (!cache.empty()) conditions["cache"] = cache;
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (!is_in(kDecisiveFacts, name) && !is_in(kNeverFacts, name)) conditions[name] = value;
    }
    return conditions;
}

bool is_allowed(const std::string& key, const std::vector<std::string>& allow) {
    const std::size_t dot = key.find('.');
    const std::string short_key = dot == std::string::npos ? key : key.substr(dot + 1);
    return std::any_of(allow.begin(), allow.end(), [&](const std::string& word) {
        return fits(key, word) || short_key == word || (word == "host" && key == "hosts");
    });
}

}  // namespace ranklab::report
