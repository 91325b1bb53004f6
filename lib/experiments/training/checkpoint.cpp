#include "experiments/training/checkpoint.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/exchange.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

// The parameters, and twice their size for the optimizer: none of ours keeps more. A generator's
// state is 5 KiB.
std::uint64_t expected_bytes(const nn::Model& model, int ranks) {
    constexpr std::uint64_t kPerRank = 8192;
    constexpr std::uint64_t kRest = 1U << 17U;
    std::uint64_t bytes = 0;
    for (const auto& parameter : model.parameters()) bytes += 3 * parameter.nbytes();
    for (const auto& buffer : model.buffers()) bytes += buffer.nbytes();
    return bytes + kPerRank * static_cast<std::uint64_t>(ranks) + kRest;
}

using Bytes = std::vector<std::byte>;

// Root's bytes on every rank; nothing where root has none.
std::optional<Bytes> broadcast_bytes(comm::Communicator& control, std::optional<Bytes> bytes) {
    std::int64_t size = bytes ? static_cast<std::int64_t>(bytes->size()) : -1;
    control.broadcast(comm::view(std::span(&size, 1)), 0);
    if (size < 0) return std::nullopt;
    if (!bytes) bytes.emplace(static_cast<std::size_t>(size));
    control.broadcast(comm::view(std::span(*bytes)), 0);
    return bytes;
}

}  // namespace

CheckpointSettings settings_of_numbers(const std::vector<options::Effective>& settings,
                                       CheckpointSettings facts) {
    for (const auto& [row, value] : settings)
        if (row->decides_numbers) facts["--" + row->name] = value;
    return facts;
}

Checkpoints::Checkpoints(const Plan& plan, comm::Communicator& control, const nn::Model& model)
    : control_(control), file_(plan.folder), every_(plan.every), settings_(plan.settings) {
    comm::all_or_throw(control_, [&] {
        if (control_.rank() == 0) file_.prepare(expected_bytes(model, control_.world_size()));
    });
    find(plan.resume);
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

void Checkpoints::find(bool resume) {
    std::optional<Bytes> bytes;
    comm::all_or_throw(control_, [&] {
        if (control_.rank() != 0) return;
        if (!resume) {
            if (file_.set_aside_first())
                base::log::warn(
                    fmt::format("{} is there, but --resume is not given: the run starts from the "
                                "beginning, and that file is kept as {} when the next is written",
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

void Checkpoints::restore(nn::Model& model, train::Optimizer& optimizer) {
    if (!stored_) return;
    together_on_file([&] {
        take_training(*stored_, model, optimizer);
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
    // The others wait here, not in the next step, whose time is measured.
    std::int32_t code = failure_code_;
    control_.broadcast(comm::view(std::span(&code, 1)), 0);
    return code == 0;
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
        failure_code_ = 0;
    } catch (const std::exception& error) {
        const bool internal = base::describe_failure(error).code == base::ExitCode::internal;
        failure_code_ =
            static_cast<int>(internal ? base::ExitCode::internal : base::ExitCode::environment);
        failures_.push_back(fmt::format("the checkpoint after step {} was not written: {}",
                                        checkpoint.completed_steps, options::user_message(error)));
        base::log::warn(failures_.back());
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
    // A failure of the last attempt comes first: it decides the exit code.
    run.warnings.insert(failure_code_ != 0 ? run.warnings.begin() : run.warnings.end(),
                        failures_.rbegin(), failures_.rend());
    if (run.exit_code == 0) run.exit_code = failure_code_;
}

}  // namespace ranklab::experiments
