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
    200'000'000;  // torch.randperm's way of drawing ends at 2^32/20
constexpr std::int64_t kMostBatch = 1'000'000'000;
constexpr double kHighestRate = 1e38;  // what fp32 holds is 3e38

constexpr std::nullopt_t kOpen = std::nullopt;  // the experiment settles it

void add_work(Schema& rows) {
    rows.section("What is trained")
        .choice("model", {}, "mnist-cnn", "the network; FILE.pt: your own, TorchScript")
        .or_file(".pt")
        .bind(&TrainingSettings::model, kEssential, kInHeader, kDecidesNumbers)
        .text("input-shape", "SIZES", kOpen,
              "FILE.pt: one sample's input, such as 3x224x224, or 128:int64 for tokens; several "
              "with commas")
        .bind(&TrainingSettings::input_shape, kDecidesNumbers)
        .integer("classes", {1, 1'000'000'000}, kOpen,
                 "FILE.pt: classes of the target; synthetic tokens are below it")
        .bind(&TrainingSettings::classes, kDecidesNumbers)
        .text("target-shape", "SIZES|same", kOpen,
              "FILE.pt: the target is numbers of this shape; with --classes, a class for each")
        .bind(&TrainingSettings::target_shape, kDecidesNumbers)
        .choice("loss", {"cross-entropy", "nll", "mse", "l1"}, kOpen,
                "FILE.pt: the loss (default: cross-entropy of classes, mse of numbers)")
        .bind(&TrainingSettings::loss, kDecidesNumbers)
        .choice("data", {}, kOpen, "the data set (default: the model's own)")
        .bind(&TrainingSettings::data, kEssential, kInHeader, kDecidesNumbers)
        .text("data-dir", "DIR", kOpen,
              "where the data set's files are (default: $RANKLAB_DATA, then the usual places)")
        .bind(&TrainingSettings::data_dir, kEssential,
              Role::bookkeeping)  // sample counts are compared
        .text("inputs", "FILES", kOpen,
              "npy: X.npy; hdf5: FILE:/DATASET; the first axis is the sample, a file an input")
        .bind(&TrainingSettings::inputs, Role::bookkeeping)
        .needs(kOwnData)
        .text("targets", "FILE", kOpen, "the targets of --inputs")
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
                 "samples of all ranks per step, instead of --batch-size")
        .bind(&TrainingSettings::global_batch_size, kEssential, kDecidesNumbers, kKeepsSampleWork)
        .instead_of("batch-size")
        .integer("expected-ranks", {1, kMostBatch}, kOpen,
                 "for configurations: the ranks they are made for; fewer need --accumulate or "
                 "--batch-size")
        .formerly("made-for-ranks")
        .bind(&TrainingSettings::expected_ranks,
              Role::bookkeeping)  // the ranks that took part are compared
        .integer("epochs", {1, 1'000'000'000}, kOpen, "whole passes over the training samples")
        .bind(&TrainingSettings::epochs, kEssential, kInHeader, Role::length)
        .integer("steps", 1, kOpen,
                 "counted steps, instead of --epochs; the warm-up comes before them "
                 "(default: 100 where there is no --epochs)")
        .bind(&TrainingSettings::steps, kEssential, kInHeader, Role::length)
        .instead_of("epochs")
        .append(target_setting<TrainingSettings>("--steps"))
        .needs(
            {.other = "steps",
             .because =
                 "it goes on for as many steps as it takes, and epochs are a fixed piece of work"})
        .excludes_each({"checkpoint", "ablation"}, "how many steps there will be is not known");
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
                "ranklab: our own dropout, pooling, Adam and Adadelta for the CPU; libtorch: "
                "LibTorch's (docs/precision.md; default: ranklab, on a GPU libtorch)")
        .bind(&TrainingSettings::ops, kDecidesNumbers)
        .when_absent("libtorch", {.other = "device", .values = {"cuda"}})
        .when_absent("ranklab")
        .choice("dropout", {"on", "off"}, "on", "the model's dropout layers")
        .bind(&TrainingSettings::dropout, kDecidesNumbers)
        .choice("shuffle", {"on", "off"}, "on",
                "a new order of the samples each epoch, from seed + epoch")
        .bind(&TrainingSettings::shuffle, kDecidesNumbers, kKeepsSampleWork)
        .choice("sharding", {"pad", "exact"}, "pad",
                "pad: equal shares as PyTorch's DistributedSampler, repeats not counted; exact: "
                "every sample once, weighted mean")
        .bind(&TrainingSettings::sharding, Role::coordination, kDecidesNumbers);
}

void add_input(Schema& rows) {
    rows.section("How samples are read")
        .integer(
            "train-samples", {1, kMostSamples}, kOpen,
            "samples per epoch (default: all; for volumes, enough crops to fill them 16 times)")
        .bind(&TrainingSettings::train_samples, kDecidesNumbers, kKeepsSampleWork)
        .integer("validation-samples", {1, kMostSamples}, kOpen,
                 "samples per evaluation (default: as for --train-samples)")
        .bind(&TrainingSettings::validation_samples, kKeepsSampleWork)
        .choice(
            "input", {"real", "synthetic", "io-only"}, "real",
            "synthetic: the first batch again and again; io-only: make batches, compute nothing")
        .bind(&TrainingSettings::input, kDecidesNumbers)
        .integer("workers", {0, kMostThreads}, kOpen,
                 "threads that read, decode and augment ahead; 0: the training thread (default: "
                 "the model's)")
        .bind(&TrainingSettings::workers)
        .integer("loader-cost-us", {0, 10'000'000}, "0",
                 "busy CPU time added to each training sample in the loader, as decoding and "
                 "transforms take")
        .bind(&TrainingSettings::loader_cost_us)
        .integer("prefetch", {1, 65536}, "2", "batches made ahead, at most")
        .bind(&TrainingSettings::prefetch)
        .integer(
            "image-size", {1, 16384}, kOpen,
            "height and width that images are resized to (default: the model's, 224 for resnets)")
        .bind(&TrainingSettings::image_size, kDecidesNumbers)
        .excludes({.other = "model",
                   .because = "it takes volumes; --crop-edge is for these",
                   .property = "volumes"})
        .choice("volume-access", {"lowmem", "inmem"}, "lowmem",
                "lowmem: crops from the disk; inmem: the whole file in memory")
        .bind(&TrainingSettings::volume_access)
        .needs(kVolumes)
        .integer("crop-edge", {1, 2048}, kOpen,
                 "edge of the crops of volumes (default: the model's, 64)")
        .bind(&TrainingSettings::crop_edge, kDecidesNumbers)
        .needs(kVolumes)
        .choice("rotate", {"on", "off"}, "on", "turn each crop by one of the cube's 24 rotations")
        .bind(&TrainingSettings::rotate, kDecidesNumbers)
        .needs(kVolumes)
        .flag("rotate-vectors", "turn the components of velocities, too (the original does not)")
        .bind(&TrainingSettings::rotate_vectors, kDecidesNumbers)
        .needs(kVolumes);
}

void add_ablation(Schema& rows) {
    rows.section("What limits it")
        .flag("ablation",
              "in place of a run, make trials of --steps steps (20) in turns: input alone, without "
              "input, without communication, without both, and everything")
        .bind(&TrainingSettings::ablation, kEssential)
        .excludes_each({"epochs", "checkpoint", "save-parameters", "time-limit"},
                       "it makes trials of --steps")
        .needs({.other = "input",
                .values = {"real"},
                .because = "it makes trials of every kind of input"})
        .integer("repetitions", {1, 10000}, kOpen,
                 "with --ablation: trials of each kind (default: 3)")
        .bind(&TrainingSettings::repetitions, Role::times)
        .needs({.other = "ablation",
                .because = "a command makes one run; ranklab sweep train --repeat N"})
        .text("benchy-json", "FILE", kOpen, "with --ablation: write the trials as benchy's JSON")
        .bind(&TrainingSettings::benchy_json, Role::kept)
        .needs({.other = "ablation"});
}

void add_rate(Schema& rows) {
    rows.section("Learning rate")
        .real("lr", {0, kHighestRate}, kOpen,
              "learning rate at the base batch (default: the model's or the optimizer's)")
        .bind(&TrainingSettings::lr, kEssential, kDecidesNumbers, kKeepsSampleWork)
        .choice("lr-schedule", {}, kOpen,
                "step: lr times gamma^epoch; cosine: falls to --end-lr at the last step; "
                "cosine-published: as in the U-Net tutorial's code (default: the model's)")
        .bind(&TrainingSettings::lr_schedule, kDecidesNumbers, kKeepsSampleWork)
        .real("gamma", 0, kOpen,
              "factor of --lr-schedule step (default: the model's, 0.7 for mnist-cnn)")
        .bind(&TrainingSettings::gamma, kDecidesNumbers, kKeepsSampleWork)
        .choice("lr-scaling", {}, kOpen,
                "how lr grows with global / base batch (default: the model's: sqrt for unet3d, "
                "else none)")
        .bind(&TrainingSettings::lr_scaling, kDecidesNumbers, kKeepsSampleWork)
        .integer("base-batch-size", 1, kOpen,
                 "global batch that lr is meant for (default: the model's, 32 for unet3d, 64 for "
                 "mnist-cnn)")
        .bind(&TrainingSettings::base_batch_size, kDecidesNumbers, kKeepsSampleWork)
        .integer(
            "lr-warmup-steps", 0, kOpen,
            "steps over which a scaled rate rises from 0, where the global batch is above the base "
            "(default: the model's, 128 for unet3d, 0 else)")
        .bind(&TrainingSettings::lr_warmup_steps, kDecidesNumbers, kKeepsSampleWork)
        .real("end-lr", 0, "0", "where the cosines end")
        .bind(&TrainingSettings::end_lr, kDecidesNumbers, kKeepsSampleWork)
        .integer(
            "lr-total-steps", 1, kOpen,
            "steps over which the cosines fall (default: all of the run; cosine-published with "
            "--epochs: epochs x (samples / global batch), rounded down)")
        .bind(&TrainingSettings::lr_total_steps, kDecidesNumbers, kKeepsSampleWork)
        .needs({.other = "lr-schedule", .values = {"cosine", "cosine-published"}});
}

void add_speed(Schema& rows) {
    rows.section("What it computes in")
        .choice("precision", {"fp32", "tf32", "bf16", "fp16", "fp64"}, "fp32",
                "bf16, fp16: parameters in fp32, autocast; fp16 scales the loss; tf32: on GPUs "
                "(docs/precision.md)")
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
                "how images, volumes and convolutions lie in memory; auto: channels-last for the "
                "ResNets and the U-Net, on a GPU in 16 bits alone; channels-last then says which")
        .bind(&TrainingSettings::memory_format, Role::bookkeeping)  // what was taken is compared
        .flag("channels-last",
              "the same as --memory-format channels-last: channels innermost in memory")
        .bind(&TrainingSettings::channels_last, kDecidesNumbers)
        .instead_of("memory-format")
        .flag("jit", "run the network as a traced, optimised graph of TorchScript")
        .bind(&TrainingSettings::jit, kDecidesNumbers)
        .excludes({.other = "precision",
                   .values = {"bf16", "fp16"},
                   .because = "a graph's types are fixed, and these cast as they go"})
        .excludes(
            {.other = "mode",
             .values = {"dp"},
             .because = "its replicas draw random numbers of their own, which a graph does not"})
        .flag("cuda-graph", "on a GPU: launch forward and backward as one recorded graph")
        .bind(&TrainingSettings::cuda_graph, kDecidesNumbers)
        .excludes({.other = "jit", .because = "they are two ways to launch a step as one graph"})
        .excludes({.other = "mode",
                   .values = {"dp"},
                   .because = "a graph is recorded on one GPU, and its replicas have one each"})
        .needs({.other = "device", .values = {"cuda"}, .because = "it records the work of a GPU"})
        .choice("cudnn-benchmark", {"on", "off"}, "on",
                "on a GPU: let cuDNN try its algorithms and keep the fastest")
        .bind(&TrainingSettings::cudnn_benchmark);
}

void add_way(Schema& rows) {
    rows.section("How it is spread")
        .choice("mode", {"single", "dp", "ddp"}, kOpen,
                "ddp: a replica a rank; dp: replicas in the threads of one rank, each on a GPU of "
                "its own where --device is cuda (default: single at one rank, ddp above)")
        .bind(&TrainingSettings::mode, kEssential, kInHeader, Role::coordination, kDecidesNumbers)
        .integer("replicas", {1, kMostThreads}, kOpen,
                 "replicas of --mode dp; they share the rank's batch and its threads (default: 2, "
                 "on GPUs one for each that the process sees)")
        .bind(&TrainingSettings::replicas, Role::coordination, kDecidesNumbers)
        .needs({.other = "mode", .values = {"dp"}})
        .choice("sync", {}, kOpen,
                "how gradients are reduced (default: bucketed for ddp; single and dp have none)")
        .bind(&TrainingSettings::sync, kEssential, kInHeader, Role::coordination, kDecidesNumbers)
        .choice("backend", {}, kOpen,
                "what carries the gradients (default: nccl between GPUs, else mpi)")
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
              "MiB of gradients in a bucket (the first: 1, if that is less)")
        .bind(&TrainingSettings::bucket_cap_mb, Role::coordination)
        .text("buckets", "FILE", kOpen,
              "with --dry-run: write a table (CSV) of a step's buckets, for `ranklab comm "
              "--from-model FILE`")
        .bind(&TrainingSettings::buckets, Role::request)
        .needs({.other = "dry-run", .because = "a run stores the table communication"})
        .excludes(
            {.other = "mode", .values = {"single", "dp"}, .because = "it reduces no gradients"})
        .excludes({.other = "sync", .values = {"none"}, .because = "it reduces no gradients"})
        .excludes({.other = "input", .values = {"io-only"}, .because = "it computes no gradients"})
        .choice(
            "mpi-progress", {"none", "poll", "thread"}, kOpen,
            "who moves data during backward: nobody, backward's hooks, or a thread that sleeps in "
            "between (default: thread between hosts or with a core to spare, else none)")
        .formerly("progress")
        .bind(&TrainingSettings::progress, Role::coordination, kFollowsRanks)
        .excludes({.other = "sync",
                   .because = "that --sync waits inside backward and needs --mpi-progress thread",
                   .own = {"none", "poll"},
                   .property = "waits-in-backward"})
        .choice(
            "transfer", {"background", "blocking"}, kOpen,
            "MPI's non-blocking allreduce, or the blocking one once all ranks are there (default: "
            "background between hosts, blocking within one)")
        .bind(&TrainingSettings::transfer, Role::coordination, kFollowsRanks)
        .choice("compress", {"none", "fp16", "bf16"}, "none",
                "type to which gradients are rounded before they travel")
        .bind(&TrainingSettings::compress, kBetweenRanks, kDecidesNumbers)
        .integer("accumulate", {1, 100'000}, "1",
                 "micro-batches per step; the ranks sum gradients after the last one")
        .bind(&TrainingSettings::accumulate, kDecidesNumbers, kKeepsSampleWork)
        .excludes({.other = "mode", .values = {"dp"}, .because = "dp makes a step of one batch"})
        .flag("no-broadcast-buffers",
              "keep each rank's own running statistics of BatchNorm; else rank 0's before each "
              "forward")
        .bind(&TrainingSettings::no_broadcast_buffers, Role::coordination, kDecidesNumbers)
        .integer("overlap-steps", {0, 1'000'000}, kOpen,
                 "pairs of steps with and without communication after the run, for the overlap "
                 "(default: steps/10, at least 6, at most 20, with ddp on several ranks; 0 below "
                 "20 steps)")
        .bind(&TrainingSettings::overlap_steps, Role::aside, kBetweenRanks)
        .text("inject-delay", "RANK:PHASE:MS", kOpen,
              "delay a phase of one rank, to see that the report names it")
        .bind(&TrainingSettings::inject_delay);
}

void add_views(Schema& rows) {
    rows.section("What is looked at")
        .text(
            "profile", "lines,layers", kOpen,
            "lines: the time of each line of the training loop, as line_profiler's table; layers: "
            "of each layer of the network, beside this machine's roofline")
        .bind(&TrainingSettings::profile, kKeepsSampleWork)
        .excludes({.other = "ablation", .because = "it has trials in place of the loop"})
        .text("tensorboard", "DIR", kOpen,
              "write curves there for TensorBoard while it trains, every 10 steps")
        .bind(&TrainingSettings::tensorboard, Role::kept)
        .excludes({.other = "ablation", .because = "its trials are not one training"})
        .text("trace", "FILE.json", kOpen,
              "write what LibTorch's profiler sees in a few steps, for Perfetto and TensorBoard: "
              "each rank FILE.rankN.json, and all of them FILE.json")
        .bind(&TrainingSettings::trace, Role::kept)
        .excludes({.other = "ablation", .because = "its trials are not one training"})
        .text("trace-window", "FIRST:COUNT", kOpen,
              "the steps of --trace and --nvtx, from 1 (default: three after the warm-up)")
        .bind(&TrainingSettings::trace_window, Role::bookkeeping)
        .flag(
            "nvtx",
            "for nsys and ncu: operators, phases and buckets as NVTX ranges, and the CUDA profiler "
            "on, in the steps of --trace-window")
        .bind(&TrainingSettings::nvtx, Role::bookkeeping)
        .excludes({.other = "trace", .because = "LibTorch has one profiler at a time"})
        .excludes({.other = "ablation", .because = "its trials are not one training"});
}

void add_checks(Schema& rows) {
    rows.section("What is checked")
        .choice("evaluate", {"epoch", "end", "off"}, kOpen,
                "on the test samples: after each epoch and at the end, or once, at the end "
                "(default: epoch with --epochs, off with --steps)")
        .bind(&TrainingSettings::evaluate, Role::aside)
        .integer(
            "eval-batch-size", {1, kMostBatch}, kOpen,
            "samples per evaluation batch and rank (default: 1000; large samples: --batch-size)")
        .bind(&TrainingSettings::eval_batch_size, Role::aside)
        .choice("check-parameters", {"step", "end"}, "end",
                "when the parameters of all ranks are compared, bit by bit")
        .bind(&TrainingSettings::check_parameters, Role::aside)
        .text("save-parameters", "FILE", kOpen,
              "rank 0 writes the final parameters here (HDF5, float64, by name)")
        .bind(&TrainingSettings::save_parameters, Role::kept);
    rows.section("Checkpoints")
        .text("checkpoint", "DIR", kOpen,
              "write DIR/checkpoint.h5, from which a later run goes on (DIR is made if missing)")
        .bind(&TrainingSettings::checkpoint, Role::kept)
        .excludes({.other = "input",
                   .values = {"io-only"},
                   .because = "that trains nothing that a checkpoint could hold"})
        .integer("checkpoint-every", 1, kOpen,
                 "steps between checkpoints (default: one at each epoch's end); the run's end has "
                 "one, too")
        .bind(&TrainingSettings::checkpoint_every, Role::aside)
        .needs({.other = "checkpoint"})
        .flag("resume",
              "go on from the checkpoint in --checkpoint DIR; start from the beginning if there is "
              "none yet")
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
