#include "vocabulary/settings.hpp"

namespace ranklab::vocabulary {
namespace {

using namespace options::marks;
using options::Role;
using options::Schema;

const options::Relation kVolumes{
    .other = "model", .because = "it is for models that take volumes", .property = "volumes"};

const options::Relation kOwnData{
    .other = "data", .because = "it names the files of your own data", .property = "own-files"};

// Limits beyond any machine, which users do not reach: larger numbers are typing errors, for which
// the system would fail without a clear message.
constexpr std::int64_t kMostSamples =
    200'000'000;  // below 2^32/20, up to which torch_permutation equals torch.randperm
constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr double kHighestRate = 1e38;  // what fp32 holds is 3e38

constexpr std::nullopt_t kOpen = std::nullopt;  // the experiment settles it

void add_work(Schema& rows) {
    rows.section("What is trained")
        .choice("model", {}, "mnist-cnn", "the network, or FILE.pt: your own in TorchScript")
        .or_file(".pt")
        .bind(&TrainingSettings::model, kEssential, kInHeader, kDecidesNumbers)
        .text("input-shape", "SIZES", kOpen,
              "FILE.pt: shape of one input sample, as 3x224x224, or 128:int64 for tokens; separate "
              "several inputs by commas")
        .bind(&TrainingSettings::input_shape, kDecidesNumbers)
        .integer("classes", {1, 1'000'000'000}, kOpen,
                 "FILE.pt: number of classes (of tokens: the vocabulary's size)")
        .bind(&TrainingSettings::classes, kDecidesNumbers)
        .text("target-shape", "SIZES|same", kOpen,
              "FILE.pt: shape of the target, which holds values, or classes with --classes")
        .bind(&TrainingSettings::target_shape, kDecidesNumbers)
        .choice("loss", {"cross-entropy", "nll", "mse", "l1"}, kOpen,
                "FILE.pt: the loss (default: cross-entropy for classes, mse for values)")
        .bind(&TrainingSettings::loss, kDecidesNumbers)
        .choice("data", {}, kOpen, "the data set (default: the model's own)")
        .bind(&TrainingSettings::data, kEssential, kInHeader, kDecidesNumbers)
        .text("data-dir", "DIR", kOpen,
              "folder of the data set's files (default: $RANKLAB_DATA, then the usual folders)")
        .bind(&TrainingSettings::data_dir, kEssential,
              Role::bookkeeping)  // sample counts are compared
        .text("inputs", "FILES", kOpen,
              "files of the inputs, one per input, separated by commas (npy: X.npy; hdf5: "
              "FILE:/DATASET); the first axis counts samples")
        .bind(&TrainingSettings::inputs, Role::bookkeeping)
        .needs(kOwnData)
        .text("targets", "FILE", kOpen, "file of the targets that belong to --inputs")
        .bind(&TrainingSettings::targets, Role::bookkeeping)
        .needs(kOwnData)
        .integer("width", {1, 65536}, "1",
                 "divide the channels inside the model by N, for small tests of the same depth")
        .bind(&TrainingSettings::width, kDecidesNumbers)
        .choice("full-scale", {"on", "off"}, "on",
                "unet3d: include the innermost layer, down to one voxel")
        .bind(&TrainingSettings::full_scale, kDecidesNumbers)
        .needs(kVolumes)
        .real("lambda-rho", 0, "0", "unet3d: weight of the density term in the loss")
        .bind(&TrainingSettings::lambda_rho, kDecidesNumbers)
        .needs(kVolumes);
}

void add_length(Schema& rows) {
    rows.integer("batch-size", {1, kMostBatch}, kOpen,
                 "samples per rank and step (default: the model's, 64 for mnist-cnn)")
        .bind(&TrainingSettings::batch_size, kEssential, kInHeader, kKeepsSampleWork)
        .integer("global-batch-size", {1, kMostBatch}, kOpen,
                 "samples per step over all ranks, instead of --batch-size")
        .bind(&TrainingSettings::global_batch_size, kEssential, kDecidesNumbers, kKeepsSampleWork)
        .instead_of("batch-size")
        .integer("expected-ranks", {1, kMostBatch}, kOpen,
                 "in a config file: number of ranks that it was made for; fewer need --accumulate "
                 "or --batch-size")
        .formerly("made-for-ranks")
        .bind(&TrainingSettings::expected_ranks,
              Role::bookkeeping)  // the ranks that took part are compared
        .integer("epochs", {1, 1'000'000'000}, kOpen, "passes over the training samples")
        .bind(&TrainingSettings::epochs, kEssential, kInHeader, Role::length)
        .integer(
            "steps", 1, kOpen,
            "counted steps after the warm-up, instead of --epochs (default: 100 without --epochs)")
        .bind(&TrainingSettings::steps, kEssential, kInHeader, Role::length)
        .instead_of("epochs")
        .append(target_setting<TrainingSettings>("--steps"))
        .needs({.other = "steps",
                .because =
                    "it makes as many steps as the interval needs, but epochs fix their number"})
        .excludes_each({"checkpoint", "ablation"}, "the number of steps is not known before");
}

void add_optimizer(Schema& rows) {
    rows.choice("optimizer", {}, kOpen,
                "the optimizer (default: the model's, adadelta for mnist-cnn)")
        .bind(&TrainingSettings::optimizer, kDecidesNumbers)
        .flag("fused-optimizer",
              "use LibTorch's fused kernel for --optimizer sgd or adam on the CPU, as on a GPU")
        .bind(&TrainingSettings::fused_optimizer, kDecidesNumbers)
        .real("momentum", 0, kOpen,
              "momentum of --optimizer sgd (default: the model's, 0.9 for resnets)")
        .bind(&TrainingSettings::momentum, kDecidesNumbers)
        .choice("ops", {"ranklab", "libtorch"}, kOpen,
                "CPU kernels of dropout, pooling, Adam and Adadelta: ranklab's or LibTorch's "
                "(docs/precision.md; default: ranklab, on a GPU libtorch)")
        .bind(&TrainingSettings::ops, kDecidesNumbers)
        .when_absent("libtorch", {.other = "device", .values = {"cuda"}})
        .when_absent("ranklab")
        .choice("dropout", {"on", "off"}, "on", "the model's dropout layers")
        .bind(&TrainingSettings::dropout, kDecidesNumbers)
        .choice("shuffle", {"on", "off"}, "on",
                "shuffle the samples in each epoch, by seed + epoch")
        .bind(&TrainingSettings::shuffle, kDecidesNumbers, kKeepsSampleWork)
        .choice("sharding", {"pad", "exact"}, "pad",
                "pad: equal shares per rank, as PyTorch's DistributedSampler, with repeated "
                "samples that are not counted; exact: every sample once, with a weighted mean")
        .bind(&TrainingSettings::sharding, Role::coordination, kDecidesNumbers);
}

void add_input(Schema& rows) {
    rows.section("How samples are read")
        .integer("train-samples", {1, kMostSamples}, kOpen,
                 "samples per epoch (default: all; of volumes, crops of 16 times their size)")
        .bind(&TrainingSettings::train_samples, kDecidesNumbers, kKeepsSampleWork)
        .integer("validation-samples", {1, kMostSamples}, kOpen,
                 "samples per evaluation (default: as for --train-samples)")
        .bind(&TrainingSettings::validation_samples, kKeepsSampleWork)
        .choice("input", {"real", "synthetic", "io-only"}, "real",
                "real: read the data; synthetic: reuse the first batch; io-only: read batches and "
                "compute nothing")
        .bind(&TrainingSettings::input, kDecidesNumbers)
        .integer("workers", {0, kMostThreads}, kOpen,
                 "loader threads, which read, decode and augment ahead; 0: the training thread "
                 "does it (default: the model's)")
        .bind(&TrainingSettings::workers)
        .integer("loader-cost-us", {0, 10'000'000}, "0",
                 "us of CPU time that the loader adds to each training sample, to emulate decoding "
                 "and transforms")
        .bind(&TrainingSettings::loader_cost_us)
        .integer("prefetch", {1, 65536}, "2", "maximum number of batches made ahead")
        .bind(&TrainingSettings::prefetch)
        .integer(
            "image-size", {1, 16384}, kOpen,
            "height and width that images are resized to (default: the model's, 224 for resnets)")
        .bind(&TrainingSettings::image_size, kDecidesNumbers)
        .excludes({.other = "model",
                   .because = "it takes volumes; --crop-edge is for these",
                   .property = "volumes"})
        .choice("volume-access", {"lowmem", "inmem"}, "lowmem",
                "lowmem: read crops from the disk; inmem: keep the whole file in memory")
        .bind(&TrainingSettings::volume_access)
        .needs(kVolumes)
        .integer("crop-edge", {1, 2048}, kOpen,
                 "edge of the crops of volumes (default: the model's, 64)")
        .bind(&TrainingSettings::crop_edge, kDecidesNumbers)
        .needs(kVolumes)
        .choice("rotate", {"on", "off"}, "on", "rotate each crop by one of the cube's 24 rotations")
        .bind(&TrainingSettings::rotate, kDecidesNumbers)
        .needs(kVolumes)
        .flag("rotate-vectors", "rotate the components of velocities, too (the original does not)")
        .bind(&TrainingSettings::rotate_vectors, kDecidesNumbers)
        .needs(kVolumes);
}

void add_ablation(Schema& rows) {
    rows.section("What limits it")
        .flag("ablation",
              "instead of a run, alternate trials of --steps steps (20): input only, without "
              "input, without communication, without both, and the whole step")
        .bind(&TrainingSettings::ablation, kEssential)
        .excludes_each({"epochs", "checkpoint", "save-parameters", "time-limit"},
                       "it makes trials of --steps steps")
        .needs({.other = "input", .values = {"real"}, .because = "its trials set the input"})
        .integer("repetitions", {1, 10000}, kOpen,
                 "with --ablation: trials of each kind (default: 3)")
        .bind(&TrainingSettings::repetitions, Role::times)
        .needs({.other = "ablation",
                .because = "a command makes one run; ranklab sweep train --repeat N makes several"})
        .text("benchy-json", "FILE", kOpen, "with --ablation: write the trials as benchy's JSON")
        .bind(&TrainingSettings::benchy_json, Role::kept)
        .needs({.other = "ablation"});
}

void add_rate(Schema& rows) {
    rows.section("Learning rate")
        .real("lr", {0, kHighestRate}, kOpen,
              "learning rate for the base batch size (default: the model's or the optimizer's)")
        .bind(&TrainingSettings::lr, kEssential, kDecidesNumbers, kKeepsSampleWork)
        .choice("lr-schedule", {}, kOpen,
                "step: lr x gamma^epoch; cosine: falls to --end-lr at the last step; "
                "cosine-published: as in the U-Net tutorial's code (default: the model's)")
        .bind(&TrainingSettings::lr_schedule, kDecidesNumbers, kKeepsSampleWork)
        .real("gamma", 0, kOpen,
              "factor of --lr-schedule step (default: the model's, 0.7 for mnist-cnn)")
        .bind(&TrainingSettings::gamma, kDecidesNumbers, kKeepsSampleWork)
        .choice("lr-scaling", {}, kOpen,
                "how lr grows with global / base batch size (default: the model's: sqrt for "
                "unet3d, otherwise none)")
        .bind(&TrainingSettings::lr_scaling, kDecidesNumbers, kKeepsSampleWork)
        .integer("base-batch-size", 1, kOpen,
                 "global batch size to which --lr belongs (default: the model's, 32 for unet3d, 64 "
                 "for mnist-cnn)")
        .bind(&TrainingSettings::base_batch_size, kDecidesNumbers, kKeepsSampleWork)
        .integer("lr-warmup-steps", 0, kOpen,
                 "steps over which the rate rises from 0, if it is scaled and the global batch is "
                 "above the base batch (default: the model's, 128 for unet3d, otherwise 0)")
        .bind(&TrainingSettings::lr_warmup_steps, kDecidesNumbers, kKeepsSampleWork)
        .real("end-lr", 0, "0", "final rate of the cosine schedules")
        .bind(&TrainingSettings::end_lr, kDecidesNumbers, kKeepsSampleWork)
        .integer("lr-total-steps", 1, kOpen,
                 "length of the cosine schedules in steps (default: the whole run; "
                 "cosine-published with --epochs: epochs x (samples / global batch), rounded down)")
        .bind(&TrainingSettings::lr_total_steps, kDecidesNumbers, kKeepsSampleWork)
        .needs({.other = "lr-schedule", .values = {"cosine", "cosine-published"}});
}

void add_speed(Schema& rows) {
    rows.section("What it computes in")
        .choice("precision", {"fp32", "tf32", "bf16", "fp16", "fp64"}, "fp32",
                "bf16, fp16: fp32 parameters with autocast, fp16 with loss scaling; tf32: on GPUs "
                "only (docs/precision.md)")
        .bind(&TrainingSettings::precision, kEssential, kDecidesNumbers)
        .choice("device", {"auto", "cpu", "cuda"}, "auto",
                "where to compute; auto: on GPUs if every rank sees one")
        .bind(&TrainingSettings::device, kDecidesNumbers)
        .no_option({"gpus", "ngpus", "num-gpus", "gpus-per-node", "devices", "num-devices"},
                   "a rank computes on one GPU, and the launcher starts the ranks: mpirun -n N "
                   "ranklab train --device cuda ...; with --mode dp one rank takes --replicas GPUs")
        .excludes({.other = "backend",
                   .because = "the backend carries GPU memory",
                   .own = {"cpu"},
                   .property = "gpu-memory"})
        .choice("memory-format", {"auto", "contiguous", "channels-last"}, "auto",
                "memory format of images, volumes and convolutions; auto: channels-last for the "
                "ResNets and the U-Net (on a GPU only in 16 bits), otherwise contiguous; the "
                "setting channels-last has the choice")
        .bind(&TrainingSettings::memory_format, Role::bookkeeping)  // what was taken is compared
        .flag("channels-last", "--memory-format channels-last: channels innermost in memory")
        .bind(&TrainingSettings::channels_last, kDecidesNumbers)
        .instead_of("memory-format")
        .flag("jit", "run the network as a traced, optimised graph of TorchScript")
        .bind(&TrainingSettings::jit, kDecidesNumbers)
        .excludes({.other = "precision",
                   .values = {"bf16", "fp16"},
                   .because = "a graph has fixed types, which autocast changes"})
        .excludes(
            {.other = "mode",
             .values = {"dp"},
             .because = "each replica has its own random generator, which a graph does not use"})
        .flag("cuda-graph", "on a GPU: launch forward and backward as one CUDA graph")
        .bind(&TrainingSettings::cuda_graph, kDecidesNumbers)
        .excludes({.other = "jit", .because = "both turn a step into one graph"})
        .excludes({.other = "mode",
                   .values = {"dp"},
                   .because = "a graph is recorded on one GPU, but replicas use several"})
        .needs({.other = "device", .values = {"cuda"}, .because = "it records the work of a GPU"})
        .choice("cudnn-benchmark", {"on", "off"}, "on",
                "on a GPU: let cuDNN try its algorithms and keep the fastest")
        .bind(&TrainingSettings::cudnn_benchmark);
}

void add_way(Schema& rows) {
    rows.section("How it is spread")
        .choice("mode", {"single", "dp", "ddp"}, kOpen,
                "ddp: one replica per rank; dp: replicas in threads of one rank, one per GPU with "
                "--device cuda (default: single at one rank, ddp above)")
        .bind(&TrainingSettings::mode, kEssential, kInHeader, Role::coordination, kDecidesNumbers)
        .integer("replicas", {1, kMostThreads}, kOpen,
                 "replicas of --mode dp, which share the rank's batch and threads (default: 2, on "
                 "GPUs one per visible GPU)")
        .bind(&TrainingSettings::replicas, Role::coordination, kDecidesNumbers)
        .needs({.other = "mode", .values = {"dp"}})
        .choice("sync", {}, kOpen,
                "how gradients are reduced (default: bucketed for ddp; single and dp have none)")
        .bind(&TrainingSettings::sync, kEssential, kInHeader, Role::coordination, kDecidesNumbers)
        .choice("backend", {}, kOpen,
                "library that carries the gradients (default: nccl between GPUs, otherwise mpi)")
        .bind(&TrainingSettings::backend, Role::coordination)
        .excludes({.other = "mode",
                   .values = {"dp"},
                   .because = "dp copies between the GPUs of one process and needs no backend",
                   .own_property = "gpu-memory"})
        .excludes(
            {.other = "sync",
             .because = "that --sync reduces in host memory; use --backend mpi, or --sync bucketed",
             .property = "host-memory",
             .own_property = "gpu-memory"})
        .real("bucket-cap-mb", {0.001, 1e6}, "25",
              "size of gradient buckets in MiB (the first: at most 1)")
        .bind(&TrainingSettings::bucket_cap_mb, Role::coordination)
        .text("buckets", "FILE", kOpen,
              "with --dry-run: write a step's gradient buckets as CSV, for `ranklab comm "
              "--from-model "
              "FILE`")
        .bind(&TrainingSettings::buckets, Role::request)
        .needs({.other = "dry-run", .because = "a run stores the table communication"})
        .excludes(
            {.other = "mode", .values = {"single", "dp"}, .because = "it reduces no gradients"})
        .excludes({.other = "sync", .values = {"none"}, .because = "it reduces no gradients"})
        .excludes({.other = "input", .values = {"io-only"}, .because = "it computes no gradients"})
        .choice("mpi-progress", {"none", "poll", "thread"}, kOpen,
                "what drives MPI progress during backward: nothing, polls from backward's hooks, "
                "or a thread (default: thread between hosts or with a spare core, otherwise none)")
        .formerly("progress")
        .bind(&TrainingSettings::progress, Role::coordination, kFollowsRanks)
        .excludes({.other = "sync",
                   .because = "that --sync waits inside backward and needs --mpi-progress thread",
                   .own = {"none", "poll"},
                   .property = "waits-in-backward"})
        .choice("transfer", {"background", "blocking"}, kOpen,
                "allreduce of gradients; background: non-blocking; blocking: blocking, once all "
                "ranks are ready (default: background between hosts, blocking within one)")
        .bind(&TrainingSettings::transfer, Role::coordination, kFollowsRanks)
        .choice("compress", {"none", "fp16", "bf16"}, "none",
                "element type to which gradients are rounded for sending")
        .bind(&TrainingSettings::compress, kBetweenRanks, kDecidesNumbers)
        .integer("accumulate", {1, 100'000}, "1",
                 "micro-batches per step; gradients are summed over ranks after the last one")
        .bind(&TrainingSettings::accumulate, kDecidesNumbers, kKeepsSampleWork)
        .excludes({.other = "mode", .values = {"dp"}, .because = "dp makes a step of one batch"})
        .flag("no-broadcast-buffers",
              "keep each rank's own BatchNorm statistics, instead of broadcasting rank 0's before "
              "each forward")
        .bind(&TrainingSettings::no_broadcast_buffers, Role::coordination, kDecidesNumbers)
        .integer("overlap-steps", {0, 1'000'000}, kOpen,
                 "pairs of steps with and without communication, made after the run to measure the "
                 "overlap (default: steps/10, at least 6, at most 20, with ddp on several ranks; 0 "
                 "below 20 steps)")
        .bind(&TrainingSettings::overlap_steps, Role::aside, kBetweenRanks)
        .text("inject-delay", "RANK:PHASE:MS", kOpen,
              "delay a phase of one rank, to test that the report names it")
        .bind(&TrainingSettings::inject_delay);
}

void add_views(Schema& rows) {
    rows.section("What is recorded")
        .text("profile", "lines,layers", kOpen,
              "lines: time per line of the training loop, as line_profiler's table; layers: time "
              "per layer of the network, with this machine's roofline")
        .bind(&TrainingSettings::profile, kKeepsSampleWork)
        .excludes({.other = "ablation", .because = "it makes trials instead of one training"})
        .text("tensorboard", "DIR", kOpen,
              "write curves for TensorBoard to this folder, every 10 steps")
        .bind(&TrainingSettings::tensorboard, Role::kept)
        .excludes({.other = "ablation", .because = "it makes trials instead of one training"})
        .text("trace", "FILE.json", kOpen,
              "write a few steps as LibTorch's profiler sees them, for Perfetto and TensorBoard: "
              "FILE.rankN.json of each rank, FILE.json of all ranks")
        .bind(&TrainingSettings::trace, Role::kept)
        .excludes({.other = "ablation", .because = "it makes trials instead of one training"})
        .text("trace-window", "FIRST:COUNT", kOpen,
              "the steps of --trace and --nvtx, counted from 1 (default: three after the warm-up)")
        .bind(&TrainingSettings::trace_window, Role::bookkeeping)
        .flag("nvtx",
              "for nsys and ncu: in the steps of --trace-window, mark operators, phases and "
              "buckets as NVTX ranges, and switch the CUDA profiler on")
        .bind(&TrainingSettings::nvtx, Role::bookkeeping)
        .excludes({.other = "trace", .because = "LibTorch has one profiler at a time"})
        .excludes({.other = "ablation", .because = "it makes trials instead of one training"});
}

void add_checks(Schema& rows) {
    rows.section("What is checked")
        .choice("evaluate", {"epoch", "end", "off"}, kOpen,
                "evaluate on the test samples, after each epoch and at the end, or once at the end "
                "(default: epoch with --epochs, off with --steps)")
        .bind(&TrainingSettings::evaluate, Role::aside)
        .integer(
            "eval-batch-size", {1, kMostBatch}, kOpen,
            "samples per evaluation batch and rank (default: 1000; large samples: --batch-size)")
        .bind(&TrainingSettings::eval_batch_size, Role::aside)
        .choice("check-parameters", {"step", "end"}, "end",
                "when to compare the parameters of all ranks, bit by bit")
        .bind(&TrainingSettings::check_parameters, Role::aside)
        .text("save-parameters", "FILE", kOpen,
              "write rank 0's final parameters to this file (HDF5, float64, by name)")
        .bind(&TrainingSettings::save_parameters, Role::kept);
    rows.section("Checkpoints")
        .text("checkpoint", "DIR", kOpen,
              "write DIR/checkpoint.h5, from which --resume continues (DIR is made if missing)")
        .bind(&TrainingSettings::checkpoint, Role::kept)
        .excludes({.other = "input", .values = {"io-only"}, .because = "it trains nothing"})
        .integer("checkpoint-every", 1, kOpen,
                 "steps between checkpoints (default: one at each epoch's end); the end of the run "
                 "writes one, too")
        .bind(&TrainingSettings::checkpoint_every, Role::aside)
        .needs({.other = "checkpoint"})
        .flag("resume",
              "continue from the checkpoint in --checkpoint DIR; start from the beginning if there "
              "is none")
        .bind(&TrainingSettings::resume, Role::kept)
        .needs({.other = "checkpoint"});
}

Schema made_training_settings() {
    Schema rows;
    add_work(rows);
    add_length(rows);
    add_optimizer(rows);
    add_input(rows);
    add_ablation(rows);
    add_rate(rows);
    add_speed(rows);
    add_way(rows);
    add_views(rows);
    add_checks(rows);
    return rows;
}

}  // namespace

const Schema& training_settings() {
    static const Schema rows = made_training_settings();
    return rows;
}

}  // namespace ranklab::vocabulary
