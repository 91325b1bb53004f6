#include "experiments/training/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/backend.hpp"
#include "data/dataset.hpp"
#include "measure/convergence.hpp"
#include "measure/samples.hpp"
#include "nn/own_network.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::CommonSettings;
using vocabulary::settle;
using vocabulary::TrainingSettings;

// Parses "3x64x64" (of element type `numbers`) or "128:int64"; adds the type to `types`. The
// loader holds integers as int64; the network gets them in the type given.
base::Field field_of(const std::string& option, std::string text, base::Element numbers,
                     std::vector<torch::Dtype>& types) {
    static const std::map<std::string, torch::Dtype> kTypes{{"", torch::kLong},
                                                            {":int64", torch::kLong},
                                                            {":int32", torch::kInt},
                                                            {":uint8", torch::kByte},
                                                            {":bool", torch::kBool}};
    base::Field field{numbers, {}};
    const std::string given = text;
    const auto colon = std::min(text.find(':'), text.size());
    if (const auto type = kTypes.find(text.substr(colon)); type != kTypes.end()) {
        types.push_back(type->second);
        if (colon < text.size()) field.element = base::Element::i64;
        text.resize(colon);
    }
    for (const auto& part : base::split(text, 'x')) {
        const auto size = base::number_in<std::int64_t>(part);
        if (!size || *size < 1 || *size > 1'000'000'000)
            throw base::OptionError(
                fmt::format("--{} {}: give sizes of at least 1, as in 3x224x224, or 128:int64 "
                            "(:int32, :uint8, :bool)",
                            option, base::printable(given, 60)));
        field.sizes.push_back(*size);
    }
    return field;
}

nn::InputShape own_shape(const TrainingSettings& settings) {
    if (!settings.input_shape)
        throw base::OptionError(
            fmt::format("--model {} needs --input-shape, one sample's sizes, as in 3x224x224",
                        settings.model_file));
    if (!settings.classes && !settings.target_shape)
        throw base::OptionError(
            fmt::format("--model {} needs --classes, or --target-shape for a target of numbers",
                        settings.model_file));
    const auto numbers = settings.precision == "fp64" ? base::Element::f64 : base::Element::f32;
    nn::InputShape shape{.classes = settings.classes.value_or(1)};
    for (const auto& text : base::split(*settings.input_shape, ','))
        shape.own.push_back(field_of("input-shape", text, numbers, shape.own_types));
    std::vector<torch::Dtype> types;  // of targets: not used
    if (settings.target_shape == "same")
        shape.own_target.sizes = shape.own.front().sizes;
    else if (settings.target_shape)
        shape.own_target.sizes =
            field_of("target-shape", *settings.target_shape, numbers, types).sizes;
    shape.own_target.element = settings.classes ? base::Element::i64 : numbers;
    return shape;
}

nn::OwnRequest own_request(const TrainingSettings& settings) {
    nn::OwnRequest request{settings.model_file, own_shape(settings), settings.loss.value_or("")};
    if (settings.precision == "fp64") request.dtype = torch::kDouble;
    return request;
}

void refuse_options_of_own_models(const TrainingSettings& settings) {
    for (const auto& [name, given] : {std::pair{"input-shape", settings.input_shape.has_value()},
                                      std::pair{"classes", settings.classes.has_value()},
                                      std::pair{"target-shape", settings.target_shape.has_value()},
                                      std::pair{"loss", settings.loss.has_value()}})
        if (given)
            throw base::OptionError(fmt::format(
                "--{} is for --model FILE.pt or FILE.py; {} has its own", name, settings.model));
}

// Settles the options that the file gives and the user does not.
void settle_by_file(TrainingSettings& settings, const nn::OwnFile& file) {
    const auto words = file.options();
    const auto settle_text = [&](std::optional<std::string>& setting, const char* name) {
        if (const auto word = words.find(name); word != words.end()) settle(setting, word->second);
    };
    settle_text(settings.input_shape, "input-shape");
    settle_text(settings.target_shape, "target-shape");
    if (const auto word = words.find("classes"); word != words.end() && !settings.classes) {
        settings.classes = base::number_in<std::int64_t>(word->second);
        if (settings.classes.value_or(0) < 1)
            throw base::OptionError(
                fmt::format("classes in {} is {} instead of a number of classes",
                            settings.model_file, base::printable(word->second, 40)));
    }
    if (!file.has_loss()) settle(settings.loss, settings.classes ? "cross-entropy" : "mse");
}

// A run stores the file's stem as the model's name, without its path.
nn::OwnTraits settle_model_file(TrainingSettings& settings) {
    if (!nn::is_own(settings.model)) {
        refuse_options_of_own_models(settings);
        return {};
    }
    const auto file = nn::open_own(settings.model);
    settings.model_file = settings.model;
    settings.model = nn::name_of_own(settings.model);
    settle_by_file(settings, *file);
    const auto& loss = settings.loss;
    const bool of_classes = loss == "cross-entropy" || loss == "nll";
    const auto request = own_request(settings);
    if (loss && of_classes != settings.classes.has_value())
        throw base::OptionError(fmt::format(
            "--loss {} needs {}; {}", *loss, settings.classes ? "numbers" : "classes",
            settings.classes ? "use --target-shape, without --classes" : "use --classes"));
    if (settings.width != 1 || settings.jit || settings.dropout == "off" || settings.image_size)
        throw base::OptionError(
            "--width, --jit, --dropout and --image-size are for ranklab's own networks; leave them "
            "out");
    if (vocabulary::mode_of(settings).has_replicas && nn::is_python(settings.model_file))
        throw base::OptionError(
            "--mode dp computes its replicas in threads, which Python runs one at a time; use "
            "--mode ddp, or export the network as TorchScript");
    return nn::check_own(request);
}

// Batch and length must be settled already.
train::LrSettings settle_rate(TrainingSettings& settings, const CommonSettings& common) {
    const auto defaults = model_entry(settings).defaults;
    const bool as_published = settings.optimizer == defaults.optimizer;
    settle(settings.lr, as_published
                            ? defaults.lr
                            : entry_of(train::optimizers(), *settings.optimizer).default_lr);
    settle(settings.lr_schedule, defaults.lr_schedule);
    settle(settings.gamma, defaults.gamma);
    settle(settings.lr_scaling, defaults.lr_scaling);
    settle(settings.base_batch_size,
           defaults.base_batch > 0 ? defaults.base_batch : defaults.batch_size);
    settle(settings.lr_warmup_steps, defaults.lr_warmup_steps);
    return settle_learning_rate(settings, common);
}

void settle_evaluation(TrainingSettings& settings) {
    constexpr std::int64_t kSmallSample = 10000;
    const base::Field input{.sizes = model_entry(settings).input.input_sizes()};
    const bool small = input.elements() <= kSmallSample;
    settle(settings.eval_batch_size, small ? 1000 : *settings.batch_size);
    if (settings.input == "io-only") settings.evaluate = "off";  // nothing is learned
    settle(settings.evaluate, settings.steps ? "off" : "epoch");
}

Input settle_input(TrainingSettings& settings) {
    const auto model = model_entry(settings);
    if (!model.from_file) settle(size_setting(settings), model.input.usual_size());
    settle(settings.workers, model.defaults.workers);
    if (settings.input == "io-only") settings.overlap_steps = 0;  // no communication to overlap
    return base::named<Input>(std::array{"real", "synthetic", "io-only"}, settings.input).value();
}

void settle_model_defaults(TrainingSettings& settings) {
    const auto defaults = model_entry(settings).defaults;
    settle(settings.data, defaults.data);
    settle(settings.optimizer, defaults.optimizer);
    settle(settings.momentum, settings.optimizer == defaults.optimizer ? defaults.momentum : 0.0);
}

void settle_batch(TrainingSettings& settings, int world_size) {
    const std::int64_t parts = world_size * settings.accumulate;
    if (!settings.global_batch_size) {
        settle(settings.batch_size, model_entry(settings).defaults.batch_size);
        settings.global_batch_size = *settings.batch_size * parts;
        return;
    }
    const auto global = *settings.global_batch_size;
    if (global % parts != 0)
        throw base::OptionError(fmt::format(
            "--global-batch-size {} is not divisible by {} ranks{}; use {} or {}", global,
            world_size,
            parts == world_size ? ""
                                : fmt::format(" with {} micro-batches each", parts / world_size),
            std::max<std::int64_t>(1, global / parts) * parts, (global / parts + 1) * parts));
    settings.batch_size = global / parts;
}

void settle_mode(TrainingSettings& settings, int world_size) {
    // --buckets and --zero show what several ranks would do, also in a dry run of one.
    const bool several = world_size > 1 || settings.buckets.has_value() || settings.zero > 0;
    settle(settings.mode,
           std::ranges::find(vocabulary::kModes, several, &vocabulary::Mode::several_ranks)->name);
    const bool one_rank = !vocabulary::mode_of(settings).several_ranks;
    if (one_rank && world_size > 1)
        throw base::OptionError(fmt::format(
            "--mode {} takes one rank, and {} were started; use --mode ddp, or start one rank",
            *settings.mode, world_size));
    settle(settings.sync, one_rank ? "none" : "bucketed");
    if (settings.backend && entry_of(comm::backends(), *settings.backend).one_rank_alone &&
        world_size > 1)
        throw base::OptionError(
            fmt::format("--backend {} serves one rank; use --backend mpi", *settings.backend));
}

void settle_overlap(TrainingSettings& settings, int world_size) {
    const bool measurable =
        world_size > 1 && entry_of(train::gradient_syncs(), *settings.sync).keeps_ranks_equal;
    if (settings.zero > 0 && settings.overlap_steps.value_or(0) > 0)
        throw base::OptionError(
            "--overlap-steps makes steps without communication, which lack the parameters that "
            "--zero gathers; leave one of them out");
    if (!measurable && settings.overlap_steps.value_or(0) > 0)
        throw base::OptionError(
            "--overlap-steps compares steps with and without communication; this run has none");
    const std::int64_t steps = settings.steps.value_or(200);
    settle(settings.overlap_steps, measurable && settings.zero == 0 && steps >= 20
                                       ? std::clamp<std::int64_t>(steps / 10, 6, 20)
                                       : 0);
}

void check_checkpoints(const TrainingSettings& settings, int world_size) {
    if (!settings.checkpoint) return;
    if (settings.checkpoint->empty())
        throw base::OptionError("--checkpoint needs the name of a folder");
    const auto sync = entry_of(train::gradient_syncs(), *settings.sync);
    if (world_size > 1 && !sync.keeps_ranks_equal)
        throw base::OptionError(
            fmt::format("--sync {} trains a model per rank, and a checkpoint holds one; leave "
                        "--checkpoint out, or use another --sync",
                        sync.name));
}

// The default of --steps takes seconds for small networks and gives a median with an interval.
constexpr std::int64_t kStepsAtFirst = 100;

void settle_length(TrainingSettings& settings, CommonSettings& common) {
    if (settings.ablation) {
        settle(settings.steps, 20);
        settle(common.warmup, 0);
        settle(settings.repetitions, 3);
    }
    if (!settings.steps && !settings.epochs) settings.steps = kStepsAtFirst;
    if (settings.steps) settle(common.warmup, measure::default_warmup(*settings.steps));
    if (settings.target_ci) static_cast<void>(measure::parse_target(*settings.target_ci));
}

std::optional<StepWindow> parse_window(const TrainingSettings& settings) {
    if (!settings.trace_window) return std::nullopt;
    if (!settings.trace && !settings.nvtx)
        throw base::OptionError("--trace-window needs --trace or --nvtx");
    const auto parts = base::split(*settings.trace_window, ':');
    const auto first = base::number_in<std::int64_t>(parts.front()),
               count = base::number_in<std::int64_t>(parts.back());
    if (parts.size() == 2 && first && count && *first > 0 && *count > 0)
        return StepWindow{*first, *count};
    throw base::OptionError(fmt::format("--trace-window {}: give FIRST:COUNT, such as 5:2",
                                        base::printable(*settings.trace_window, 40)));
}

void check_views(const TrainingSettings& settings) {
    if (settings.trace && settings.trace->empty())
        throw base::OptionError("--trace needs the name of a file, as in t.json");
    if (settings.tensorboard && settings.tensorboard->empty())
        throw base::OptionError("--tensorboard needs the name of a folder");
    if (!settings.profile) return;
    for (const auto& name : base::split(*settings.profile, ','))
        if (name != "lines" && name != "layers")
            throw base::OptionError(fmt::format("--profile {}: give lines, layers, or both",
                                                base::printable(*settings.profile, 60)));
    if (settings.profile->find("layers") == std::string::npos) return;
    if (vocabulary::mode_of(settings).has_replicas || settings.jit || settings.cuda_graph)
        throw base::OptionError(
            "--profile layers needs single operations in one thread; leave --mode dp, --jit and "
            "--cuda-graph out");
}

// Each call settles options that the following calls need.
void settle_all(TrainingOptions& all, int world_size) {
    auto& settings = all.settings;
    all.own = settle_model_file(settings);
    if (!settings.model_file.empty()) all.structure = nn::structure_hash(settings.model_file);
    settle_model_defaults(settings);
    settle_batch(settings, world_size);
    settle_mode(settings, world_size);
    settle_speed(settings, world_size);
    settle_length(settings, all.common);
    settle_evaluation(settings);
    // On a GPU the default is LibTorch's fused kernel, if there is one.
    settings.fused_optimizer |=
        all.on_gpu() && entry_of(train::optimizers(), *settings.optimizer).has_fused;
    settle_overlap(settings, world_size);
    all.input = settle_input(settings);
    all.rate = settle_rate(settings, all.common);
    check_checkpoints(settings, world_size);
    check_views(settings);
    all.trace_window = parse_window(settings);
    all.delay = parse_delay(settings.inject_delay.value_or(""), world_size);
}

}  // namespace

nn::ModelEntry model_entry(const TrainingSettings& settings) {
    return settings.model_file.empty() ? entry_of(nn::models(), settings.model)
                                       : nn::own_entry(own_request(settings));
}

bool TrainingOptions::profiles(const std::string& what) const {
    const auto names = base::split(settings.profile.value_or(""), ',');
    return std::ranges::find(names, what) != names.end();
}

std::optional<Delay> parse_delay(const std::string& text, int world_size) {
    if (text.empty()) return std::nullopt;
    constexpr double kMostMs = 60000;  // nothing wakes a rank that sleeps
    const auto parts = base::split(text, ':');
    if (parts.size() == 3) {
        const auto rank = base::number_in<int>(parts[0]);
        const auto phase = base::named<base::Phase>(base::kPhaseNames, parts[1]);
        const auto ms = base::number_in<double>(parts[2]);
        if (rank && *rank >= 0 && *rank < world_size && phase && ms && *ms >= 0 && *ms <= kMostMs)
            return Delay{*rank, *phase, *ms};
    }
    throw base::OptionError(fmt::format(
        "--inject-delay {}: give RANK:PHASE:MS with a rank below {}, a phase of {}, and at most "
        "{:.0f} ms",
        base::printable(text, 60), world_size, fmt::join(base::kPhaseNames, ", "), kMostMs));
}

options::Schema training_schema() {
    const auto those = [](auto catalogue, auto has) {
        std::erase_if(catalogue, [&](const auto& entry) { return !std::invoke(has, entry); });
        return names_of(catalogue);
    };
    using train::SyncEntry;
    options::Schema schema;
    return schema.append(vocabulary::training_settings())
        .offer("model", names_of(nn::models()),
               {{"volumes", those(nn::models(), [](auto& one) { return one.input.is_volume(); })},
                {"language", those(nn::models(), [](auto& one) { return one.input.is_tokens(); })}})
        .offer("data", names_of(data::sources()),
               {{"own-files", those(data::sources(), &data::SourceEntry::own_files)}})
        .offer("optimizer", names_of(train::optimizers()),
               {{"fused", those(train::optimizers(), &train::OptimizerEntry::has_fused)}})
        .offer(
            "sync", names_of(train::gradient_syncs()),
            {{"host-memory", those(train::gradient_syncs(), &SyncEntry::host_memory)},
             {"sums", those(train::gradient_syncs(), &SyncEntry::keeps_ranks_equal)},
             {"compresses", those(train::gradient_syncs(), &SyncEntry::compresses)},
             {"shards", those(train::gradient_syncs(), &SyncEntry::shards)},
             {"waits-in-backward", those(train::gradient_syncs(), &SyncEntry::waits_in_backward)}})
        .offer(
            "backend", names_of(comm::backends()),
            {{"gpu-memory", those(comm::backends(),
                                  [](auto& one) { return one.memory == comm::Memory::device; })}})
        .offer("lr-schedule", {train::kLrShapes.begin(), train::kLrShapes.end()})
        .offer("lr-scaling", {train::kLrScalings.begin(), train::kLrScalings.end()});
}

TrainingOptions settle_training(const options::Options& given, const CommonSettings& common,
                                int world_size) {
    TrainingOptions all;
    all.settings = given.fields<TrainingSettings>();
    all.common = common;
    all.has_own_batch = all.settings.batch_size.has_value();
    all.has_global_batch = all.settings.global_batch_size.has_value();
    all.is_first_look = !all.settings.steps && !all.settings.epochs && !all.settings.ablation;
    settle_all(all, world_size);
    given.check_relations(all.settings, all.common);
    constexpr std::array kCompressions{"none", "fp16", "bf16"};
    all.compression = base::named<train::Compression>(kCompressions, all.settings.compress).value();
    all.outline = outline_of(all);
    if (all.settings.flops_per_token || all.settings.peak_tflops)
        nn::settle_mfu(all.outline, all.settings.flops_per_token);
    settle_channels_last(all.settings, all.outline,
                         model_entry(all.settings).defaults.channels_last);
    return all;
}

std::vector<options::Effective> TrainingOptions::effective() const {
    return experiments::effective(vocabulary::training_settings(), settings, common);
}

}  // namespace ranklab::experiments
