#include "vocabulary/tables.hpp"

#include <algorithm>
#include <array>

namespace ranklab::vocabulary {
namespace {

using enum ColumnType;

constexpr Column kVerification[] = {
    {"check", text, "the check"},
    {"result", text, "passed, failed, not verified, or does not apply"},
    {"detail", text, "numbers, or the reason for the result"},
};

constexpr Column kPhases[] = {
    {"phase", text, "the phase; `other` is what lies between them, `step` the whole"},
    {"hits", whole, "counted steps"},
    {"time_s", number, "total over the hits, mean over ranks"},
    {"per_hit_s", number, "time_s / hits"},
    {"percent", number, "share of the steps' time"},
};

constexpr Column kLines[] = {
    {"line", whole, "number of the line in the loop"},
    {"hits", whole, "executions in the whole run, including the warm-up"},
    {"time_s", number, "total over the hits, on the host; mean over ranks"},
    {"per_hit_s", number, "time_s / hits"},
    {"percent", number, "share of the loop's time"},
    {"device_time_s", number, "total over the hits, on the GPU; NaN on a CPU"},
    {"contents", text, "the line, as pseudo-code"},
};

constexpr Column kLayers[] = {
    {"layer", text,
     "a module with parameters, and the operations after it until the next such module"},
    {"calls", whole, "uses of its parameters per forward"},
    {"forward_s", number, "forward per micro-batch; mean over counted ones and over ranks"},
    {"backward_s", number, "backward per micro-batch; mean"},
    {"percent", number, "share of forward and backward"},
    {"gradient_ready_s", number,
     "from the start of backward until its gradients are complete; mean"},
    {"forward_flops", whole, "per micro-batch: convolutions and matrix products"},
    {"forward_GFLOP_per_s", number, "forward_flops / forward_s; 1e9 per second"},
    {"flops_per_byte", number, "forward_flops / (parameter_bytes + activation_bytes)"},
    {"roof_percent", number,
     "share of the roofline, min(roof_gflops_per_s, flops_per_byte x roof_gb_per_s)"},
    {"parameter_bytes", whole, "bytes of the module's parameters"},
    {"activation_bytes", whole, "outputs of its operations per micro-batch"},
};

constexpr Column kOperators[] = {
    {"operator", text, "LibTorch's name of the operator"},
    {"calls", whole, "calls in the window of the trace, on rank 0"},
    {"self_s", number, "total of all calls, without the operators called within"},
    {"total_s", number, "total of all calls, with the operators called within"},
    {"percent", number, "share of all operators' self time"},
};

constexpr Column kCommunication[] = {
    {"bucket", whole, "index in the order of reductions"},
    {"parameters", whole, "number of tensors in the bucket"},
    {"bytes", whole, "bytes sent"},
    {"ready_after_backward_began_s", number,
     "until its gradients are complete; median over observed steps"},
    {"waiting_for_last_rank_s", number,
     "longest wait over ranks until the last rank is ready; median over observed steps"},
    {"transfer_s", number,
     "from the last rank's readiness to the finished sum; median over observed steps"},
};

constexpr Column kWaiting[] = {
    {"rank", whole, "rank in the job"},
    {"host", text, "host of the rank"},
    {"waited_for_others_s", number, "per step; median over observed steps"},
    {"came_last_share", number,
     "share of the observed steps in which other ranks waited for this rank"},
    {"longest_excess_phase", text, "the phase with the largest excess over the other ranks"},
    {"excess_s", number, "excess of this phase over the other ranks; difference of medians"},
};

constexpr Column kJobUse[] = {
    {"rank", whole, "rank in the job"},
    {"host", text, "host of the rank"},
    {"wall_s", number, "duration of the counted part of the run"},
    {"cpu_s", number, "CPU time of the process and its children, including busy-waiting in MPI"},
    {"host_cpus", whole,
     "CPUs of all ranks of the host, on the host's first rank; 0 on other ranks"},
    {"peak_rss_bytes", whole, "highest resident set of the process"},
    {"memory_asked_bytes", whole,
     "memory that the job requested from Slurm on the host; 0: none or unknown"},
};

constexpr Column kMonitor[] = {
    {"time_s", number, "since the start of the work"},
    {"host", text, "host of the sample"},
    {"rank", whole, "rank in the job; -1: the host"},
    {"cpu_percent", number,
     "CPU time: of a rank's threads and processes, 100 is one CPU; of a host, all its CPUs"},
    {"wait_percent", number, "time in which threads waited for a CPU, sum over threads"},
    {"threads", number, "current number of threads"},
    {"rss_bytes", number, "resident set; of a host: memory in use"},
    {"page_faults_per_s", number, "minor and major page faults"},
    {"read_MiB_per_s", number, "read by system calls, including from caches"},
    {"written_MiB_per_s", number, "written by system calls"},
    {"sent_MiB_per_s", number, "host only: network traffic without loopback"},
    {"received_MiB_per_s", number, "host only: network traffic without loopback"},
    {"pressure_percent", number,
     "share of time in which some thread of the host waited for a CPU (PSI)"},
};

constexpr Column kGpuMonitor[] = {
    {"time_s", number, "since the start of the work"},
    {"host", text, "host of the sample"},
    {"gpu", text, "the GPU's UUID or PCI id"},
    {"name", text, "the model"},
    {"rank", whole, "lowest rank that computes on the GPU; -1: none"},
    {"busy_percent", number, "share of the driver's last period in which a kernel ran"},
    {"memory_bytes", number, "memory in use by all processes"},
    {"power_W", number, "instantaneous, or the driver's mean over a second"},
    {"temperature_C", number, "temperature of the chip"},
    {"clock_MHz", number, "clock of the multiprocessors"},
    {"throttle", text, "reasons for a lower clock, or none; empty: unknown"},
    {"energy_J", number, "since the first sample"},
};

constexpr Column kRankSummaries[] = {
    {"measurement", text, "name of the measurement"},
    {"rank", whole, "rank in the job"},
    {"n", whole, "counted rows"},
    {"median", number, "median of this rank's samples, in the measurement's unit"},
    {"mean", number, "mean of this rank's samples"},
    {"min", number, "minimum of this rank's samples"},
    {"max", number, "maximum of this rank's samples"},
};

constexpr Column kStartUp[] = {
    {"part", text, "a part of the start-up, in this order"},
    {"mean_s", number, "mean over ranks; their sum is the ranks' mean time to the first step"},
    {"max_s", number, "time of the slowest rank in this part"},
    {"slowest_rank", whole, "rank in the job"},
};

constexpr Column kEpochs[] = {
    {"epoch", whole, "from 1"},
    {"steps", whole, "steps made"},
    {"steps_per_epoch", whole, "steps of a complete epoch"},
    {"samples", whole, "true samples of all ranks"},
    {"time_s", number, "sum of the step times; maximum over ranks"},
    {"samples_per_s", number, "samples / time_s"},
    {"lr", number, "learning rate of the first step"},
    {"train_loss", number, "mean over the steps"},
    {"validation_loss", number, "after the epoch"},
    {"validation_accuracy", number, "after the epoch"},
    {"validation_time_s", number, "duration of the evaluation after the epoch; maximum over ranks"},
};

constexpr Column kStatistics[] = {
    {"name", text, "the measurement"},
    {"n", whole, "samples"},
    {"lag1", number, "lag-1 autocorrelation"},
    {"effective_n", number, "effective sample size"},
    {"method", text, "method of the median's interval"},
    {"outliers_low", whole, "samples far below the quartiles"},
    {"outliers_high", whole, "samples far above them"},
    {"warmup_fixed", whole, "samples left out by --warmup"},
    {"warmup_detected", whole, "samples until the series is steady"},
};

constexpr Column kConvergence[] = {
    {"samples", whole, "samples at this check"},
    {"median_s", number, "median at this check"},
    {"low_s", number, "lower end of the 95 % interval"},
    {"high_s", number, "upper end of the 95 % interval"},
    {"half_width_percent", number, "longer side of the interval, relative to the median"},
    {"target_percent", number, "the value of --target-ci"},
    {"effective_n", number, "effective sample size"},
    {"method", text, "method of the interval"},
};

constexpr Column kScaling[] = {
    {"point", text, "the varied setting and its value"},
    {"unit", text, "unit of efficiency: core or GPU"},
    {"units", whole, "cores or GPUs of all ranks; 0: unknown"},
    {"n", whole, "valid runs"},
    {"time_s", number, "step or job time: median over runs of the runs' medians"},
    {"low_s", number, "lower end of the 95 % interval"},
    {"high_s", number, "upper end of the 95 % interval"},
    {"speedup", number, "speedup over the strong baseline, which does the same work"},
    {"speedup_low", number, "lower end of the 95 % interval"},
    {"speedup_high", number, "upper end of the 95 % interval"},
    {"efficiency", number, "speedup / (units / units of the baseline)"},
    {"weak_efficiency", number,
     "efficiency over the weak baseline, whose ranks do the same work each"},
    {"base", text, "yes if the point is a baseline"},
    {"mark", text, "caveat"},
};

constexpr Column kVerdicts[] = {
    {"verdict", text, "the best point and its certainty"},
    {"why", text, "the phase that makes the difference; empty: none"},
};

constexpr Column kAblation[] = {
    {"trial", text, "the kind of trial, by what it leaves out"},
    {"trials", whole, "trials made"},
    {"steps", whole, "steps of each trial"},
    {"mean_samples_per_s", number, "over trials"},
    {"std_samples_per_s", number, "population standard deviation over trials"},
    {"step_time_s", number, "step time of the slowest rank; mean over trials"},
};

constexpr Column kWaterfall[] = {
    {"part", text, "a part of the step"},
    {"step_s", number, "time that the part adds to a step"},
    {"percent", number, "share of the whole step"},
    {"samples_per_s", number, "the rate with this part and those above it"},
    {"lost_samples_per_s", number, "rate that the part costs"},
};

constexpr Column kIoPhases[] = {
    {"phase", text, "the phase; `record` and `job` are the time between phases"},
    {"calls", whole, "calls of all ranks and counted repetitions"},
    {"total_s", number, "total time of the calls"},
    {"per_call_s", number, "total_s / calls"},
    {"cumulative_s", number, "total_s including the phases within"},
    {"percent", number, "share of the sum of total_s"},
    {"longest_s", number, "longest call"},
};

// A phase without time on any rank has no column.
constexpr Column kIoRanks[] = {
    {"rank", whole, "rank among those that took part"},
    {"records", number, "per repetition"},
    {"MiB", number, "per repetition"},
    {"job_s", number, "per repetition"},
    {"generate_s", number, "per repetition"},
    {"format_s", number, "per repetition"},
    {"send_s", number, "per repetition"},
    {"wait_s", number, "per repetition"},
    {"open_s", number, "per repetition"},
    {"write_s", number, "per repetition"},
    {"fsync_s", number, "per repetition"},
    {"close_s", number, "per repetition"},
    {"read_s", number, "per repetition"},
    {"parse_s", number, "per repetition"},
    {"first_open_s", number, "seconds after the barrier"},
    {"last_close_s", number, "seconds after the barrier"},
};

constexpr Column kIoReads[] = {
    {"repetition", whole, "from 1"},
    {"pass", text, "which read of the repetition"},
    {"order", text, "whose records each rank reads"},
    {"read_s", number, "maximum over ranks"},
    {"MiB", number, "of all ranks"},
    {"MiB_per_s", number, "MiB / read_s"},
    {"resident_percent", number, "share of the bytes in the page cache before the read"},
    {"block_layer_MiB", number, "MiB that the device delivered"},
    {"cache", text, "where the bytes came from"},
    {"file_system", text, "file system of the files"},
};

constexpr Column kCeilings[] = {
    {"ceiling", text, "the measured limit of the machine"},
    {"value", number, "its rate"},
    {"unit", text, "unit of the rate"},
    {"ceiling_s", number, "time that the strategy's work takes at the ceiling's rate"},
    {"rung_s", number,
     "the strategy's time for it, of the slowest rank in the fastest repetition: opening and "
     "closing for files/s, writing and fsync for MiB/s"},
    {"percent", number, "ceiling_s / rung_s"},
    {"binds", text, "yes for the closest ceiling"},
    {"mark", text, "the reason if the share is above 105 %"},
};

constexpr Column kLadder[] = {
    {"rung", text, "the strategy"},
    {"ranks", whole, "ranks that took part"},
    {"workers", whole, "worker processes; 0 without"},
    {"n", whole, "repetitions"},
    {"job_time_s", number, "median"},
    {"low_s", number, "lower end of the 95 % interval"},
    {"high_s", number, "upper end of the 95 % interval"},
    {"speedup", number, "over text-loop, or over the first strategy if that did not run"},
    {"over_previous", number, "over the previous strategy"},
    {"write_MiBps", number, "median"},
    {"files_per_s", number, "median"},
    {"ceiling", text, "the closest ceiling"},
    {"percent_of_ceiling", number, "share of the closest ceiling"},
    {"verified", text, "yes, NO or not verified"},
    {"mark", text, "caveat"},
    {"read_MiBps", number, "median"},
    {"cache", text, "where the bytes of the read came from"},
    {"fsync", text, "yes: each file is on the disk when its writing ends; no: it may be in memory"},
    {"file_system", text, "file system of the files"},
    {"directory", text, "folder of the files"},
    {"file_bytes", number, "bytes of the files (rates count the values' bytes)"},
};

constexpr Column kTasks[] = {
    {"worker", whole, "number of the worker process, from 0"},
    {"tasks", whole, "tasks that the worker got"},
    {"bytes_sent_per_task", number, "bytes sent to the worker per task"},
    {"bytes_received_per_task", number, "bytes received from the worker per task"},
    {"busy_s", number, "time at work"},
    {"wait_s", number, "time waiting for work"},
};

constexpr Column kChunks[] = {
    {"rank", whole, "rank that asked"},
    {"chunks", whole, "chunks that the rank got"},
    {"records", whole, "records in the chunks"},
    {"handed_bytes", whole, "bytes sent to the rank"},
};

constexpr Column kTransfers[] = {
    {"requested", text, "independent or collective"},
    {"actual_io_mode", text, "how HDF5 made the transfer"},
    {"chunk_mode", text, "HDF5's treatment of chunks"},
    {"no_collective_cause", text, "reason for no collective transfer"},
    {"transfers", whole, "number of such transfers, over all ranks"},
};

constexpr Column kMpiIo[] = {
    {"key", text, "a hint"},
    {"value", text, "value in effect"},
};

constexpr Column kMessages[] = {
    {"op", text, "the operation"},
    {"level", text, "ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"root", whole, "root rank; -1: none"},
    {"place", text, "out-of-place, or in-place"},
    {"ranks", whole, "ranks that took part"},
    {"bytes", whole, "message size S"},
    {"elements", whole,
     "allgather, reduce_scatter, alltoall: of one rank's part; else of the message"},
    {"n", whole, "timed calls"},
    {"time_us", number, "time of a call: the median, or with --blocking 0 the mean of the loop"},
    {"mean_us", number, "mean over calls"},
    {"p50_us", number, "median over calls"},
    {"p95_us", number, "95th percentile over calls"},
    {"p99_us", number, "99th percentile over calls"},
    {"low_us", number, "lower end of the 95 % interval"},
    {"high_us", number, "upper end of the 95 % interval"},
    {"min_us", number, "minimum over calls"},
    {"max_us", number, "maximum over calls"},
    {"cv_percent", number, "standard deviation / mean"},
    {"algbw_GBps", number, "S / time_us; 1e9 bytes per second"},
    {"busbw_GBps", number, "algbw times the operation's factor; no number at one rank"},
    {"wrong_elements", whole, "wrong elements of all ranks' results; -1: not checked"},
    {"mark", text, "caveat"},
};

constexpr Column kNonblocking[] = {
    {"op", text, "the operation"},
    {"level", text, "ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"ranks", whole, "ranks that took part"},
    {"bytes", whole, "message size S"},
    {"progress", text, "what drives MPI progress during compute: none, poll or thread"},
    {"n", whole, "timed calls"},
    {"overall_us", number, "start + compute + wait; median of the maximum over ranks"},
    {"compute_us", number, "compute only, calibrated to pure_us; median"},
    {"init_us", number, "the starting call; median"},
    {"test_us", number, "polls during compute; median of their sum"},
    {"wait_us", number, "the wait at the end; median"},
    {"pure_us", number, "start and wait with nothing between; median"},
    {"overlap_percent", number,
     "100 (1 - (overall - compute) / pure), clipped to 0 .. 100; NaN: see mark"},
    {"low_percent", number, "lower end of the 95 % interval"},
    {"high_percent", number, "upper end of the 95 % interval"},
    {"mark", text, "caveat"},
};

constexpr Column kFits[] = {
    {"op", text, "the operation"},
    {"level", text, "ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"place", text, "out-of-place, or in-place"},
    {"points", whole, "message sizes"},
    {"alpha_us", number, "latency: time of a call of size 0"},
    {"alpha_low_us", number, "lower end of the 95 % interval"},
    {"alpha_high_us", number, "upper end of the 95 % interval"},
    {"bandwidth_GBps", number, "1 / beta: bandwidth of large messages"},
    {"bandwidth_low_GBps", number, "lower end of the 95 % interval"},
    {"bandwidth_high_GBps", number, "upper end of the 95 % interval"},
    {"half_bytes", number, "message size that reaches half of the bandwidth: alpha / beta"},
    {"worst_percent", number, "largest relative distance of a message from the line"},
    {"mark", text, "caveat"},
};

constexpr Column kGuidelines[] = {
    {"guideline", text, "the inequality that a good library satisfies"},
    {"level", text, "ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"bytes", whole, "message size S"},
    {"left_us", number, "median of the left side"},
    {"right_us", number, "sum of the medians of the right side"},
    {"ratio", number, "left / right"},
    {"verdict", text,
     "holds, VIOLATED, or cannot tell: intervals overlap, under a tenth, or too few calls"},
    {"tuning", text, "what to try if it is violated"},
};

constexpr Column kClocks[] = {
    {"rank", whole, "rank in the job"},
    {"host", text, "host of the rank"},
    {"offset_us", number, "the rank's clock minus rank 0's"},
    {"offset_error_us", number, "uncertainty of the offset: half the shortest round trip"},
    {"late_us", number, "time between the first rank's arrival at a call and this rank's; median"},
    {"came_last_share", number,
     "share of the calls at which the rank arrived last, by more than the clocks' error"},
};

constexpr Column kBuckets[] = {
    {"bucket", whole, "index in the order of reductions"},
    {"parameters", whole, "number of tensors in the bucket"},
    {"elements", whole, "elements of all tensors"},
    {"dtype", text, "element type as sent"},
    {"bytes", whole, "bytes sent"},
    {"time_us", number, "time of the allreduce; median"},
    {"low_us", number, "lower end of the 95 % interval"},
    {"high_us", number, "upper end of the 95 % interval"},
    {"algbw_GBps", number, "bytes / time_us; 1e9 bytes per second"},
    {"busbw_GBps", number, "algbw times 2 (n - 1) / n; no number at one rank"},
    {"wrong_elements", whole, "wrong elements of all ranks' results; -1: not checked"},
};

constexpr auto kTables = std::to_array<TableSchema>({
    {"verification", "a check", kVerification},
    {"statistics", "a series of samples", kStatistics},
    {"convergence", "a check of --target-ci", kConvergence},
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
    {"start_up", "a part of the time from the start of the process to its first step", kStartUp},
    {"ablation", "a kind of trial", kAblation},
    {"waterfall", "a part of the step", kWaterfall},
    {"scaling", "a point of a sweep", kScaling},
    {"verdicts", "a baseline of a sweep", kVerdicts},
    {"ladder", "a strategy", kLadder},
    {"io_phases", "a phase of writing and reading", kIoPhases},
    {"io_ranks", "a rank", kIoRanks},
    {"io_reads", "a read of all records", kIoReads},
    {"ceilings", "a limit of the machine", kCeilings},
    {"tasks", "a worker process", kTasks},
    {"chunks", "a rank", kChunks},
    {"hdf5_transfers", "a kind of transfer", kTransfers},
    {"mpi_io", "a hint of MPI-IO", kMpiIo},
    {"messages", "a message size of an operation", kMessages},
    {"nonblocking", "a message size of a non-blocking operation", kNonblocking},
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
