#include "vocabulary/facts.hpp"

#include <array>

namespace ranklab::vocabulary {
namespace {

using enum FactRole;

// Environment variables that a launcher sets by itself are not the user's facts (base/program.hpp).
constexpr auto kFacts = std::to_array<Fact>({
    {"build.type", surroundings, "a debug build's times are others"},
    {"build.compiler", surroundings, "makes the code"},
    {"build.version", outcome, "what tells A from B"},
    {"build.git_revision", outcome, "what tells A from B"},
    {"build.features", noted, "what was built in"},
    {"libraries.*", surroundings, "do most of the work"},
    {"libraries.libtorch_cpu_capability", surroundings, "the instructions that compute"},
    {"host.cpu", surroundings, "computes"},
    {"host.machine", surroundings, "computes"},
    {"host.logical_cpus", surroundings, "computes"},
    {"host.cpu_quota", surroundings,
     "least CPU time that a cgroup of a rank allows, in CPUs, or none"},
    {"host.shared_memory", surroundings, "where it is short, MPI takes another transport"},
    {"host.governor", surroundings, "sets the clock"},
    {"host.kernel", noted, "schedules, and does the input and output"},
    {"host.memory", noted, "what caches have room in"},
    {"host.numa_nodes", noted, "how far memory is"},
    {"host.transparent_hugepages", noted, "how memory is mapped"},
    {"host.load_1min", outcome, "another in every run"},
    {"process.allocator", surroundings, "decides on page faults"},
    {"process.mpi", surroundings, "with MPI or without it; a single rank starts without", true},
    {"process.launcher", noted, "what started the ranks"},
    {"process.instance", outcome, "another in every process; its runs count as one"},
    {"output.*", outcome, "of the results file"},
    {"storage.*", outcome, "where files lay and reads came from; runs are kept apart by both"},
    {"storage.participants", outcome, "ranks that write; the strategy and the ranks say it"},
    {"storage.workers", outcome, "worker processes of a rank that write; 0: the rank itself does"},
    {"storage.baseline", outcome, "yes: speedups of a ladder are over this strategy"},
    {"storage.bytes_per_value", outcome, "in the files, for 8 in memory; the strategy says it"},
    {"place.*", outcome, "the load of others meanwhile; another in every run"},
    {"ladder.baseline", outcome, "the strategy that its speedups are over"},
    {"ladder.*", outcome, "what a comparison of strategies leaves open"},
    {"training.parameters", work, "the settings say it"},
    {"training.memory_*", work, "follows from the settings"},
    {"training.roof_*", outcome, "measured after the run"},
    {"training.structure", surroundings, "two networks of one file name are two workloads"},
    {"training.train_samples", work, "follows from the data"},
    {"training.test_samples", work, "follows from the data"},
    // Where no number of threads is given it follows from the cores that a job has.
    {"training.intra_op_threads", surroundings, "how many compute; cores are shared by the ranks",
     true},
    {"training.limit", outcome, "what came out"},
    {"training.loss_scale", outcome, "what came out"},
    {"training.skipped_steps", outcome, "what came out"},
    {"training.sums_gradients", outcome, "the settings `mode` and `sync` say it"},
    {"training.sums_at_once", outcome, "the setting `sync` says it"},
    {"training.sums_in_backward", outcome, "the settings `sync` and `mpi-progress` say it"},
    {"training.caps_buckets", outcome, "the setting `sync` says it"},
    {"training.waits_in_backward", outcome, "the setting `sync` says it"},
    {"training.reads_in_turn", outcome, "the setting `data` says it"},
    {"training.*", noted, "of this training"},
    {"memory_format.*", outcome, "what came out; the setting `channels-last` says what was taken"},
    {"checkpoint.*", outcome, "what came out"},
    {"communication.memory", outcome,
     "host or device, where the backend's buffers lie; the setting `backend` says it"},
    {"communication.*", outcome, "what came out"},
    {"collectives.*", outcome, "what came out"},
    {"measuring.*", outcome, "what came out; a run that did not converge is left out"},
    {"energy.*", outcome, "why the energy of the monitored time is not known"},
    {"environment.OMP_*", surroundings, "sets what the libraries do"},
    {"environment.OMP_NUM_THREADS", surroundings,
     "cores are shared by the ranks; the setting `threads` says it", true},
    {"environment.NCCL_*", surroundings, "sets what the libraries do"},
    {"environment.UCX_*", surroundings, "sets what the libraries do"},
    {"environment.OMPI_MCA_*", surroundings, "sets what the libraries do"},
    {"environment.OMPI_MCA_rmaps_*", outcome,
     "mpirun's words for placing ranks; ranks, hosts and cpusets are compared", true},
    {"environment.MPIR_CVAR_*", surroundings, "sets what the libraries do"},
    {"environment.MPICH_*", surroundings, "sets what the libraries do"},
    {"environment.I_MPI_*", surroundings, "sets what the libraries do"},
    {"environment.FI_*", surroundings, "sets what the libraries do"},
    {"environment.ROMIO_*", surroundings, "sets what the libraries do"},
    {"environment.HDF5_*", surroundings, "sets what the libraries do"},
    {"environment.ONEDNN_*", surroundings, "sets the instructions that compute"},
    {"environment.DNNL_*", surroundings, "sets the instructions that compute"},
    {"environment.ATEN_*", surroundings, "sets the instructions that compute"},
    {"environment.SLURM_*", outcome, "numbers of the job; ranks, nodes and hosts are compared"},
    {"environment.*", noted, "the surroundings of the process"},
    // No fact of the context, but a condition all the same: more ranks need more hosts.
    {"hosts", surroundings, "more ranks need more of them", true},
});

// The fact of runs whose option fits the pattern. A value in '=' is the one of that option.
struct OlderFact {
    std::string_view fact;
    std::string_view option;
    std::string_view pattern, value;
};
constexpr auto kOlderFacts = std::to_array<OlderFact>({
    {"storage.participants", "strategy", "text-*", "1"},
    {"storage.participants", "strategy", "binary", "1"},
    {"storage.participants", "strategy", "process-*", "1"},
    {"storage.participants", "strategy", "hdf5-serial", "1"},
    {"storage.workers", "strategy", "process-*", "=workers"},
    {"storage.workers", "strategy", "*", "0"},
    {"storage.baseline", "strategy", "text-loop", "yes"},
    {"storage.baseline", "strategy", "*", "no"},
    {"storage.bytes_per_value", "strategy", "text-*", "25"},
    {"storage.bytes_per_value", "strategy", "*", "8"},
    {"ladder.baseline", "strategy", "*", "text-loop"},
    {"training.sums_gradients", "sync", "none", "no"},
    {"training.sums_gradients", "mode", "ddp", "yes"},
    {"training.sums_at_once", "sync", "flat", "yes"},
    {"training.sums_in_backward", "mpi-progress", "none", "no"},
    {"training.sums_in_backward", "sync", "bucketed", "yes"},
    {"training.sums_in_backward", "sync", "c10d", "yes"},
    {"training.caps_buckets", "sync", "bucketed", "yes"},
    {"training.caps_buckets", "sync", "c10d", "yes"},
    {"training.waits_in_backward", "sync", "c10d", "yes"},
    {"training.reads_in_turn", "data", "hdf5", "yes"},
    {"communication.memory", "backend", "nccl", "device"},
    {"communication.memory", "backend", "*", "host"},
});

}  // namespace

std::span<const Fact> facts() {
    return kFacts;
}

bool fits(std::string_view key, std::string_view pattern) {
    if (pattern.ends_with('*')) return key.starts_with(pattern.substr(0, pattern.size() - 1));
    return key == pattern;
}

const Fact* find_fact(std::string_view name) {
    const Fact* best = nullptr;
    for (const Fact& fact : kFacts) {
        if (!fits(name, fact.name)) continue;
        if (fact.name == name) return &fact;
        if (best == nullptr || fact.name.size() > best->name.size()) best = &fact;
    }
    return best;
}

FactRole role_of_fact(std::string_view name) {
    const Fact* fact = find_fact(name);
    return fact == nullptr ? FactRole::noted : fact->role;
}

std::string fact_of_older_run(std::string_view name,
                              const std::function<std::string(std::string_view)>& setting) {
    for (const OlderFact& row : kOlderFacts) {
        if (row.fact != name) continue;
        const std::string option = setting(row.option);
        if (option.empty() || !fits(option, row.pattern)) continue;
        return row.value.starts_with('=') ? setting(row.value.substr(1)) : std::string(row.value);
    }
    return "";
}

}  // namespace ranklab::vocabulary
