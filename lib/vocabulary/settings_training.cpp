#include "vocabulary/settings.hpp"

#include "vocabulary/tables.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;
using S = TrainingSettings;

// Upper limits beyond what any machine can do: larger numbers are typing errors, for which the
// system would fail without a clear message.
constexpr std::int64_t kMostSamples =
    200'000'000;  // below 2^32/20, up to which torch_permutation equals torch.randperm
constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr double kHighestRate = 1e38;  // fp32 ends at 3.4e38

void add_work(Schema& rows) {
    rows.section("What is trained")
        .choice(
            "model", {&S::model, kEssential, kInHeader, kDecidesNumbers, kReadsFiles}, {},
            "the network, or your own: FILE.py[:NAME], whose function model (or NAME) returns a "
            "torch.nn.Module, or FILE.pt in TorchScript")
        .or_file(".py,.pt")
        .text("input-shape", {&S::input_shape, kDecidesNumbers}, "SIZES",
              "FILE: shape of one input sample, as 3x224x224, or 128:int64 for tokens; separate "
              "several inputs by commas")
        .integer("classes", {&S::classes, kDecidesNumbers}, {1, 1'000'000'000},
                 "FILE: number of classes (of tokens: the vocabulary's size)")
        .text("target-shape", {&S::target_shape, kDecidesNumbers}, "SIZES|same",
              "FILE: shape of the target, which holds values, or class numbers with --classes")
        .choice(
            "loss", {&S::loss, kDecidesNumbers}, {"cross-entropy", "nll", "mse", "l1"},
            "FILE: the loss (default: the file's own; otherwise cross-entropy for classes, mse for "
            "values)")
        .choice("data", {&S::data, kEssential, kInHeader, kDecidesNumbers}, {},
                "the data set (default: the model's own)")
        // Not compared: folders with equal sample counts are taken for the same work.
        .text("data-dir", {&S::data_dir, kEssential, Role::bookkeeping, kReadsFiles}, "DIR",
              "folder of the data set's files (default: $RANKLAB_DATA, then the usual folders)")
        .text("inputs", {&S::inputs, Role::bookkeeping, kReadsFiles}, "FILES",
              "files of the inputs, one per input, separated by commas (npy: X.npy; hdf5: "
              "FILE:/DATASET); the first axis counts samples")
        .text("targets", {&S::targets, Role::bookkeeping, kReadsFiles}, "FILE",
              "file of the targets that belong to --inputs")
        .integer("width", {&S::width, kDecidesNumbers}, {1, 65536},
                 "divide the channels inside the model by N, for small tests of the same depth")
        .choice("full-scale", {&S::full_scale, kDecidesNumbers}, {"on", "off"},
                "unet3d: include the innermost layer, down to one voxel")
        .real("lambda-rho", {&S::lambda_rho, kDecidesNumbers}, 0,
              "unet3d: weight of the density term in the loss");
}

void add_length(Schema& rows) {
    rows.integer("batch-size", {&S::batch_size, kEssential, kInHeader, kKeepsSampleWork},
                 {1, kMostBatch},
                 "samples per rank and step (default: the model's, 64 for mnist-cnn)")
        .integer("global-batch-size",
                 {&S::global_batch_size, kEssential, kDecidesNumbers, kKeepsSampleWork},
                 {1, kMostBatch}, "samples per step over all ranks, instead of --batch-size")
        .instead_of("batch-size")
        // Not compared: runs are compared by the ranks that took part.
        .integer("expected-ranks", {&S::expected_ranks, Role::bookkeeping}, {1, kMostBatch},
                 "in a config file: number of ranks that it was made for; a run on fewer needs "
                 "--accumulate or --batch-size")
        .formerly("made-for-ranks")
        .integer("epochs", {&S::epochs, kEssential, kInHeader, Role::length}, {1, 1'000'000'000},
                 "passes over the training samples")
        .integer(
            "steps", {&S::steps, kEssential, kInHeader, Role::length}, 1,
            "counted steps after the warm-up, instead of --epochs (default: 100 without --epochs)")
        .instead_of("epochs")
        .text("target-ci", {&S::target_ci, Role::times}, "PERCENT", target_help("--steps"));
}

void add_optimizer(Schema& rows) {
    rows.choice("optimizer", {&S::optimizer, kDecidesNumbers}, {},
                "the optimizer (default: the model's, adadelta for mnist-cnn)")
        .flag("fused-optimizer", {&S::fused_optimizer, kDecidesNumbers},
              "use LibTorch's fused kernel for --optimizer sgd or adam on the CPU, as on a GPU")
        .real("momentum", {&S::momentum, kDecidesNumbers}, 0,
              "momentum of --optimizer sgd (default: the model's, 0.9 for resnets)")
        .real("clip-gradients", {&S::clip_gradients, kDecidesNumbers}, 1e-12,
              "scale the gradients, summed over ranks, so that their norm is at most this")
        .choice("ops", {&S::ops, kDecidesNumbers}, {"ranklab", "libtorch"},
                "CPU kernels of dropout, pooling, Adam and Adadelta: ranklab's or LibTorch's "
                "(docs/precision.md; default: ranklab, on a GPU libtorch)")
        .when_absent("libtorch", {.other = "device", .values = {"cuda"}})
        .when_absent("ranklab")
        .choice("dropout", {&S::dropout, kDecidesNumbers}, {"on", "off"},
                "the model's dropout layers")
        .choice("shuffle", {&S::shuffle, kDecidesNumbers, kKeepsSampleWork}, {"on", "off"},
                "shuffle the samples in each epoch, by seed + epoch")
        .choice("sharding", {&S::sharding, Role::coordination, kDecidesNumbers}, {"pad", "exact"},
                "pad: equal shares per rank, as PyTorch's DistributedSampler, with repeated "
                "samples that are not counted; exact: every sample once, with a weighted mean");
}

void add_input(Schema& rows) {
    rows.section("How samples are read")
        .integer("train-samples", {&S::train_samples, kDecidesNumbers, kKeepsSampleWork},
                 {1, kMostSamples},
                 "samples per epoch (default: all; of volumes, crops of 16 times their size)")
        .integer("validation-samples", {&S::validation_samples, kKeepsSampleWork},
                 {1, kMostSamples}, "samples per evaluation (default: as for --train-samples)")
        .choice("input", {&S::input, kDecidesNumbers}, {"real", "synthetic", "io-only"},
                "real: read the data; synthetic: reuse the first batch; io-only: read batches and "
                "compute nothing")
        .integer("workers", &S::workers, {0, kMostThreads},
                 "loader threads, which read, decode and augment ahead; 0: the training thread "
                 "does so (default: the model's)")
        .integer("loader-cost-us", &S::loader_cost_us, {0, 10'000'000},
                 "us of CPU time that the loader adds to each training sample, to emulate decoding "
                 "and transforms")
        .integer("prefetch", &S::prefetch, {1, 65536}, "maximum number of batches made ahead")
        .integer(
            "image-size", {&S::image_size, kDecidesNumbers}, {1, 16384},
            "height and width that images are resized to (default: the model's, 224 for resnets)")
        .integer("sequence-length", {&S::sequence_length, kDecidesNumbers}, {1, 1 << 20},
                 "tokens per sample of a language model (default: the model's context)")
        .choice("volume-access", &S::volume_access, {"lowmem", "inmem"},
                "lowmem: read crops from the disk; inmem: keep the whole file in memory")
        .integer("crop-edge", {&S::crop_edge, kDecidesNumbers}, {1, 2048},
                 "edge of the crops of volumes (default: the model's, 64)")
        .choice("rotate", {&S::rotate, kDecidesNumbers}, {"on", "off"},
                "rotate each crop by one of the cube's 24 rotations")
        .flag("rotate-vectors", {&S::rotate_vectors, kDecidesNumbers},
              "rotate the components of velocities, too (the published training program does not)");
}

void add_ablation(Schema& rows) {
    rows.section("What limits the speed")
        .flag("ablation", {&S::ablation, kEssential},
              "instead of a run, alternate trials of --steps steps (20): input only, without "
              "input, without communication, without both, and the whole step")
        .integer("repetitions", {&S::repetitions, Role::times}, {1, 10000},
                 "with --ablation: trials of each kind (default: 3)");
}

void add_rate(Schema& rows) {
    rows.section("Learning rate")
        .real("lr", {&S::lr, kEssential, kDecidesNumbers, kKeepsSampleWork}, {0, kHighestRate},
              "learning rate for the base batch size (default: the model's or the optimizer's)")
        .choice("lr-schedule", {&S::lr_schedule, kDecidesNumbers, kKeepsSampleWork}, {},
                "step: lr x gamma^epoch; cosine: falls to --end-lr at the last step; "
                "cosine-published: as in the U-Net tutorial's code (default: the model's)")
        .real("gamma", {&S::gamma, kDecidesNumbers, kKeepsSampleWork}, 0,
              "factor of --lr-schedule step (default: the model's, 0.7 for mnist-cnn)")
        .choice("lr-scaling", {&S::lr_scaling, kDecidesNumbers, kKeepsSampleWork}, {},
                "how lr grows with global / base batch size (default: the model's: sqrt for "
                "unet3d, otherwise none)")
        .integer("base-batch-size", {&S::base_batch_size, kDecidesNumbers, kKeepsSampleWork}, 1,
                 "global batch size to which --lr belongs (default: the model's, 32 for unet3d, 64 "
                 "for mnist-cnn)")
        .integer("lr-warmup-steps", {&S::lr_warmup_steps, kDecidesNumbers, kKeepsSampleWork}, 0,
                 "steps over which the rate rises from 0, if it is scaled and the global batch is "
                 "above the base batch (default: the model's, 128 for unet3d, otherwise 0)")
        .real("end-lr", {&S::end_lr, kDecidesNumbers, kKeepsSampleWork}, 0,
              "final rate of the cosine schedules")
        .integer(
            "lr-total-steps", {&S::lr_total_steps, kDecidesNumbers, kKeepsSampleWork}, 1,
            "length of the cosine schedules in steps (default: the whole run; "
            "cosine-published with --epochs: epochs x (samples / global batch), rounded down)");
}

void add_speed(Schema& rows) {
    rows.section("Precision and device")
        .choice("precision", {&S::precision, kEssential, kDecidesNumbers},
                {"fp32", "tf32", "bf16", "fp16", "fp64"},
                "bf16, fp16: fp32 parameters with autocast, fp16 with loss scaling; tf32: on GPUs "
                "only (docs/precision.md)")
        .choice("device", {&S::device, kDecidesNumbers}, {"auto", "cpu", "cuda"},
                "where to compute; auto: on GPUs if every rank sees one")
        .no_option({"gpus", "ngpus", "num-gpus", "gpus-per-node", "devices", "num-devices"},
                   "a rank computes on one GPU, and the launcher starts the ranks: mpirun -n N "
                   "ranklab train --device cuda ...; with --mode dp one rank takes --replicas GPUs")
        // Not compared: runs are compared by the format that was used, the setting channels-last.
        .choice("memory-format", {&S::memory_format, Role::bookkeeping},
                {"auto", "contiguous", "channels-last"},
                "memory format of images, volumes and convolutions; auto: channels-last for the "
                "ResNets and the U-Net (on a GPU only in 16 bits), otherwise contiguous; a run "
                "stores the choice as the setting channels-last")
        .flag("channels-last", {&S::channels_last, kDecidesNumbers},
              "--memory-format channels-last: channels innermost in memory")
        .instead_of("memory-format")
        .flag("jit", {&S::jit, kDecidesNumbers},
              "run the network as a traced, optimised graph of TorchScript")
        .flag("cuda-graph", {&S::cuda_graph, kDecidesNumbers},
              "on a GPU: launch forward and backward as one CUDA graph")
        .choice("cudnn-benchmark", &S::cudnn_benchmark, {"on", "off"},
                "on a GPU: let cuDNN try its algorithms and keep the fastest");
}

void add_way(Schema& rows) {
    rows.section("Parallel training")
        .choice("mode", {&S::mode, kEssential, kInHeader, Role::coordination, kDecidesNumbers},
                {"single", "dp", "ddp"},
                "ddp: one replica per rank; dp: replicas in threads of one rank, one per GPU with "
                "--device cuda (default: single at one rank, ddp above)")
        .integer("replicas", {&S::replicas, Role::coordination, kDecidesNumbers}, {1, kMostThreads},
                 "replicas of --mode dp, which share the rank's batch and threads (default: 2, on "
                 "GPUs one per visible GPU)")
        .choice("sync", {&S::sync, kEssential, kInHeader, Role::coordination, kDecidesNumbers}, {},
                "how gradients are reduced (default: bucketed for ddp; single and dp have none)")
        .choice("backend", {&S::backend, Role::coordination}, {},
                "library that carries the gradients (default: nccl between GPUs, otherwise mpi)")
        .real("bucket-cap-mb", {&S::bucket_cap_mb, Role::coordination}, {0.001, 1e6},
              "size of gradient buckets in MiB (the first bucket: at most 1)")
        .text("buckets", {&S::buckets, Role::request}, "FILE",
              "with --dry-run: write a step's gradient buckets as CSV, for `ranklab comm "
              "--from-model FILE`")
        .choice("mpi-progress", {&S::progress, Role::coordination, kFollowsRanks},
                {"none", "poll", "thread"},
                "what drives MPI progress during backward: nothing, polls from backward's hooks, "
                "or a thread (default: thread between hosts or with a spare core, otherwise none)")
        .formerly("progress")
        .choice("transfer", {&S::transfer, Role::coordination, kFollowsRanks},
                {"background", "blocking"},
                "allreduce of gradients; background: non-blocking; blocking: blocking, once all "
                "ranks are ready (default: background between hosts, blocking within one)")
        .choice("compress", {&S::compress, kBetweenRanks, kDecidesNumbers},
                {"none", "fp16", "bf16"}, "element type to which gradients are rounded for sending")
        .integer("accumulate", {&S::accumulate, kDecidesNumbers, kKeepsSampleWork}, {1, 100'000},
                 "micro-batches per step; gradients are summed over ranks after the last one")
        .integer("zero", {&S::zero, Role::coordination, kDecidesNumbers}, {0, 3},
                 "ZeRO stage: what the ranks shard instead of keeping it whole; 1: the optimizer's "
                 "state; 2: gradients, too; 3: parameters, too (docs/sharding.md)")
        .when_absent("0")
        .integer("prefetch-blocks", {&S::prefetch_blocks, Role::coordination}, {0, 1000},
                 "blocks that --zero 3 gathers ahead of the block in use")
        .when_absent("1")
        .flag("no-broadcast-buffers",
              {&S::no_broadcast_buffers, Role::coordination, kDecidesNumbers},
              "keep each rank's own BatchNorm statistics, instead of broadcasting rank 0's before "
              "each forward")
        .integer("overlap-steps", {&S::overlap_steps, Role::aside, kBetweenRanks}, {0, 1'000'000},
                 "pairs of steps with and without communication, made after the run to measure the "
                 "overlap (default: steps/10, at least 6, at most 20, with ddp on several ranks; 0 "
                 "below 20 steps)")
        .text("inject-delay", &S::inject_delay, "RANK:PHASE:MS",
              "delay a phase of one rank, to test that the report names it");
}

void add_views(Schema& rows) {
    rows.section("What is recorded")
        .text("profile", {&S::profile, kKeepsSampleWork}, "lines,layers",
              "lines: time per line of the training loop, as line_profiler's table; layers: time "
              "and FLOPs per layer of the network")
        .real(
            "flops-per-token", {&S::flops_per_token, Role::bookkeeping}, 1,
            "language models: FLOPs of training per token, for MFU (default: the model's formula; "
            "for your own network, 3 times the counted products)")
        .real("peak-tflops", {&S::peak_tflops, Role::bookkeeping}, 1e-6,
              "language models: TFLOP/s of a GPU, or of a rank's threads, for MFU (default: the "
              "GPU's data sheet; on a CPU as measured)")
        .text("tensorboard", {&S::tensorboard, Role::kept}, "DIR",
              "write curves for TensorBoard to this folder, every 10 steps")
        .text("trace", {&S::trace, Role::kept}, "FILE.json",
              "write a few steps as LibTorch's profiler sees them, for Perfetto and TensorBoard: "
              "FILE.rankN.json of each rank, FILE.json of all ranks")
        .text("trace-window", {&S::trace_window, Role::bookkeeping}, "FIRST:COUNT",
              "the steps of --trace and --nvtx, counted from 1 (default: three after the warm-up)")
        .flag("nvtx", {&S::nvtx, Role::bookkeeping},
              "for nsys and ncu: in the steps of --trace-window, mark operators, phases and "
              "buckets as NVTX ranges, and switch the CUDA profiler on")
        .flag(
            "log-lines", {&S::log_lines, Role::bookkeeping},
            "print lines while training as the PyTorch examples do, for scripts that read them: "
            "rank 0's loss every 10 steps and s/iteration every 100, and each epoch's time, rate, "
            "losses and accuracy");
}

void add_checks(Schema& rows) {
    rows.section("What is checked")
        .choice("evaluate", {&S::evaluate, Role::aside}, {"epoch", "end", "off"},
                "evaluate on the test samples, after each epoch and at the end, or once at the end "
                "(default: epoch with --epochs, off with --steps)")
        .integer("eval-batch-size", {&S::eval_batch_size, Role::aside}, {1, kMostBatch},
                 "samples per evaluation batch and rank (default: 1000, or --batch-size if a "
                 "sample has over 10,000 numbers)")
        .real("target-loss", {&S::target_loss, Role::aside}, 0,
              "measure the time until an evaluation has at most this loss; the run goes on")
        .choice("check-parameters", {&S::check_parameters, Role::aside}, {"step", "end"},
                "when to compare the parameters of all ranks, bit by bit")
        .text("save-parameters", {&S::save_parameters, Role::kept}, "FILE",
              "write rank 0's final parameters to this file (HDF5, an array each, by name)");
    rows.section("Checkpoints")
        .text("checkpoint", {&S::checkpoint, Role::kept}, "DIR",
              "write DIR/checkpoint.h5, from which --resume continues (DIR is made if missing; one "
              "that is there is refused without --resume)")
        .integer("checkpoint-every", {&S::checkpoint_every, Role::aside}, 1,
                 "steps between checkpoints (default: one at each epoch's end); the end of the run "
                 "writes one, too")
        .flag("resume", {&S::resume, Role::kept},
              "continue from the checkpoint in --checkpoint DIR; start from the beginning if there "
              "is none");
}

}  // namespace

const Schema& training_settings() {
    static const Schema rows = [] {
        Schema made;
        add_work(made);
        add_length(made);
        add_optimizer(made);
        add_input(made);
        add_ablation(made);
        add_rate(made);
        add_speed(made);
        add_way(made);
        add_views(made);
        add_checks(made);
        relate(made, "train");
        return made;
    }();
    return rows;
}

}  // namespace ranklab::vocabulary
