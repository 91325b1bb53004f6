#include "report/model/definitions.hpp"

#include <algorithm>
#include <array>

namespace ranklab::report::model {
namespace {

constexpr std::array kDefinitions{
    Definition{"step_time_s", "s",
               "A whole training step, from before its first sample is gathered to after the optimizer; per "
               "step the maximum over ranks, since a step is over when the last rank is."},
    Definition{"data_time_s", "s",
               "Data wait: until the loader has the next batch. With --workers 0 the batch is made here."},
    Definition{"copy_time_s", "s",
               "Making the model's tensors of those bytes: into the device's memory, in the type that "
               "computes, normalised."},
    Definition{"scatter_time_s", "s", "--mode dp: the replicas' parts of the batch."},
    Definition{"replicate_time_s", "s",
               "--mode dp: copying replica 0's parameters and buffers into every other replica."},
    Definition{"forward_time_s", "s", "The network and the loss."},
    Definition{"gather_time_s", "s",
               "--mode dp: bringing the outputs together on replica 0, and handing their gradient back."},
    Definition{"backward_time_s", "s", "Clearing the gradients and the backward pass."},
    Definition{"reduce_time_s", "s", "--mode dp: adding the replicas' gradients to replica 0's."},
    Definition{"sync_exposed_time_s", "s",
               "The gradient synchronisation that the step waits for: from the end of backward until the "
               "gradients are there, and the broadcast of buffers; waiting for the slowest rank is in it."},
    Definition{"optimizer_time_s", "s", "The parameter update."},
    Definition{"replica_forward_time_s", "s",
               "--mode dp: each replica's own forward time inside its thread; the row is of the maximum over "
               "replicas."},
    Definition{"replica_backward_time_s", "s",
               "--mode dp: each replica's own backward time inside its thread; the row is of the maximum "
               "over replicas."},
    Definition{
        "loader_read_time_s", "s",
        "Not a phase: reading the step's samples, added up over the loader's threads, beside the steps."},
    Definition{"loader_decode_time_s", "s",
               "Not a phase: resizing the step's samples, added up over the loader's threads."},
    Definition{"loader_augment_time_s", "s",
               "Not a phase: turning the step's samples, added up over the loader's threads."},
    Definition{"throughput_samples_per_s", "samples/s",
               "Per step: true samples of all ranks (repeats of the sampler not counted) / maximum over "
               "ranks of the step time. The mean is all true samples / the sum of those times."},
    Definition{
        "throughput_io_samples_per_s", "samples/s",
        "--ablation: true samples / time of the slowest rank, of trials that only read; a sample a trial."},
    Definition{"throughput_synthetic_samples_per_s", "samples/s",
               "--ablation: the same of trials on one batch that stays in memory."},
    Definition{"throughput_nocomm_samples_per_s", "samples/s",
               "--ablation: the same of trials without gradient synchronisation."},
    Definition{"throughput_compute_samples_per_s", "samples/s",
               "--ablation: the same of trials with neither reading nor synchronisation."},
    Definition{"throughput_full_samples_per_s", "samples/s",
               "--ablation: the same of trials of the whole step."},
    Definition{"epoch_time_s", "s",
               "Wall time of an epoch's steps, without the evaluation; maximum over ranks."},
    Definition{"time_to_first_step_s", "s",
               "From the kernel's start of the process to the end of the first step; maximum over ranks."},
    Definition{"checkpoint_time_s", "s",
               "From the comparison of the parameters before a checkpoint to its file being on the disk; "
               "maximum over ranks."},
    Definition{"collectives_per_step", "1", "Reductions a step."},
    Definition{"reduced_bytes_per_step", "B", "Bytes of those reductions on this rank, as they travel."},
    Definition{"communication_s", "s", "Sum over buckets of the transfer, of the steps with communication."},
    Definition{"communication_inside_backward_s", "s",
               "Of that, the part inside the backward of the rank that came last."},
    Definition{"communication_exposed_s", "s",
               "Step time with communication - step time without, of pairs of steps after the run."},
    Definition{"communication_hidden_s", "s",
               "median(inside backward) - median(backward longer), each at least 0."},
    Definition{"backward_longer_s", "s",
               "Maximum over ranks of the backward phase with communication, minus that without."},
    Definition{"step_without_communication_s", "s",
               "The step time of the pair's step that synchronises nothing."},
    Definition{"overlap", "1",
               "1 - median(communication_exposed_s) / median(communication_s), with a bootstrap interval; "
               "n/a outside 0 to 1, of fewer than 6 pairs, or where overlap_balance is not within "
               "0.75 .. 1.25."},
    Definition{"overlap_balance", "1",
               "(median(exposed) + hidden) / median(total): 1 where stamps and step times agree."},
    Definition{"transfer_s", "s",
               "Table communication: of the ranks' times from all having come to the sum being there, the "
               "shortest; median over the counted steps."},
    Definition{"train_loss", "1",
               "Per step: sum over ranks of (local mean loss x local samples) / samples of all ranks, before "
               "the update."},
    Definition{"learning_rate", "1", "Per step: the rate of its update."},
    Definition{"validation_loss", "1",
               "Sum over all test samples, each counted once, / their number; one per evaluation."},
    Definition{"validation_accuracy", "1",
               "Test samples whose class was the most likely one / all test samples; one per evaluation."},
    Definition{"load_imbalance", "1",
               "max / mean - 1 over ranks: of the mean time per step in all phases but sync; of io: of the "
               "job time."},
    Definition{"peak_rss_bytes", "B",
               "getrusage's ru_maxrss at the end, what Slurm calls MaxRSS; maximum over ranks."},
    Definition{"threads", "1", "Threads of the process at the end; maximum over ranks."},
    Definition{"job_time_s", "s",
               "From the barrier to the end of close: open + write + close of the strategy, generating "
               "included; maximum over ranks."},
    Definition{"setup_time_s", "s",
               "The verb open: worker processes started, the shared file and its datasets created."},
    Definition{"generate_time_s", "s", "Computing the records: the sum over a rank's records."},
    Definition{"format_time_s", "s", "Making text of the records: the sum over a rank's records."},
    Definition{"open_time_s", "s",
               "Opening files, or creating files and datasets: the sum over a rank's records."},
    Definition{"write_time_s", "s", "Writing: the sum over a rank's records."},
    Definition{"fsync_time_s", "s", "Until the bytes are on the disk (-e): the sum over a rank's records."},
    Definition{"close_time_s", "s", "Closing, and the rename of --rename: the sum over a rank's records."},
    Definition{"send_time_s", "s", "Handing work or records to others: the sum over a rank's records."},
    Definition{"wait_time_s", "s", "Waiting for others or for work: the sum over a rank's records."},
    Definition{"write_MiBps", "MiB/s",
               "Aggregate bandwidth: bytes of all ranks / (last close - first open)."},
    Definition{"files_per_s", "files/s", "Records of all ranks / (last close - first open)."},
    Definition{
        "read_time_s", "s",
        "The first timed pass over what was written: open + read + parse + close of the slowest rank."},
    Definition{"read_MiBps", "MiB/s", "Bytes of all ranks / read_time_s."},
    Definition{"wrong_elements", "1", "Values read back that are not what was to be written, bit by bit."}};

}  // namespace

std::span<const Definition> definitions() {
    return kDefinitions;
}

const Definition* find_definition(const std::string& name) {
    const auto found = std::find_if(kDefinitions.begin(), kDefinitions.end(),
                                    [&](const Definition& one) { return name == one.name; });
    return found == kDefinitions.end() ? nullptr : &*found;
}

}  // namespace ranklab::report::model
