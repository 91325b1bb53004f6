#include "experiments/training/checkpoint.hpp"

#include <ATen/Context.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/verdicts.hpp"
#include "experiments/training/steps.hpp"
#include "options/schema.hpp"

namespace ranklab::experiments {
namespace {

// The parameters, and twice their size for the optimizer: no optimizer of the catalogue keeps more.
// A generator's state is 5 KiB.
std::uint64_t expected_bytes(const nn::Model& model, int ranks) {
    constexpr std::uint64_t kPerRank = 8192;
    constexpr std::uint64_t kRest = 1U << 17U;
    std::uint64_t bytes = 0;
    for (const auto& parameter : model.parameters()) bytes += 3 * parameter.nbytes();
    for (const auto& buffer : model.buffers()) bytes += buffer.nbytes();
    return bytes + kPerRank * static_cast<std::uint64_t>(ranks) + kRest;
}

using Bytes = std::vector<std::byte>;

// Returns rank 0's bytes on every rank, or nothing if rank 0 has none.
std::optional<Bytes> broadcast_bytes(comm::Communicator& control, std::optional<Bytes> bytes) {
    const auto size =
        comm::from_root(control, bytes ? static_cast<std::int64_t>(bytes->size()) : -1);
    if (size < 0) return std::nullopt;
    if (!bytes) bytes.emplace(static_cast<std::size_t>(size));
    control.broadcast(comm::view(std::span(*bytes)), 0);
    return bytes;
}

// The options on which the parameters' values depend, and facts.
CheckpointSettings settings_of_numbers(const TrainingOptions& options, std::int64_t samples,
                                       int ranks) {
    CheckpointSettings settings{{"ranks", fmt::format("{}", ranks)},
                                {"training samples", fmt::format("{}", samples)}};
    for (const auto& [row, value] : options.effective())
        if (row->decides_numbers) settings["--" + row->name] = value;
    return settings;
}

}  // namespace

Checkpoints::Checkpoints(const TrainingOptions& options, std::int64_t samples,
                         const nn::Model& model, comm::Communicator& control)
    : control_(control),
      file_(*options.settings.checkpoint),
      every_(options.settings.checkpoint_every.value_or(0)),
      settings_(settings_of_numbers(options, samples, control.world_size())) {
    comm::all_or_throw(control_, [&] {
        if (control_.rank() == 0) file_.prepare(expected_bytes(model, control_.world_size()));
    });
    find(options.settings.resume);
}

void Checkpoints::together_on_file(const std::function<void()>& work) {
    comm::all_or_throw(control_, [&] {
        try {
            work();
        } catch (base::Error& error) {
            error.add_context(file_.path().string());
            throw;
        }
    });
}

void Checkpoints::find(bool resumes) {
    std::optional<Bytes> bytes;
    comm::all_or_throw(control_, [&] {
        if (control_.rank() != 0) return;
        if (!resumes) {
            if (file_.set_aside_first())
                base::log::warn(
                    fmt::format("{} exists, but --resume is not given: the run starts from the "
                                "beginning, and keeps the file as {} when it writes its own",
                                file_.path().string(), CheckpointFile::kPrevious));
            return;
        }
        bytes = file_.read();
        if (!bytes)
            base::log::info(
                fmt::format("there is no checkpoint {} yet: the run starts from the beginning",
                            file_.path().string()));
    });
    bytes = broadcast_bytes(control_, std::move(bytes));
    if (!bytes) return;
    together_on_file([&] {
        stored_ = decode(*bytes);
        check_same_settings(settings_, stored_->settings);
    });
    resumed_from_ = stored_->completed_steps;
}

// Adds the states in the same order on all ranks.
void Checkpoints::keep_states_of(TrainingSteps& steps) {
    const auto* const replicas = steps.replicas();
    for (std::size_t r = 1; replicas != nullptr && r < replicas->count(); ++r)
        states_.push_back(
            generator_state(fmt::format("replica_{}_generator", r), replicas->generator(r)));
    if (auto* const scaler = steps.scaler(); scaler != nullptr)
        states_.push_back({"grad_scaler", [scaler] { return scaler->save(); },
                           [scaler](const std::string& state) { scaler->load(state); }});
    if (const auto device = steps.parts().device; !device.is_cpu())
        states_.push_back(
            generator_state("torch_gpu_generator", at::globalContext().defaultGenerator(device)));
}

void Checkpoints::restore(nn::Model& model, TrainingSteps& steps) {
    keep_states_of(steps);
    if (!stored_) return;
    together_on_file([&] {
        take_training(*stored_, model, steps.optimizer());
        take_rank(*stored_, control_.rank(), states_);
    });
    stored_.reset();
    if (control_.rank() == 0)
        base::log::info(
            fmt::format("continuing after step {} of {}", resumed_from_, file_.path().string()));
}

bool Checkpoints::save(std::int64_t completed_steps, const nn::Model& model,
                       train::Optimizer& optimizer) {
    Checkpoint checkpoint;
    checkpoint.completed_steps = completed_steps;
    checkpoint.settings = settings_;
    const bool writes = control_.rank() == 0;
    for (const auto& state : states_) {
        const auto all = comm::gather_texts(control_, state.save());
        if (writes) put_rank_state(checkpoint, state.name, all);
    }
    if (writes) write(checkpoint, model, optimizer);
    // The other ranks wait here for rank 0's write, so that it is not part of their next step's
    // time.
    return !comm::from_root(control_, last_failed_);
}

// A checkpoint that cannot be written does not end the run.
void Checkpoints::write(Checkpoint& checkpoint, const nn::Model& model,
                        train::Optimizer& optimizer) {
    try {
        put_training(checkpoint, model, optimizer);
        const Bytes bytes = encode(checkpoint);
        file_.write(bytes);
        ++written_;
        last_step_ = checkpoint.completed_steps;
        bytes_ = bytes.size();
        last_failed_ = false;
    } catch (const std::exception& error) {
        last_failed_ = true;
        auto failure = base::describe_failure(error);
        if (failure.code != base::ExitCode::internal) failure.code = base::ExitCode::environment;
        failure.sentence = fmt::format("the checkpoint after step {} was not written: {}",
                                       checkpoint.completed_steps, failure.sentence);
        base::log::warn(options::user_message(failure.sentence, failure.settings));
        failures_.push_back(std::move(failure));
    }
}

void Checkpoints::describe(results::Run& run) const {
    const auto fact = [&run](const char* key, std::int64_t value) {
        run.context.push_back({"checkpoint", key, fmt::format("{}", value)});
    };
    run.context.push_back({"checkpoint", "file", file_.path().string()});
    fact("resumed_from_step", resumed_from_);
    fact("written", written_);
    fact("last_step", last_step_);
    fact("bytes", static_cast<std::int64_t>(bytes_));
    for (const auto& failure : failures_)
        if (last_failed_ && &failure == &failures_.back())
            add_failure(run, failure);
        else
            run.warnings.push_back(options::user_message(failure.sentence, failure.settings));
}

}  // namespace ranklab::experiments
