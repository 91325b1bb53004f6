#include "report/model/decisive.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/launcher_words.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

// To whom a setting does not matter, and why.
constexpr unsigned kComparison = 1U << static_cast<unsigned>(Asker::comparison);
constexpr unsigned kGroup = 1U << static_cast<unsigned>(Asker::group);
constexpr unsigned kFactor = 1U << static_cast<unsigned>(Asker::factor);
constexpr unsigned kAll = kComparison | kGroup | kFactor;

struct Unimportant {
    std::string_view setting;
    unsigned to;
    std::string_view reason;
};

// A setting that is not here matters to all.
constexpr std::array kUnimportant{
    Unimportant{"output", kAll, "where the run is stored"},
    Unimportant{"label", kAll, "what tells A from B"},
    Unimportant{"config", kAll, "the file's settings stand among the others"},
    Unimportant{"quiet", kAll, "what is printed"},
    Unimportant{"seed", kAll, "other random numbers, the same work"},
    Unimportant{"directory", kAll, "a path; its file system is compared"},
    Unimportant{"time-limit", kAll, "a run that reached it is left out, or marked"},
    Unimportant{"stall-timeout", kAll, "ends what hangs"},
    Unimportant{"lock-timeout", kAll, "where the run is stored"},
    Unimportant{"order", kAll, "which of several runs has its turn when"},
    Unimportant{"made-for-ranks", kAll, "a guard; the ranks that took part are compared"},
    Unimportant{"expect-ranks", kAll, "a guard; the ranks that took part are compared"},
    Unimportant{"data-dir", kAll, "a path; the numbers of samples are compared"},
    Unimportant{"repetitions", kGroup | kFactor, "how often was measured"},
    Unimportant{"target-ci", kGroup | kFactor, "how often was measured"},
    Unimportant{"warmup", kGroup, "how often was measured"},
    Unimportant{"steps", kGroup, "how long was measured"},
    Unimportant{"epochs", kGroup, "how long was measured"},
    Unimportant{"ranks", kGroup, "the ranks that took part are compared"},
    Unimportant{"dry-run", kGroup, "no run"},
    Unimportant{"overlap-steps", kGroup, "after the steps that count"},
    Unimportant{"evaluate", kGroup, "between the steps that count"},
    Unimportant{"eval-batch-size", kGroup, "between the steps that count"},
    Unimportant{"check-parameters", kGroup, "between the steps that count"},
    Unimportant{"checkpoint-every", kGroup, "between the steps that count"},
    Unimportant{"checkpoint", kGroup | kFactor, "between the steps that count"},
    Unimportant{"resume", kGroup | kFactor, "before the steps that count"},
    Unimportant{"profile", kGroup | kFactor, "a file beside the run"},
    Unimportant{"tensorboard", kGroup | kFactor, "a file beside the run"},
    Unimportant{"benchy-json", kGroup | kFactor, "a file beside the run"},
    Unimportant{"save-parameters", kGroup | kFactor, "a file beside the run"},
    Unimportant{"keep", kGroup | kFactor, "what is left behind"},
    Unimportant{"reads", kGroup, "after what was written"},
    Unimportant{"ceilings", kGroup, "beside what was written"},
    Unimportant{"check-write", kGroup, "after what was written"},
    Unimportant{"check-read", kGroup, "after what was written"},
};

constexpr std::array<std::string_view, 6> kPaths{"checkpoint",  "resume",          "profile",
                                                 "tensorboard", "save-parameters", "benchy-json"};

struct Why {
    std::string_view key;  ///< '*' at its end: all that begin so
    std::string_view reason;
};

// Facts that times depend on, or that say that the work is another. Of the environment's variables those that
// a launcher sets of its own are none (base/launcher_words.hpp).
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
    Why{"environment.ONEDNN_*", "sets the instructions that compute"},
    Why{"environment.DNNL_*", "sets the instructions that compute"},
    Why{"environment.ATEN_*", "sets the instructions that compute"},
};

// Facts that differ from run to run, tell what came out, or are what a comparison is about.
constexpr std::array kNeverFacts{
    Why{"build.version", "what tells A from B"},
    Why{"build.git_revision", "what tells A from B"},
    Why{"host.load_1min", "another in every run"},
    Why{"environment.OMPI_MCA_rmaps_base_oversubscribe",
        "a permission; ranks, hosts and cpusets are compared"},
    Why{"environment.SLURM_*", "numbers of the job; ranks, nodes and hosts are compared"},
    Why{"process.instance", "another in every process; its runs count as one"},
    Why{"output.*", "of the results file"},
    Why{"checkpoint.*", "what came out"},
    Why{"communication.*", "what came out"},
    Why{"measuring.*", "what came out; a run that did not converge is left out"},
    Why{"training.limit", "what came out"},
    Why{"training.loss_scale", "what came out"},
    Why{"training.skipped_steps", "what came out"},
};

// What older programs did not store: a run that has the second fact and not the first is of one of them.
struct Later {
    std::string_view key, beside;
};
constexpr std::array kLater{Later{"libraries.libtorch_cpu_capability", "libraries.libtorch"}};

// Not so training.intra_op_threads: where no --threads is given it follows from the cores that a job has.
constexpr std::array kOfTheWork{Why{"training.parameters", "the settings say it"},
                                Why{"training.train_samples", "follows from the data"},
                                Why{"training.test_samples", "follows from the data"}};

constexpr std::array kFollowing{
    Why{"process.mpi", "one rank alone starts without"},
    Why{"environment.OMP_NUM_THREADS", "cores are shared by the ranks; the setting `threads` says it"},
    Why{"training.intra_op_threads", "cores are shared by the ranks"},
    Why{"hosts", "more ranks need more of them"},
    Why{"environment.OMPI_MCA_rmaps_*", "mpirun's own words for its options of placing ranks"},
};

// Left by mpirun or by MPI's start, which not every run makes; the user did not say it (comm/fabric.cpp).
bool is_left_by_the_start(const std::string& key, const std::string& value) {
    constexpr std::string_view kEnvironment = "environment.";
    return (key.starts_with(kEnvironment) && base::is_launchers_own(key.substr(kEnvironment.size()))) ||
           (key == "environment.OMPI_MCA_pml" && value.starts_with("^cm"));
}

template <class List>
bool is_in(const List& list, const std::string& key) {
    return std::any_of(list.begin(), list.end(), [&](const Why& one) { return fits(key, one.key); });
}

std::string joined(const std::set<std::string>& values) {
    return base::join({values.begin(), values.end()}, " ");
}

}  // namespace

bool fits(std::string_view key, std::string_view pattern) {
    if (pattern.ends_with('*')) return key.starts_with(pattern.substr(0, pattern.size() - 1));
    return key == pattern;
}

bool setting_matters(Asker asker, const std::string& setting) {
    const auto found = std::find_if(kUnimportant.begin(), kUnimportant.end(),
                                    [&](const Unimportant& one) { return one.setting == setting; });
    return found == kUnimportant.end() || (found->to & 1U << static_cast<unsigned>(asker)) == 0;
}

bool is_path_setting(const std::string& setting) {
    return std::find(kPaths.begin(), kPaths.end(), setting) != kPaths.end();
}

bool is_decisive_fact(const std::string& name, const std::string& value) {
    return is_in(kDecisiveFacts, name) && !is_in(kNeverFacts, name) && !is_left_by_the_start(name, value);
}

bool is_noted_fact(const std::string& name) {
    return !is_in(kDecisiveFacts, name) && !is_in(kNeverFacts, name);
}

std::vector<std::string> facts_left_open(const Run& run) {
    const auto has = [&run](std::string_view name) {
        return std::any_of(run.context.begin(), run.context.end(), [name](const results::Fact& fact) {
            return fact.section + "." + fact.key == name && !fact.value.empty();
        });
    };
    std::vector<std::string> open;
    for (const auto& later : kLater)
        if (has(later.beside) && !has(later.key)) open.emplace_back(later.key);
    if (!run.hosts.empty() && devices_of(run).empty()) open.emplace_back("devices");
    return open;
}

bool follows_from_ranks(const std::string& condition) {
    return is_in(kFollowing, condition);
}

Conditions surroundings_of(const Run& run) {
    Conditions conditions;
    const auto add = [&](const std::string& key, const std::string& value) {
        if (!value.empty()) conditions[key] = value;
    };
    for (const auto& [section, key, value] : run.context) {
        const std::string name = section + "." + key;
        if (is_decisive_fact(name, value) && !is_in(kOfTheWork, name)) add(name, value);
    }
    add("version", run.version);
    add("git_revision", run.git_revision);
    add("hosts", hosts_of(run));
    add("devices", devices_of(run));
    add("file_system", seen_in_tables(run, "file_system"));
    return conditions;
}

bool same_surroundings(const Run& a, const Run& b) {
    const bool as_many = node_count(a) == node_count(b);
    const auto of = [&](const Run& run) {
        Conditions all = surroundings_of(run);
        std::erase_if(all, [&](const auto& one) {
            return follows_from_ranks(one.first) && !(one.first == "hosts" && as_many);
        });
        return all;
    };
    return of(a) == of(b);
}

void MetConditions::add(const Conditions& conditions) {
    ++all_;
    for (const auto& [key, value] : conditions) {
        values_[key].insert(value);
        having_[key] += 1;
    }
}

std::vector<std::string> MetConditions::differing() const {
    std::vector<std::string> keys;
    for (const auto& [key, values] : values_)
        if (values.size() > 1 || having_.at(key) != all_) keys.push_back(key);
    return keys;
}

std::string device_kind(const std::string& device) {
    return device.substr(0, device.find(" ["));
}

std::string hosts_of(const Run& run) {
    std::set<std::string> hosts;
    for (const auto& row : run.hosts) hosts.insert(row.host);
    return joined(hosts);
}

std::string devices_of(const Run& run) {
    std::set<std::string> devices;
    for (const auto& row : run.hosts) devices.insert(device_kind(row.device));
    // Older programs stored that of whatever they computed on.
    if (run.setting("device") == "cuda" && devices == std::set<std::string>{"cpu"}) return "";
    return joined(devices);
}

std::string seen_in_tables(const Run& run, const char* column_name) {
    std::set<std::string> values;
    for (const auto& table : run.tables) {
        if (const auto* column = table.find<std::string>(column_name))
            values.insert(column->begin(), column->end());
    }
    return joined(values);
}

}  // namespace ranklab::report::model
