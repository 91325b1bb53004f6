#include "vocabulary/tables.hpp"

#include <algorithm>
#include <array>

namespace ranklab::vocabulary {
namespace {

using enum ColumnType;

constexpr Column kVerification[] = {
    {"check", text, "what was checked"},
    {"result", text, "passed, failed, not verified, or does not apply"},
    {"detail", text, "how, or why not"},
};

constexpr Column kPhases[] = {
    {"phase", text, "the phase; `other` is what lies between them, `step` the whole"},
    {"hits", whole, "counted steps"},
    {"time_s", number, "of all of them, mean over ranks"},
    {"per_hit_s", number, "time_s / hits"},
    {"percent", number, "of the steps' time"},
};

constexpr Column kLines[] = {
    {"line", whole, "in the order of the loop"},
    {"hits", whole, "of the whole run, its warm-up among them"},
    {"time_s", number, "of all of them on the host, mean over ranks"},
    {"per_hit_s", number, "time_s / hits"},
    {"percent", number, "of the loop's time"},
    {"device_time_s", number, "on the GPU; no number on a CPU"},
    {"contents", text, "the line, as pseudo-code"},
};

constexpr Column kLayers[] = {
    {"layer", text, "the module, and what follows it until the next one with parameters"},
    {"calls", whole, "uses of its parameters in a forward"},
    {"forward_s", number, "a micro-batch; mean over those counted and over ranks"},
    {"backward_s", number, "a micro-batch; mean"},
    {"percent", number, "of forward and backward"},
    {"gradient_ready_s", number, "from the beginning of backward; mean"},
    {"forward_flops", whole, "a micro-batch: convolutions and matrix products"},
    {"forward_GFLOP_per_s", number, "forward_flops / forward_s; 1e9 a second"},
    {"flops_per_byte", number, "forward_flops / (parameter_bytes + activation_bytes)"},
    {"roof_percent", number,
     "of the lower one of roof_gflops_per_s and flops_per_byte x roof_gb_per_s"},
    {"parameter_bytes", whole, "of the module"},
    {"activation_bytes", whole, "outputs of its operations, a micro-batch"},
};

constexpr Column kOperators[] = {
    {"operator", text, "LibTorch's name"},
    {"calls", whole, "in the window of the trace, on rank 0"},
    {"self_s", number, "of all calls, without the operators that they call"},
    {"total_s", number, "with them"},
    {"percent", number, "of all operators' self time"},
};

constexpr Column kCommunication[] = {
    {"bucket", whole, "in the order of their reductions"},
    {"parameters", whole, "tensors in it"},
    {"bytes", whole, "that travel"},
    {"ready_after_backward_began_s", number,
     "until its gradients are there; median over steps looked at"},
    {"waiting_for_last_rank_s", number,
     "longest wait from there until the last rank comes; median of them"},
    {"transfer_s", number, "from the arrival of the last rank to the finished sum; median of them"},
};

constexpr Column kWaiting[] = {
    {"rank", whole, "in the world"},
    {"host", text, "where it ran"},
    {"waited_for_others_s", number, "a step; median over the steps looked at"},
    {"came_last_share", number, "share of the steps looked at in which the others waited for it"},
    {"longest_excess_phase", text, "the phase that is longest against the other ranks'"},
    {"excess_s", number, "by how much; medians"},
};

constexpr Column kJobUse[] = {
    {"rank", whole, "in the world"},
    {"host", text, "where it ran"},
    {"wall_s", number, "of the counted part of the run"},
    {"cpu_s", number, "CPU time of its process and of those it started: waiting in MPI counts"},
    {"host_cpus", whole, "CPUs of all ranks of its host, at the first of them; 0 at the others"},
    {"peak_rss_bytes", whole, "highest resident set of the process"},
    {"memory_asked_bytes", whole,
     "what the job asked Slurm for on the host; 0: nothing, or not known"},
};

constexpr Column kMonitor[] = {
    {"time_s", number, "since the work began"},
    {"host", text, "where"},
    {"rank", whole, "in the world; -1: the host"},
    {"cpu_percent", number,
     "CPU time: of a rank's threads and processes, 100 is one CPU; of a host, all its CPUs"},
    {"wait_percent", number, "time in which its threads waited for a CPU, added up"},
    {"threads", number, "now"},
    {"rss_bytes", number, "resident now; of a host: memory in use"},
    {"page_faults_per_s", number, "small and large"},
    {"read_MiB_per_s", number, "by system calls, from caches too"},
    {"written_MiB_per_s", number, "by system calls"},
    {"sent_MiB_per_s", number, "of a host, but for loopback"},
    {"received_MiB_per_s", number, "of a host, but for loopback"},
    {"pressure_percent", number, "of the time some thread of the host waited for a CPU"},
};

constexpr Column kGpuMonitor[] = {
    {"time_s", number, "since the work began"},
    {"host", text, "where"},
    {"gpu", text, "its UUID, or its PCI id"},
    {"name", text, "the model"},
    {"rank", whole, "in the world, the first that computes on it; -1: none"},
    {"busy_percent", number, "of the driver's last period in which some kernel ran"},
    {"memory_bytes", number, "in use, by whomever"},
    {"power_W", number, "now, or the driver's mean of the last second"},
    {"temperature_C", number, "of the chip"},
    {"clock_MHz", number, "of the multiprocessors"},
    {"throttle", text, "what holds the clock down, or none; empty: not known"},
    {"energy_J", number, "since the first sample"},
};

constexpr Column kRankSummaries[] = {
    {"measurement", text, "whose samples they sum up"},
    {"rank", whole, "in the world"},
    {"n", whole, "counted rows"},
    {"median", number, "of this rank's; in the measurement's unit"},
    {"mean", number, "of this rank's"},
    {"min", number, "of this rank's"},
    {"max", number, "of this rank's"},
};

constexpr Column kStartUp[] = {
    {"part", text, "what the process did, in this order"},
    {"mean_s", number, "mean over ranks; their sum is the ranks' mean time to the first step"},
    {"max_s", number, "of the slowest rank in this part"},
    {"slowest_rank", whole, "in the world"},
};

constexpr Column kEpochs[] = {
    {"epoch", whole, "from 1"},
    {"steps", whole, "made"},
    {"steps_per_epoch", whole, "of a whole one"},
    {"samples", whole, "true samples of all ranks"},
    {"time_s", number, "of its steps; maximum over ranks"},
    {"samples_per_s", number, "its samples / time_s"},
    {"lr", number, "the learning rate of its first step"},
    {"train_loss", number, "mean over its steps"},
    {"validation_loss", number, "after it"},
    {"validation_accuracy", number, "after it"},
    {"validation_time_s", number, "of the evaluation after it; maximum over ranks"},
};

constexpr Column kStatistics[] = {
    {"name", text, "the measurement"},
    {"n", whole, "samples"},
    {"lag1", number, "autocorrelation of neighbours"},
    {"effective_n", number, "independent samples that say as much"},
    {"method", text, "how the interval of the median was made"},
    {"outliers_low", whole, "samples far below the quartiles"},
    {"outliers_high", whole, "samples far above them"},
    {"warmup_fixed", whole, "samples that --warmup left out"},
    {"warmup_detected", whole, "samples after which the series is like the rest"},
};

constexpr Column kConvergence[] = {
    {"samples", whole, "at this look"},
    {"median_s", number, "at this look"},
    {"low_s", number, "of its interval"},
    {"high_s", number, "of its interval"},
    {"half_width_percent", number, "the interval's longer side, of the median"},
    {"target_percent", number, "what was asked for"},
    {"effective_n", number, "independent samples that say as much"},
    {"method", text, "how the interval was made"},
};

constexpr Column kScaling[] = {
    {"point", text, "what was varied, and its value"},
    {"unit", text, "what efficiency is per: core or GPU"},
    {"units", whole, "of all ranks; 0: not known"},
    {"n", whole, "valid runs"},
    {"time_s", number, "of a step or job: median over runs of their medians"},
    {"low_s", number, "of its interval"},
    {"high_s", number, "of its interval"},
    {"speedup", number, "over the strong base, which did the same work"},
    {"speedup_low", number, "of its interval"},
    {"speedup_high", number, "of its interval"},
    {"efficiency", number, "of that speedup"},
    {"weak_efficiency", number, "over the weak base, whose ranks each did as much"},
    {"base", text, "yes where others are measured by it"},
    {"mark", text, "why it is to be read with care"},
};

constexpr Column kVerdicts[] = {
    {"verdict", text, "which point is best, and how surely"},
    {"why", text, "the phase that tells it; empty: none does"},
};

constexpr Column kAblation[] = {
    {"trial", text, "what was left out"},
    {"trials", whole, "made"},
    {"steps", whole, "of each"},
    {"mean_samples_per_s", number, "over trials"},
    {"std_samples_per_s", number, "population deviation over trials"},
    {"step_time_s", number, "of the slowest rank; mean over trials"},
};

constexpr Column kWaterfall[] = {
    {"part", text, "of the step"},
    {"step_s", number, "what it adds to a step"},
    {"percent", number, "of the whole step"},
    {"samples_per_s", number, "the rate with this part and those above it"},
    {"lost_samples_per_s", number, "what it costs"},
};

constexpr Column kIoPhases[] = {
    {"phase", text, "`record` and `job` are what lies between the phases"},
    {"calls", whole, "of all ranks and counted repetitions"},
    {"total_s", number, "of them all"},
    {"per_call_s", number, "total_s / calls"},
    {"cumulative_s", number, "with the phases that are its parts"},
    {"percent", number, "of the sum of the column total_s"},
    {"longest_s", number, "the longest single one"},
};

// Phases that no rank has spent time in have no column.
constexpr Column kIoRanks[] = {
    {"rank", whole, "of those that took part"},
    {"records", number, "a repetition"},
    {"MiB", number, "a repetition"},
    {"job_s", number, "a repetition"},
    {"generate_s", number, "a repetition"},
    {"format_s", number, "a repetition"},
    {"send_s", number, "a repetition"},
    {"wait_s", number, "a repetition"},
    {"open_s", number, "a repetition"},
    {"write_s", number, "a repetition"},
    {"fsync_s", number, "a repetition"},
    {"close_s", number, "a repetition"},
    {"read_s", number, "a repetition"},
    {"parse_s", number, "a repetition"},
    {"first_open_s", number, "after the barrier"},
    {"last_close_s", number, "after the barrier"},
};

constexpr Column kIoReads[] = {
    {"repetition", whole, "from 1"},
    {"pass", text, "which reading of it"},
    {"order", text, "whose records each rank reads"},
    {"read_s", number, "maximum over ranks"},
    {"MiB", number, "of all ranks"},
    {"MiB_per_s", number, "MiB / read_s"},
    {"resident_percent", number, "of the bytes, in the page cache before"},
    {"block_layer_MiB", number, "that the device delivered"},
    {"cache", text, "where the bytes came from"},
    {"file_system", text, "where the files lay"},
};

constexpr Column kCeilings[] = {
    {"ceiling", text, "what the machine was asked to do"},
    {"value", number, "its rate"},
    {"unit", text, "of the rate"},
    {"ceiling_s", number, "the ceiling's time for the strategy's work"},
    {"rung_s", number,
     "the strategy's time for it, of the slowest rank in the fastest repetition: opening and "
     "closing for files/s, writing and fsync for MiB/s"},
    {"percent", number, "ceiling_s / rung_s"},
    {"binds", text, "yes for the nearest"},
    {"mark", text, "why the share is above 105 %"},
};

constexpr Column kLadder[] = {
    {"rung", text, "the strategy"},
    {"ranks", whole, "that took part"},
    {"workers", whole, "processes of the process strategies, else 0"},
    {"n", whole, "repetitions"},
    {"job_time_s", number, "median"},
    {"low_s", number, "of its interval"},
    {"high_s", number, "of its interval"},
    {"speedup", number, "over text-loop, or over the first strategy where that did not run"},
    {"over_previous", number, "over the strategy before"},
    {"write_MiBps", number, "median"},
    {"files_per_s", number, "median"},
    {"ceiling", text, "the nearest"},
    {"percent_of_ceiling", number, "how near"},
    {"verified", text, "yes, NO or not verified"},
    {"mark", text, "why a number is doubtful"},
    {"read_MiBps", number, "median"},
    {"cache", text, "where the bytes of that reading came from"},
    {"fsync", text, "yes: each file is on the disk when its writing ends; no: it may be in memory"},
    {"file_system", text, "where the files lay"},
    {"directory", text, "the folder that they lay in"},
    {"file_bytes", number, "bytes of the files; the rates are of the numbers in them"},
};

constexpr Column kTasks[] = {
    {"worker", whole, "process, from 0"},
    {"tasks", whole, "it was given"},
    {"bytes_sent_per_task", number, "to it"},
    {"bytes_received_per_task", number, "from it"},
    {"busy_s", number, "at work"},
    {"wait_s", number, "for work"},
};

constexpr Column kChunks[] = {
    {"rank", whole, "that asked"},
    {"chunks", whole, "it was given"},
    {"records", whole, "in them"},
    {"handed_bytes", whole, "on the way to it"},
};

constexpr Column kTransfers[] = {
    {"requested", text, "independent or collective"},
    {"actual_io_mode", text, "what HDF5 says it did"},
    {"chunk_mode", text, "what HDF5 says of chunks"},
    {"no_collective_cause", text, "why it was not collective"},
    {"transfers", whole, "of that kind, all ranks"},
};

constexpr Column kMpiIo[] = {
    {"key", text, "a hint"},
    {"value", text, "as MPI-IO has it"},
};

constexpr Column kMessages[] = {
    {"op", text, "the operation"},
    {"level", text, "which ranks: job, host (those of one host) or hosts (one of each host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"root", whole, "rank; -1: there is none"},
    {"place", text, "out-of-place, or in-place"},
    {"ranks", whole, "that took part"},
    {"bytes", whole, "message size S"},
    {"elements", whole,
     "allgather, reduce_scatter, alltoall: of one rank's part; else of the message"},
    {"n", whole, "timed calls"},
    {"time_us", number, "of a call: the median, or with --blocking 0 the whole loop's mean"},
    {"mean_us", number, "mean over calls"},
    {"p50_us", number, "median over calls"},
    {"p95_us", number, "over calls"},
    {"p99_us", number, "over calls"},
    {"low_us", number, "of the median's 95 % interval"},
    {"high_us", number, "of the median's 95 % interval"},
    {"min_us", number, "over calls"},
    {"max_us", number, "over calls"},
    {"cv_percent", number, "standard deviation over mean"},
    {"algbw_GBps", number, "S / time_us; 1e9 bytes a second"},
    {"busbw_GBps", number, "algbw times the operation's factor; no number at one rank"},
    {"wrong_elements", whole, "of all ranks' results; -1: not checked"},
    {"mark", text, "why the row is to be read with care"},
};

constexpr Column kNonblocking[] = {
    {"op", text, "the operation"},
    {"level", text, "which ranks: job, host (those of one host) or hosts (one of each host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"ranks", whole, "that took part"},
    {"bytes", whole, "message size S"},
    {"progress", text, "who let the library work meanwhile: none, poll or thread"},
    {"n", whole, "timed calls"},
    {"overall_us", number, "start, compute and wait together; median of the maximum over ranks"},
    {"compute_us", number, "compute alone, calibrated to pure_us; median"},
    {"init_us", number, "the starting call; median"},
    {"test_us", number, "looks meanwhile; median of their sum"},
    {"wait_us", number, "the wait at the end; median"},
    {"pure_us", number, "start and wait with nothing between; median"},
    {"overlap_percent", number,
     "100 (1 - (overall - compute) / pure), within 0 and 100; none: see mark"},
    {"low_percent", number, "of its 95 % interval"},
    {"high_percent", number, "of its 95 % interval"},
    {"mark", text, "why the row is to be read with care"},
};

constexpr Column kFits[] = {
    {"op", text, "the operation"},
    {"level", text, "which ranks: job, host (those of one host) or hosts (one of each host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"place", text, "out-of-place, or in-place"},
    {"points", whole, "message sizes"},
    {"alpha_us", number, "latency: what a call costs whatever its size"},
    {"alpha_low_us", number, "of its 95 % interval"},
    {"alpha_high_us", number, "of its 95 % interval"},
    {"bandwidth_GBps", number, "1 / beta: bytes a second that each byte more costs"},
    {"bandwidth_low_GBps", number, "of its 95 % interval"},
    {"bandwidth_high_GBps", number, "of its 95 % interval"},
    {"half_bytes", number, "message size that reaches half of that bandwidth: alpha / beta"},
    {"worst_percent", number, "how far the farthest message lies from the line"},
    {"mark", text, "why the row is to be read with care"},
};

constexpr Column kGuidelines[] = {
    {"guideline", text, "what a good library keeps"},
    {"level", text, "which ranks: job, host (those of one host) or hosts (one of each host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"bytes", whole, "message size S"},
    {"left_us", number, "the left side's median"},
    {"right_us", number, "the right side's: the sum of its medians"},
    {"ratio", number, "left / right"},
    {"verdict", text,
     "holds, VIOLATED, or cannot tell: intervals overlap, under a tenth, or too few calls"},
    {"tuning", text, "what to try where it is violated"},
};

constexpr Column kClocks[] = {
    {"rank", whole, "in the world"},
    {"host", text, "where it ran"},
    {"offset_us", number, "its clock minus rank 0's"},
    {"offset_error_us", number, "half the shortest round trip: the offset is that sure"},
    {"late_us", number, "how much later than the first rank it came to a call; median"},
    {"came_last_share", number,
     "share of the calls to which it came last, by more than the clocks' error"},
};

constexpr Column kBuckets[] = {
    {"bucket", whole, "in the order of their reductions"},
    {"parameters", whole, "tensors in it"},
    {"elements", whole, "of all of them"},
    {"dtype", text, "as they travel"},
    {"bytes", whole, "that travel"},
    {"time_us", number, "of its allreduce; median"},
    {"low_us", number, "of its 95 % interval"},
    {"high_us", number, "of its 95 % interval"},
    {"algbw_GBps", number, "bytes / time_us; 1e9 bytes a second"},
    {"busbw_GBps", number, "algbw times 2 (n - 1) / n; no number at one rank"},
    {"wrong_elements", whole, "of all ranks' results; -1: not checked"},
};

constexpr auto kTables = std::to_array<TableSchema>({
    {"verification", "a check", kVerification},
    {"statistics", "a series of samples", kStatistics},
    {"convergence", "a look at --target-ci", kConvergence},
    {"phases", "a phase of the step", kPhases},
    {"lines", "a line of the training loop", kLines},
    {"layers", "a layer", kLayers},
    {"operators", "an operator of the trace, by its self time", kOperators},
    {"epochs", "an epoch", kEpochs},
    {"communication", "a bucket of gradients", kCommunication},
    {"waiting", "a rank", kWaiting},
    {"job_use", "a rank", kJobUse},
    {"monitor", "a sample of a rank or a host", kMonitor},
    {"gpu_monitor", "a sample of a GPU", kGpuMonitor},
    {"rank_summaries", "a rank of a measurement (runs of more than 64 ranks)", kRankSummaries},
    {"start_up", "a part of the way from the process' start to its first step", kStartUp},
    {"ablation", "a kind of trial", kAblation},
    {"waterfall", "a part of the step", kWaterfall},
    {"scaling", "a point of a ladder", kScaling},
    {"verdicts", "a base of a ladder", kVerdicts},
    {"ladder", "a strategy", kLadder},
    {"io_phases", "a phase of writing and reading", kIoPhases},
    {"io_ranks", "a rank", kIoRanks},
    {"io_reads", "a reading of all records", kIoReads},
    {"ceilings", "something the machine can do", kCeilings},
    {"tasks", "a worker process", kTasks},
    {"chunks", "a rank", kChunks},
    {"hdf5_transfers", "a way of transfer", kTransfers},
    {"mpi_io", "a hint of MPI-IO", kMpiIo},
    {"messages", "a message size of an operation", kMessages},
    {"nonblocking", "a message size of a started operation", kNonblocking},
    {"fits", "an operation's line alpha + S / bandwidth", kFits},
    {"guidelines", "a comparison of operations at a message size", kGuidelines},
    {"clocks", "a rank", kClocks},
    {"buckets", "a bucket of gradients", kBuckets},
});

}  // namespace

std::span<const TableSchema> tables() {
    return kTables;
}

const TableSchema* find_table(std::string_view name) {
    const auto found = std::ranges::find(kTables, name, &TableSchema::name);
    return found == kTables.end() ? nullptr : &*found;
}

}  // namespace ranklab::vocabulary
