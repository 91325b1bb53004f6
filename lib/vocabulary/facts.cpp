#include "vocabulary/facts.hpp"

#include <array>

namespace ranklab::vocabulary {
namespace {

using enum FactRole;

// Reports ignore environment variables that a launcher sets by itself (base::is_launchers_own).
constexpr auto kFacts = std::to_array<Fact>({
    {"build.type", surroundings, "a debug build is slower"},
    {"build.compiler", surroundings, "optimises the code"},
    {"build.version", outcome, "often the subject of a comparison"},
    {"build.git_revision", outcome, "often the subject of a comparison"},
    {"build.features", noted, "optional parts of the build"},
    {"libraries.*", surroundings, "do most of the work"},
    {"libraries.libtorch_cpu_capability", surroundings, "instruction set of the kernels"},
    {"host.cpu", surroundings, "model of the CPU"},
    {"host.machine", surroundings, "instruction set architecture, as of `uname -m`"},
    {"host.logical_cpus", surroundings, "number of logical CPUs"},
    {"host.cpu_quota", surroundings,
     "least CPU time that a cgroup of a rank allows, in CPUs, or none"},
    {"host.shared_memory", surroundings, "MPI takes another transport if it is too small"},
    {"host.governor", surroundings, "sets the clock rate of the CPU"},
    {"host.kernel", noted, "schedules processes, and does input and output"},
    {"host.memory", noted, "limits the page cache"},
    {"host.numa_nodes", noted, "memory latency depends on the node"},
    {"host.transparent_hugepages", noted, "page size of large allocations"},
    {"host.load_1min", outcome, "differs in every run"},
    {"process.allocator", surroundings, "causes or avoids page faults"},
    {"process.mpi", surroundings, "a single rank may start without MPI", true},
    {"process.launcher", noted, "what started the ranks"},
    {"process.instance", outcome, "identifies a launch of ranklab, whose runs count as one sample"},
    {"output.*", outcome, "about the results file, not the run"},
    {"storage.*", outcome, "file system and cache; runs that differ in them are separate rows"},
    {"storage.participants", outcome,
     "ranks that write; follows from the strategy and the number of ranks"},
    {"storage.workers", outcome, "worker processes of a rank that write; 0: the rank itself does"},
    {"storage.baseline", outcome, "yes: the speedups of other strategies refer to this one"},
    {"storage.bytes_per_value", outcome,
     "bytes in the files per value of 8 bytes; follows from the strategy"},
    {"place.*", outcome, "load by other processes; differs in every run"},
    {"ladder.baseline", outcome, "the strategy to which the speedups refer"},
    {"ladder.*", outcome, "result of the comparison of strategies"},
    {"training.parameters", work, "follows from the settings"},
    {"training.memory_*", work, "follows from the settings"},
    {"training.roof_*", outcome, "measured after the run"},
    {"training.structure", surroundings, "tells networks with the same file name apart"},
    {"training.train_samples", work, "follows from the data set"},
    {"training.test_samples", work, "follows from the data set"},
    // Without --threads the number of threads follows from the job's cores.
    {"training.intra_op_threads", surroundings, "compute threads of a rank", true},
    {"training.limit", outcome, "result"},
    {"training.loss_scale", outcome, "result"},
    {"training.skipped_steps", outcome, "result"},
    {"training.sums_gradients", outcome,
     "whether gradients are summed over ranks; follows from the settings `mode` and `sync`"},
    {"training.sums_at_once", outcome,
     "whether one allreduce sums all gradients; follows from the setting `sync`"},
    {"training.sums_in_backward", outcome,
     "whether gradients are summed while backward computes other gradients; follows from the "
     "settings `sync` and `mpi-progress`"},
    {"training.caps_buckets", outcome,
     "whether --bucket-cap-mb limits the bytes of an allreduce; follows from the setting `sync`"},
    {"training.waits_in_backward", outcome,
     "whether the backward time contains the wait for other ranks; follows from the setting "
     "`sync`"},
    {"training.reads_in_turn", outcome,
     "whether only one of the loader's threads reads at a time; follows from the setting `data`"},
    {"training.*", noted, "about this training"},
    {"memory_format.*", outcome, "result; the setting `channels-last` has the format used"},
    {"checkpoint.*", outcome, "result"},
    {"communication.memory", outcome,
     "memory of the backend's buffers, host or device; follows from the setting `backend`"},
    {"communication.*", outcome, "result"},
    {"collectives.*", outcome, "result"},
    {"measuring.*", outcome, "result; `ranklab compare` leaves out a run that did not converge"},
    {"energy.*", outcome, "why the energy is not known"},
    {"environment.OMP_*", surroundings, "configures the library"},
    {"environment.OMP_NUM_THREADS", surroundings,
     "changes with the number of ranks that share the cores; the setting `threads` has the number "
     "used",
     true},
    {"environment.NCCL_*", surroundings, "configures the library"},
    {"environment.UCX_*", surroundings, "configures the library"},
    {"environment.OMPI_MCA_*", surroundings, "configures the library"},
    {"environment.OMPI_MCA_rmaps_*", outcome,
     "mpirun's placement; ranks, hosts and cpusets are compared", true},
    {"environment.MPIR_CVAR_*", surroundings, "configures the library"},
    {"environment.MPICH_*", surroundings, "configures the library"},
    {"environment.I_MPI_*", surroundings, "configures the library"},
    {"environment.FI_*", surroundings, "configures the library"},
    {"environment.ROMIO_*", surroundings, "configures the library"},
    {"environment.HDF5_*", surroundings, "configures the library"},
    {"environment.ONEDNN_*", surroundings, "selects the instruction set"},
    {"environment.DNNL_*", surroundings, "selects the instruction set"},
    {"environment.ATEN_*", surroundings, "selects the instruction set"},
    {"environment.SLURM_*", outcome, "about the job; ranks, nodes and hosts are compared"},
    {"environment.*", noted, "environment of the process"},
    // Not a fact of the context, but compared like one.
    {"hosts", surroundings, "names of the hosts; more ranks need more hosts", true},
});

// The fact's value in older runs if `option` fits `pattern`; "=NAME": the value of option NAME.
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
    // No version stores these: the options always imply them.
    {"training.single_device", "mode", "single", "yes"},
    {"training.single_device", "mode", "*", "no"},
    {"training.uses_sync", "mode", "ddp", "yes"},
    {"training.uses_sync", "mode", "*", "no"},
    {"training.baseline_sync", "sync", "per-parameter", "yes"},
    {"training.baseline_sync", "sync", "*", "no"},
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
