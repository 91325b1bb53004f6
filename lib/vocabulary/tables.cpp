#include "vocabulary/tables.hpp"

#include <algorithm>
#include <array>

namespace ranklab::vocabulary {
namespace {

using enum ColumnType;

constexpr Column kVerification[] = {
    {"check", text, "what was checked"},
    {"result", text, "passed, failed, not verified, or does not apply"},
    {"detail", text, "how it was checked, or why not"},
};

constexpr Column kPhases[] = {
    {"phase", text, "the phase; `other`: time between phases; `step`: the whole"},
    {"hits", whole, "counted steps"},
    {"time_s", number, "sum over counted steps, mean over ranks"},
    {"per_hit_s", number, "time_s / hits"},
    {"percent", number, "share of the step time"},
};

constexpr Column kLines[] = {
    {"line", whole, "number, in the order of the loop"},
    {"hits", whole, "executions, warm-up included"},
    {"time_s", number, "sum over executions on the host, mean over ranks"},
    {"per_hit_s", number, "time_s / hits"},
    {"percent", number, "share of the loop's time"},
    {"device_time_s", number, "sum over executions on the GPU; no number on a CPU"},
    {"contents", text, "the line, as pseudo-code"},
};

constexpr Column kLayers[] = {
    {"layer", text, "the module, with the operations up to the next module with parameters"},
    {"calls", whole, "uses of its parameters per forward"},
    {"forward_s", number, "per micro-batch; mean over counted micro-batches and ranks"},
    {"backward_s", number, "per micro-batch; mean over counted micro-batches and ranks"},
    {"percent", number, "share of forward and backward"},
    {"gradient_ready_s", number,
     "from the start of backward; mean over counted micro-batches and ranks"},
    {"forward_flops", whole, "per micro-batch: convolutions and matrix products"},
    {"forward_GFLOP_per_s", number, "1e-9 forward_flops / forward_s"},
    {"flops_per_byte", number, "forward_flops / (parameter_bytes + activation_bytes)"},
    {"roof_percent", number,
     "100 forward_GFLOP_per_s / the smaller of roof_gflops_per_s and flops_per_byte x "
     "roof_gb_per_s (facts `training.roof_*`)"},
    {"parameter_bytes", whole, "bytes of the module's parameters"},
    {"activation_bytes", whole, "outputs of its operations, per micro-batch"},
};

constexpr Column kOperators[] = {
    {"operator", text, "LibTorch's name"},
    {"calls", whole, "in the window of the trace, on rank 0"},
    {"self_s", number, "sum over calls, without operators that it calls"},
    {"total_s", number, "sum over calls, with operators that it calls"},
    {"percent", number, "share of all operators' self time"},
};

constexpr Column kCommunication[] = {
    {"bucket", whole, "in the order of their reductions"},
    {"parameters", whole, "tensors in the bucket"},
    {"bytes", whole, "as sent"},
    {"ready_after_backward_began_s", number,
     "until all gradients of the bucket are complete; median over sampled steps"},
    {"waiting_for_last_rank_s", number,
     "longest wait of a rank for the last rank; median over sampled steps"},
    {"transfer_s", number,
     "from the arrival of the last rank to the finished sum; median over sampled steps"},
};

constexpr Column kWaiting[] = {
    {"rank", whole, "in the world"},
    {"host", text, "where it ran"},
    {"waited_for_others_s", number, "wait for other ranks per step; median over sampled steps"},
    {"came_last_share", number,
     "fraction of sampled steps in which other ranks waited for this one"},
    {"longest_excess_phase", text,
     "the phase (other than sync) in which the rank's median exceeds the mean of the other ranks' "
     "medians most; or none"},
    {"excess_s", number,
     "the rank's median of that phase minus the mean of the other ranks' medians"},
};

constexpr Column kJobUse[] = {
    {"rank", whole, "in the world"},
    {"host", text, "where it ran"},
    {"wall_s", number, "of the counted part of the run"},
    {"cpu_s", number, "CPU time of its process and child processes; waiting in MPI counts"},
    {"host_cpus", whole,
     "CPUs of all ranks of the host, in the row of its first rank; 0 in others"},
    {"peak_rss_bytes", whole, "highest resident set of the process"},
    {"memory_asked_bytes", whole,
     "memory that the job requested from Slurm on the host; 0: none, or not known"},
};

constexpr Column kMonitor[] = {
    {"time_s", number, "since the work began"},
    {"host", text, "where the sample was taken"},
    {"rank", whole, "in the world; -1: the row is of the host"},
    {"cpu_percent", number,
     "CPU time: of a rank's threads and child processes, 100 is one CPU; of a host, 100 is all "
     "CPUs"},
    {"wait_percent", number, "time in which threads waited for a CPU, sum over threads"},
    {"threads", number, "at the time of the sample"},
    {"rss_bytes", number, "resident set; of a host: memory in use"},
    {"page_faults_per_s", number, "minor and major"},
    {"read_MiB_per_s", number, "by system calls, cached reads included"},
    {"written_MiB_per_s", number, "by system calls"},
    {"sent_MiB_per_s", number, "of a host, without loopback"},
    {"received_MiB_per_s", number, "of a host, without loopback"},
    {"pressure_percent", number,
     "share of the time in which a thread of the host waited for a CPU"},
};

constexpr Column kGpuMonitor[] = {
    {"time_s", number, "since the work began"},
    {"host", text, "where the GPU is"},
    {"gpu", text, "its UUID, or its PCI id"},
    {"name", text, "the model"},
    {"rank", whole, "first rank in the world that computes on it; -1: none"},
    {"busy_percent", number, "share of the driver's last period in which a kernel ran"},
    {"memory_bytes", number, "in use by all processes"},
    {"power_W", number, "at the time of the sample, or the driver's mean of the last second"},
    {"temperature_C", number, "of the chip"},
    {"clock_MHz", number, "of the multiprocessors"},
    {"throttle", text, "what limits the clock, or none; empty: not known"},
    {"energy_J", number, "since the first sample"},
};

constexpr Column kRankSummaries[] = {
    {"measurement", text, "name of the measurement"},
    {"rank", whole, "in the world"},
    {"n", whole, "counted rows"},
    {"median", number, "over the rank's rows; in the measurement's unit"},
    {"mean", number, "over the rank's rows"},
    {"min", number, "over the rank's rows"},
    {"max", number, "over the rank's rows"},
};

constexpr Column kStartUp[] = {
    {"part", text, "in the order in which it happens"},
    {"mean_s", number, "mean over ranks; the sum of all parts is the mean time to the first step"},
    {"max_s", number, "of the slowest rank in this part"},
    {"slowest_rank", whole, "in the world"},
};

constexpr Column kEpochs[] = {
    {"epoch", whole, "from 1"},
    {"steps", whole, "made in the epoch"},
    {"steps_per_epoch", whole, "of a whole epoch"},
    {"samples", whole, "unpadded samples of all ranks"},
    {"time_s", number, "sum of its steps; maximum over ranks"},
    {"samples_per_s", number, "samples / time_s"},
    {"lr", number, "learning rate of its first step"},
    {"train_loss", number, "mean over its steps"},
    {"validation_loss", number, "after the epoch"},
    {"validation_accuracy", number, "after the epoch"},
    {"validation_time_s", number, "evaluation after the epoch; maximum over ranks"},
};

constexpr Column kStatistics[] = {
    {"name", text, "the measurement"},
    {"n", whole, "samples"},
    {"lag1", number, "lag-1 autocorrelation"},
    {"effective_n", number, "effective sample size"},
    {"method", text, "of the interval of the median"},
    {"outliers_low", whole, "samples more than 3 interquartile ranges below the first quartile"},
    {"outliers_high", whole, "samples more than 3 interquartile ranges above the third quartile"},
    {"warmup_fixed", whole, "samples that --warmup excludes"},
    {"warmup_detected", whole,
     "leading samples that MSER-5 finds to be warm-up; they are counted nevertheless"},
};

constexpr Column kConvergence[] = {
    {"samples", whole, "so far"},
    {"median_s", number, "of the samples so far"},
    {"low_s", number, "of the median's 95 % interval"},
    {"high_s", number, "of the median's 95 % interval"},
    {"half_width_percent", number, "longer side of the interval, relative to the median"},
    {"target_percent", number, "value of --target-ci"},
    {"effective_n", number, "effective sample size"},
    {"method", text, "of the interval"},
};

constexpr Column kAblation[] = {
    {"trial", text, "what the trials leave out"},
    {"trials", whole, "number of trials"},
    {"steps", whole, "per trial"},
    {"mean_samples_per_s", number, "over trials"},
    {"std_samples_per_s", number, "population standard deviation over trials"},
    {"step_time_s", number, "of the slowest rank; mean over trials"},
};

constexpr Column kWaterfall[] = {
    {"part", text, "of the step"},
    {"step_s", number, "time that the part adds to a step"},
    {"percent", number, "share of the sum of the positive parts; 0 for a negative part"},
    {"samples_per_s", number, "rate with this part and the parts above it"},
    {"lost_samples_per_s", number, "rate that the part costs"},
};

constexpr Column kIoPhases[] = {
    {"phase", text,
     "the phase; `record`: time of records outside all phases; `job`: the rest of the job time"},
    {"calls", whole, "of all ranks and counted repetitions"},
    {"total_s", number, "sum over calls"},
    {"per_call_s", number, "total_s / calls"},
    {"cumulative_s", number, "sum over calls, nested phases included"},
    {"percent", number, "share of the sum of total_s"},
    {"longest_s", number, "longest single call"},
};

// Phases in which no rank spent time have no column.
constexpr Column kIoRanks[] = {
    {"rank", whole, "that took part"},
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
    {"first_open_s", number, "after the barrier"},
    {"last_close_s", number, "after the barrier"},
};

constexpr Column kIoReads[] = {
    {"repetition", whole, "from 1"},
    {"pass", text, "read 1, read 2, ... (timed), or check (untimed)"},
    {"order", text, "whose records each rank reads"},
    {"read_s", number, "maximum over ranks"},
    {"MiB", number, "of all ranks"},
    {"MiB_per_s", number, "MiB / read_s"},
    {"resident_percent", number, "share of the bytes in the page cache before the pass"},
    {"block_layer_MiB", number, "read from the device"},
    {"cache", text, "cold, warm or mixed, by resident_percent and block_layer_MiB"},
    {"file_system", text, "of the files read"},
};

constexpr Column kCeilings[] = {
    {"ceiling", text,
     "raw write(), raw pwrite() or file creation: system calls with the same bytes or files"},
    {"value", number, "rate of these calls"},
    {"unit", text, "of value"},
    {"ceiling_s", number, "time of the strategy's work at that rate"},
    {"rung_s", number,
     "time of the strategy: slowest rank, fastest repetition; opening and closing for files/s, "
     "writing and fsync for MiB/s"},
    {"percent", number, "100 ceiling_s / rung_s"},
    {"binds", text,
     "for the longest ceiling_s: yes, or `not the limit` if percent is above 105; else empty"},
    {"mark", text, "why percent is above 105"},
};

constexpr Column kLadder[] = {
    {"rung", text, "the strategy"},
    {"ranks", whole, "that took part"},
    {"workers", whole, "worker processes; 0 for strategies without"},
    {"n", whole, "repetitions"},
    {"job_time_s", number, "median over repetitions"},
    {"low_s", number, "of its 95 % interval"},
    {"high_s", number, "of its 95 % interval"},
    {"speedup", number, "over text-loop, or over the first strategy if that did not run"},
    {"over_previous", number, "speedup over the strategy before"},
    {"write_MiBps", number, "median over repetitions"},
    {"files_per_s", number, "median over repetitions"},
    {"ceiling", text,
     "the ceiling with the longest ceiling_s (table ceilings), and whether it is not the limit"},
    {"percent_of_ceiling", number, "percent of that ceiling in the table ceilings"},
    {"verified", text, "yes, NO or not verified"},
    {"mark", text, "caveats"},
    {"read_MiBps", number, "median over repetitions"},
    {"cache", text, "where the bytes read came from"},
    {"fsync", text,
     "yes: writing a file ends when it is on the disk; no: it may still be in memory"},
    {"file_system", text, "of the files"},
    {"directory", text, "of the files"},
    {"file_bytes", number, "size of the files; rates count the bytes of the numbers"},
};

constexpr Column kTasks[] = {
    {"worker", whole, "process, from 0"},
    {"tasks", whole, "that it worked on"},
    {"bytes_sent_per_task", number, "to the worker"},
    {"bytes_received_per_task", number, "from the worker"},
    {"busy_s", number, "working"},
    {"wait_s", number, "waiting for tasks"},
};

constexpr Column kChunks[] = {
    {"rank", whole, "that received the chunks"},
    {"chunks", whole, "received"},
    {"records", whole, "in the chunks"},
    {"handed_bytes", whole, "sent to the rank"},
};

constexpr Column kTransfers[] = {
    {"requested", text, "independent or collective"},
    {"actual_io_mode", text, "mode that HDF5 reports"},
    {"chunk_mode", text, "chunk mode that HDF5 reports"},
    {"no_collective_cause", text, "why it was not collective, as HDF5 reports"},
    {"transfers", whole, "number over all ranks"},
};

constexpr Column kMpiIo[] = {
    {"key", text, "name of the hint"},
    {"value", text, "that MPI-IO uses"},
};

constexpr Column kMessages[] = {
    {"op", text, "the operation"},
    {"level", text, "which ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"root", whole, "rank; -1: no root"},
    {"place", text, "out-of-place, or in-place"},
    {"ranks", whole, "that took part"},
    {"bytes", whole, "message size S"},
    {"elements", whole,
     "allgather, reduce_scatter, alltoall: of one rank's part; others: of the message"},
    {"n", whole, "timed calls"},
    {"time_us", number, "per call: the median; with --blocking 0 the mean of the whole loop"},
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
    {"wrong_elements", whole, "over all ranks' results; -1: not checked"},
    {"mark", text, "caveats"},
};

constexpr Column kNonblocking[] = {
    {"op", text, "the operation"},
    {"level", text, "which ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"ranks", whole, "that took part"},
    {"bytes", whole, "message size S"},
    {"progress", text, "what drives MPI progress during compute: none, poll or thread"},
    {"n", whole, "timed calls"},
    {"overall_us", number, "start, compute and wait; median over calls of the maximum over ranks"},
    {"compute_us", number, "compute alone, calibrated to pure_us; median"},
    {"init_us", number, "the starting call; median"},
    {"test_us", number, "sum of the polls during compute; median"},
    {"wait_us", number, "final wait; median"},
    {"pure_us", number, "start and wait without compute; median"},
    {"overlap_percent", number,
     "100 (1 - (overall - compute) / pure), within 0 and 100; no number: see mark"},
    {"low_percent", number, "of its 95 % interval"},
    {"high_percent", number, "of its 95 % interval"},
    {"mark", text, "caveats"},
};

constexpr Column kFits[] = {
    {"op", text, "the operation"},
    {"level", text, "which ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"redop", text, "sum, min, max or avg; none"},
    {"place", text, "out-of-place, or in-place"},
    {"points", whole, "message sizes"},
    {"alpha_us", number, "latency: time of a call of size 0"},
    {"alpha_low_us", number, "of its 95 % interval"},
    {"alpha_high_us", number, "of its 95 % interval"},
    {"bandwidth_GBps", number, "1 / beta: rate at which further bytes of a message are sent"},
    {"bandwidth_low_GBps", number, "of its 95 % interval"},
    {"bandwidth_high_GBps", number, "of its 95 % interval"},
    {"half_bytes", number, "message size with half of that bandwidth: alpha / beta"},
    {"worst_percent", number, "largest distance of a message from the line"},
    {"mark", text, "caveats"},
};

constexpr Column kGuidelines[] = {
    {"guideline", text, "rule that a good library follows"},
    {"level", text, "which ranks: job (all), host (all of one host) or hosts (one per host)"},
    {"load", text, "idle, or loaded: a compute kernel ran on the same cores"},
    {"dtype", text, "element type"},
    {"bytes", whole, "message size S"},
    {"left_us", number, "median of the operation left of <="},
    {"right_us", number, "sum of the medians of the operations right of <="},
    {"ratio", number, "left_us / right_us"},
    {"verdict", text,
     "holds: left_us is not above right_us; VIOLATED: the left interval lies more than a tenth "
     "above the right one, and a neighbouring size is over a tenth slower, too; cannot tell: "
     "neither, or fewer than 20 calls"},
    {"tuning", text, "what to try if the verdict is VIOLATED"},
};

constexpr Column kClocks[] = {
    {"rank", whole, "in the world"},
    {"host", text, "where it ran"},
    {"offset_us", number, "its clock minus rank 0's"},
    {"offset_error_us", number,
     "half of the shortest round trip, which bounds the error of offset_us"},
    {"late_us", number, "arrival after the first rank; median over calls"},
    {"came_last_share", number,
     "fraction of the calls to which it came last, by more than the clocks' error"},
};

constexpr Column kBuckets[] = {
    {"bucket", whole, "in the order of their reductions"},
    {"parameters", whole, "tensors in the bucket"},
    {"elements", whole, "of all tensors"},
    {"dtype", text, "as sent"},
    {"bytes", whole, "as sent"},
    {"time_us", number, "of its allreduce; median over calls"},
    {"low_us", number, "of the median's 95 % interval"},
    {"high_us", number, "of the median's 95 % interval"},
    {"algbw_GBps", number, "1e-3 bytes / time_us"},
    {"busbw_GBps", number, "algbw times 2 (n - 1) / n; no number at one rank"},
    {"wrong_elements", whole, "over all ranks' results; -1: not checked"},
};

constexpr auto kTables = std::to_array<TableSchema>({
    {"verification", "a check", kVerification},
    {"statistics", "a series of samples", kStatistics},
    {"convergence", "a check of --target-ci", kConvergence},
    {"phases", "a phase of the step", kPhases},
    {"lines", "a line of the training loop", kLines},
    {"layers", "a layer", kLayers},
    {"operators", "an operator of the trace, sorted by self time", kOperators},
    {"epochs", "an epoch", kEpochs},
    {"communication", "a bucket of gradients", kCommunication},
    {"waiting", "a rank", kWaiting},
    {"job_use", "a rank", kJobUse},
    {"monitor", "a sample of a rank or a host", kMonitor},
    {"gpu_monitor", "a sample of a GPU", kGpuMonitor},
    {"rank_summaries", "a measurement of a rank (runs of more than 64 ranks)", kRankSummaries},
    {"start_up", "a part of the time from the start of the process to its first step", kStartUp},
    {"ablation", "a kind of trial", kAblation},
    {"waterfall", "a part of the step", kWaterfall},
    {"ladder", "a strategy", kLadder},
    {"io_phases", "a phase of writing and reading", kIoPhases},
    {"io_ranks", "a rank", kIoRanks},
    {"io_reads", "a pass that reads all records", kIoReads},
    {"ceilings", "a limit of the machine", kCeilings},
    {"tasks", "a worker process", kTasks},
    {"chunks", "a rank", kChunks},
    {"hdf5_transfers", "a transfer mode", kTransfers},
    {"mpi_io", "a hint of MPI-IO", kMpiIo},
    {"messages", "a message size of an operation", kMessages},
    {"nonblocking", "a message size of a non-blocking operation", kNonblocking},
    {"fits", "an operation's line, time = alpha + beta S", kFits},
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
