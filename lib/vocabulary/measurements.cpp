#include "vocabulary/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace ranklab::vocabulary {
namespace {

using enum Kind;
using enum Better;

constexpr Quantity seconds(std::string_view name, std::string_view definition) {
    return {name, "s", cost, less, definition};
}

constexpr Quantity joules(std::string_view name, std::string_view definition) {
    return {name, "J", cost, less, definition};
}

constexpr Quantity part(std::string_view whole, std::string_view phase, std::string_view name,
                        std::string_view definition) {
    return {name, "s", cost, less, definition, whole, phase};
}

constexpr Quantity rate_of(std::string_view name, std::string_view unit,
                           std::string_view definition) {
    return {name, unit, rate, more, definition};
}

constexpr Quantity ratio_of(std::string_view name, Better better, std::string_view definition) {
    return {name, "1", ratio, better, definition};
}

constexpr Quantity count_of(std::string_view name, std::string_view unit, Better better,
                            std::string_view definition) {
    return {name, unit, count, better, definition};
}

constexpr Quantity shown(Shown place, std::string_view command, Quantity quantity) {
    quantity.shown = place;
    quantity.shown_for = command;
    return quantity;
}

constexpr std::array kQuantities{
    shown(Shown::groups, "train",
          seconds("step_time_s",
                  "A training step, from the wait for its batch to the end of the optimizer; "
                  "maximum over ranks per step.")),
    part(kStepTime, "data", "data_time_s",
         "Waiting for the loader's next batch; with --workers 0, making the batch."),
    part(kStepTime, "copy", "copy_time_s",
         "Converting the batch to the model's tensors: type, normalisation, transfer to the "
         "device."),
    part(kStepTime, "scatter", "scatter_time_s",
         "--mode dp: splitting the batch into the replicas' parts."),
    part(kStepTime, "replicate", "replicate_time_s",
         "--mode dp: copying replica 0's parameters and buffers into the others."),
    part(kStepTime, "forward", "forward_time_s", "The network and the loss."),
    part(kStepTime, "gather", "gather_time_s",
         "--mode dp: copying outputs to replica 0, and their gradients back."),
    part(kStepTime, "backward", "backward_time_s", "Clearing the gradients and the backward pass."),
    part(kStepTime, "reduce", "reduce_time_s",
         "--mode dp: summing the replicas' gradients on replica 0."),
    shown(Shown::summary, "train",
          part(kStepTime, "sync", "sync_exposed_time_s",
               "From the end of backward until the gradients are summed, plus the broadcast of "
               "buffers; includes the wait for the slowest rank.")),
    part(kStepTime, "optimizer", "optimizer_time_s", "The parameter update."),
    seconds(
        "replica_forward_time_s",
        "Stored by version 0.1.0 for --mode dp: a replica's forward time; maximum over replicas."),
    seconds(
        "replica_backward_time_s",
        "Stored by version 0.1.0 for --mode dp: a replica's backward time; maximum over replicas."),
    seconds("loader_read_time_s",
            "Not a phase: reading the step's samples; sum over the loader's threads."),
    seconds("loader_decode_time_s",
            "Not a phase: resizing the step's samples; sum over the loader's threads."),
    seconds("loader_augment_time_s",
            "Not a phase: rotating the step's samples; sum over the loader's threads."),
    seconds("core_wait_time_s",
            "Not a phase: a compute thread was ready to run and waited for a core, outside of the "
            "phase sync; the thread of the rank that waited most. Missing if the kernel does not "
            "count it, or none waited."),
    seconds("core_wait_in_sync_time_s",
            "Not a phase: as core_wait_time_s, of the main thread in sync."),
    shown(Shown::groups, "train",
          rate_of("throughput_samples_per_s", "samples/s",
                  "Per step: unpadded samples of all ranks (not those that --sharding pad repeats) "
                  "/ step time, maximum over ranks. The mean is all unpadded samples / the sum of "
                  "the step times.")),
    rate_of("throughput_io_samples_per_s", "samples/s",
            "--ablation: unpadded samples / time of the slowest rank, in trials that only read."),
    rate_of("throughput_synthetic_samples_per_s", "samples/s",
            "--ablation: unpadded samples / time of the slowest rank, in trials on one batch that "
            "stays in memory."),
    rate_of("throughput_nocomm_samples_per_s", "samples/s",
            "--ablation: unpadded samples / time of the slowest rank, in trials without gradient "
            "synchronisation."),
    rate_of("throughput_compute_samples_per_s", "samples/s",
            "--ablation: unpadded samples / time of the slowest rank, in trials with neither "
            "reading nor synchronisation."),
    rate_of("throughput_full_samples_per_s", "samples/s",
            "--ablation: unpadded samples / time of the slowest rank, in trials of whole steps."),
    seconds("epoch_time_s",
            "Sum of the step times of an epoch, without the time between steps; maximum over "
            "ranks. Of whole epochs only."),
    seconds(
        "launch_time_s",
        "On a GPU: the host's time in forward and backward, mean per counted step; maximum over "
        "ranks. As long as these phases on the GPU: the GPU waits for launches."),
    seconds(
        "time_to_loss_s",
        "--target-loss: from the first step to the end of the first evaluation with at most this "
        "loss; maximum over ranks."),
    seconds("training_time_s",
            "From the first step to the end of the last step or evaluation, with all work in "
            "between; maximum over ranks."),
    seconds("time_to_first_step_s",
            "From the moment at which the operating system started the process to the end of the "
            "first step; maximum over ranks."),
    seconds("checkpoint_time_s",
            "From collecting the ranks' states until the checkpoint is on the disk; maximum over "
            "ranks."),
    count_of("collectives_per_step", "1", neither, "Reductions per step."),
    count_of("reduced_bytes_per_step", "B", neither,
             "Bytes that a rank reduces per step, as sent."),
    seconds("communication_s",
            "Sum over buckets of the transfer time, in the steps with communication of the pairs "
            "of steps after the run (--overlap-steps)."),
    seconds("communication_inside_backward_s",
            "The part of communication_s within the backward of the rank that arrives last."),
    seconds("communication_exposed_s",
            "Step time with communication - step time without, in pairs of steps after the run."),
    seconds("communication_hidden_s",
            "max(0, median(communication_inside_backward_s) - max(0, median(backward_longer_s)))."),
    seconds("backward_longer_s",
            "Backward with communication - backward without; each the maximum over ranks."),
    seconds("step_without_communication_s",
            "Step time without communication, in pairs of steps after the run."),
    ratio_of(
        "overlap", more,
        "1 - median(communication_exposed_s) / median(communication_s), interval of the pairs' "
        "ratios; n/a outside 0 to 1, below 6 pairs, or if overlap_balance is not within 0.75 .. "
        "1.25."),
    ratio_of("overlap_balance", neither,
             "(median(communication_exposed_s) + communication_hidden_s) / "
             "median(communication_s): 1 if the times of transfers and of steps agree."),
    seconds("transfer_s",
            "From the arrival of the last rank to the finished sum of a bucket, minimum over "
            "ranks; median over sampled steps (table communication)."),
    ratio_of("train_loss", less,
             "Per step, before the update: sum over ranks of (local mean loss x samples) / all "
             "samples."),
    ratio_of("learning_rate", neither, "The learning rate of each step's update."),
    ratio_of("validation_loss", less,
             "Mean loss over all test samples, each counted once; one value per evaluation."),
    ratio_of("validation_accuracy", more,
             "Share of test samples whose class got the highest score; one value per evaluation."),
    ratio_of("load_imbalance", less,
             "max / mean - 1 over ranks of the mean step time without sync; io: of the job time."),
    joules("gpu_energy_J",
           "--monitor: energy of all GPUs that the driver shows the job, including idle ones, from "
           "the first sample to the last; sum over hosts."),
    joules("gpu_energy_J_per_sample",
           "gpu_energy_J / unpadded samples of all epochs; includes the energy of start, warm-up "
           "and evaluation."),
    joules("gpu_energy_J_per_epoch", "gpu_energy_J_per_sample x the set's training samples."),
    joules("cpu_energy_J",
           "--monitor: energy of all processor packages (RAPL), including other processes' work; "
           "sum over hosts."),
    joules("cpu_energy_J_per_sample", "cpu_energy_J / unpadded samples of all epochs."),
    joules("cpu_energy_J_per_epoch", "cpu_energy_J_per_sample x the set's training samples."),
    Quantity{"peak_gpu_bytes", "B", cost, less,
             "Peak bytes of tensors on a GPU since the first step, without the allocator's cache "
             "and the CUDA context; maximum over ranks and GPUs."},
    shown(Shown::compare, "train",
          Quantity{"peak_rss_bytes", "B", cost, less,
                   "Highest resident set of the process (ru_maxrss, Slurm's MaxRSS); maximum over "
                   "ranks."}),
    count_of("threads", "1", neither, "Threads of the process at the end; maximum over ranks."),
    shown(
        Shown::groups, "io",
        seconds("job_time_s",
                "From the barrier to the end of close, including generation; maximum over ranks.")),
    part(kJobTime, "setup", "setup_time_s",
         "Starting worker processes, creating the shared file and its datasets."),
    part(kJobTime, "generate", "generate_time_s", "Computing records: sum over a rank's records."),
    part(kJobTime, "format", "format_time_s",
         "Formatting records as text: sum over a rank's records."),
    part(kJobTime, "send", "send_time_s",
         "Sending work or records to other processes: sum over a rank's records."),
    part(kJobTime, "wait", "wait_time_s",
         "Waiting for other processes or for work: sum over a rank's records."),
    part(kJobTime, "open", "open_time_s",
         "Opening files, or creating files and datasets: sum over records."),
    part(kJobTime, "write", "write_time_s", "Writing: sum over a rank's records."),
    part(kJobTime, "fsync", "fsync_time_s",
         "fsync (-e), until the bytes are on the device: sum over records."),
    part(kJobTime, "close", "close_time_s",
         "Closing, and renaming with --rename: sum over records."),
    shown(
        Shown::groups, "io",
        rate_of(
            "write_MiBps", "MiB/s",
            "Bytes of all ranks' values (8 per value, also in text) / (last close - first open).")),
    seconds("read_time_s",
            "First timed read of the written records: open + read + parse + close of the slowest "
            "rank."),
    shown(Shown::compare, "io",
          rate_of("read_MiBps", "MiB/s", "Bytes of all ranks' values / read_time_s.")),
    shown(Shown::summary, "io",
          rate_of("files_per_s", "files/s", "Records of all ranks / (last close - first open).")),
    count_of("file_bytes", "B", neither,
             "Bytes that all ranks wrote into files; text has 25 per value."),
    count_of("wrong_elements", "1", less,
             "io: values read back that differ in any bit from what should have been written. "
             "comm: elements of a result that are wrong, of all ranks and messages."),
    shown(
        Shown::groups, "comm",
        Quantity{
            "time_us", "us", cost, less,
            "Time of a call, as --blocking and --average define it. Without a suffix: the "
            "first operation's largest message, out of place. A suffix "
            "(`time_us:allreduce:fp32:sum:1048576`) names the operation, type, reduction and "
            "message size; `:in-place`, `:loaded`, `:host` or `:hosts` follow where they apply."}),
    shown(Shown::summary, "comm",
          rate_of("busbw_GBps", "GB/s",
                  "algbw_GBps x factor: allreduce 2 (n - 1) / n; allgather, reduce_scatter, "
                  "alltoall (n - 1) / n; otherwise 1; none at one rank.")),
    shown(Shown::summary, "comm",
          rate_of("algbw_GBps", "GB/s", "Message size S / time_us; 1e9 bytes per second.")),
    seconds("buckets_time_s",
            "comm --from-model: sum of the times of all buckets' allreduces, each reduced over "
            "ranks by --average.")};

}  // namespace

std::string_view family_of(std::string_view name) {
    return name.substr(0, name.find(':'));
}

std::span<const Quantity> quantities() {
    return kQuantities;
}

const Quantity* find_quantity(std::string_view name) {
    const auto found = std::ranges::find(kQuantities, family_of(name), &Quantity::name);
    return found == kQuantities.end() ? nullptr : &*found;
}

const Quantity& quantity(std::string_view name) {
    const Quantity* found = find_quantity(name);
    if (found == nullptr)
        throw base::Error(fmt::format("internal: no measurement is called '{}'", name));
    return *found;
}

std::vector<std::string> shown_at(Shown place, std::string_view command) {
    std::vector<std::string> names;
    for (const Quantity& one : kQuantities)
        if (one.shown <= place && one.shown_for == command) names.emplace_back(one.name);
    return names;
}

std::vector<const Quantity*> wholes() {
    return {&quantity(kStepTime), &quantity(kJobTime)};
}

std::vector<const Quantity*> parts_of(const Quantity& whole) {
    std::vector<const Quantity*> parts;
    for (const Quantity& one : kQuantities)
        if (one.part_of == whole.name) parts.push_back(&one);
    return parts;
}

const Quantity& part_of(const Quantity& whole, std::string_view phase) {
    for (const Quantity* part : parts_of(whole))
        if (part->phase == phase) return *part;
    throw base::Error(fmt::format("internal: {} has no phase '{}'", whole.name, phase));
}

Better better_of(std::string_view name, Kind kind) {
    if (const Quantity* known = find_quantity(name)) return known->better;
    return kind == cost ? less : kind == rate ? more : neither;
}

}  // namespace ranklab::vocabulary
