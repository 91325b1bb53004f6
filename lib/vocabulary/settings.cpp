#include "vocabulary/settings.hpp"

#include <fmt/format.h>

#include "vocabulary/tables.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;

Schema made_common_settings() {
    using S = CommonSettings;
    Schema rows;
    rows.section("Common")
        // Not compared: a run stores the file's settings as its own.
        .text("config", {&S::config, kEssential, Role::bookkeeping}, "FILE",
              "INI file of these options (key = value); the command line overrides it")
        .text("output", {&S::output, kEssential, Role::bookkeeping}, "FILE",
              "the shared results file, to which the run is added; none: store nothing")
        .text("label", {&S::label, kEssential, Role::bookkeeping}, "TEXT",
              "a name to find the run by")
        .integer("warmup", {&S::warmup, 'w', Role::length}, {0, 1'000'000'000},
                 "steps (io: repetitions, comm: calls of each message size) recorded but not "
                 "counted (default: min(10, steps/10); io: 0; comm: 5)")
        // Runs with different seeds do the same work with different random numbers.
        .integer("seed", {&S::seed, Role::bookkeeping, kDecidesNumbers},
                 {0, options::kWholeNumbers}, "seed of all random numbers: weights, order, dropout")
        .integer("threads", {&S::threads, kEssential, kFollowsRanks}, {1, kMostThreads},
                 "compute threads per rank (default: OMP_NUM_THREADS, else the cores of the rank's "
                 "cpuset, or fewer if its cgroup has a CPU quota)")
        // Not compared: reports leave out or mark a run that reached the limit.
        .real("time-limit", {&S::time_limit, Role::bookkeeping}, 0.001,
              "end the work after this many seconds, with exit code 6, or 7 if the minimum of "
              "--target-ci (--steps or -i) is complete")
        .in("seconds")
        .real("monitor", {&S::monitor, Role::bookkeeping}, {0.05, 3600},
              "seconds between samples of what hosts and ranks use: CPU, memory, network, files, "
              "GPUs, energy (without a value: 1)")
        .bare("1")
        .in("seconds")
        // Not compared: runs are compared by the ranks that took part.
        .integer("expect-ranks", {&S::expect_ranks, Role::bookkeeping}, {1, 1'000'000'000},
                 "refuse to run (exit code 5) unless MPI connects this many ranks")
        .real("lock-timeout", {&S::lock_timeout, Role::bookkeeping}, 0,
              "seconds to wait for the results file's lock; then the run is stored in a separate "
              "file")
        .in("seconds")
        .real("stall-timeout", {&S::stall_timeout, Role::bookkeeping}, 0,
              "seconds without progress after which a rank ends the job; 0: never")
        .in("seconds")
        .text("inputs-hash", {&S::inputs_hash, Role::bookkeeping}, "HASH",
              "given by ranklab sweep: a hash of the program and of the files that options name")
        .flag("dry-run", {&S::dry_run, Role::request},
              "print the effective configuration and do no work")
        .flag("force", {&S::force, Role::request},
              "start even if the hosts seem to have too little free memory")
        .flag("quiet", {&S::quiet, Role::bookkeeping},
              "no header, no progress, one line per run with its rate and where it is stored")
        .flag("verbose", {&S::verbose, Role::request},
              "show all settings, and all tables of the run")
        .flag("json", {&S::json, Role::request},
              "print the run (or all runs of the command) as JSON on stdout instead of text; "
              "--quiet also hides the progress")
        .text("json-file", {&S::json_file, 'J', Role::kept}, "FILE",
              "also write the run as JSON, as --json prints it")
        .flag("list", {&S::list, Role::request}, "print the names to choose from and do no work")
        .append(launch_names())
        .no_lists("`ranklab sweep` makes a run for each value");
    relate(rows, "common");
    return rows;
}

// Settings that reports derive from a run, and those of older versions.
const Schema& added_settings() {
    static const Schema rows = [] {
        Schema added;
        added.add({.name = "ranks", .help = "how many ranks took part", .role = Role::scale});
        for (const auto& [name, usual] : {std::pair{"dynamic", "false"},
                                          {"rename", "false"},
                                          {"chunk-files", "1"},
                                          {"rotate-buffers", "false"},
                                          {"with-load", "false"}})
            added.add({.name = name,
                       .help = "of versions up to 0.1.0",
                       .role = Role::work,
                       .when_absent = {{usual, {}}}});
        return added;
    }();
    return rows;
}

}  // namespace

const Schema& common_settings() {
    static const Schema rows = made_common_settings();
    return rows;
}

Schema launch_names() {
    return Schema()
        .no_option(
            {"nproc-per-node", "nprocs", "np", "num-processes", "ntasks", "ranks", "num-ranks",
             "rank", "world-size", "nnodes", "num-nodes", "nodes"},
            "the launcher starts the ranks: mpirun -n N ranklab ..., under Slurm srun -n N ranklab "
            "...; `ranklab sweep` makes runs at several numbers of ranks")
        .no_option({"scaling", "spread", "order", "sweep-workers", "sweep-global-batch",
                    "sweep-lr-scaling"},
                   "a command makes one run; `ranklab sweep` makes several and compares them");
}

std::string target_help(const std::string& least) {
    return fmt::format(
        "such as 2%: measure until the half-width of the 95 % interval is at most this share of "
        "the median, with at least {} samples and at most 20 times as many, or as --time-limit "
        "allows; exit code 7 if the target is not reached",
        least);
}

const options::Option* find_setting(std::string_view name) {
    const std::string wanted(name);
    for (const auto* rows : {&training_settings(), &storage_settings(), &collectives_settings(),
                             &common_settings(), &added_settings()})
        if (const auto* option = rows->find(wanted)) return option;
    return nullptr;
}

const options::Option& setting_row(std::string_view name) {
    static const options::Option other;
    const auto* known = find_setting(name);
    return known == nullptr ? other : *known;
}

bool matters_to(SettingUse use, std::string_view setting, std::string_view value) {
    const auto& option = setting_row(setting);
    if (!value.empty() && value == value_when_absent(setting)) return false;
    if (use == SettingUse::sample_work)
        return option.role == Role::work && !option.keeps_sample_work;
    switch (option.role) {
        case Role::work:
        case Role::coordination:
            return true;
        case Role::scale:
        case Role::length:
        case Role::aside:
            return use != SettingUse::group;
        case Role::times:
        case Role::kept:
            return use == SettingUse::comparison;
        default:
            return false;
    }
}

std::string_view value_when_absent(std::string_view setting, const OtherSettings& run) {
    for (const auto& [value, where] : setting_row(setting).when_absent) {
        if (where.other.empty() ||
            (run && std::ranges::find(where.values, run(where.other)) != where.values.end()))
            return value;
    }
    return {};
}

}  // namespace ranklab::vocabulary
