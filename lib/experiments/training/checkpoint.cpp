#include "experiments/training/checkpoint.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/steps.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kCompletedSteps = "completed_steps";

// Counts the parameters three times, since no optimizer keeps more than two values per parameter.
// A generator's state is 5 KiB.
std::uint64_t expected_bytes(const nn::Model& model, int ranks) {
    constexpr std::uint64_t kPerRank = 8192;
    constexpr std::uint64_t kRest = 1U << 17U;
    const auto bytes = 3 * train::bytes_of(model.parameters()) + train::bytes_of(model.buffers());
    return static_cast<std::uint64_t>(bytes) + kPerRank * static_cast<std::uint64_t>(ranks) + kRest;
}

// Returns the options on which the parameters' values depend, the ranks and the training samples.
CheckpointSettings settings_of_numbers(const TrainingOptions& options, std::int64_t samples,
                                       int ranks) {
    CheckpointSettings settings{{"ranks", fmt::format("{}", ranks)},
                                {"training samples", fmt::format("{}", samples)}};
    for (const auto& [row, value] : options.effective())
        if (row->decides_numbers) settings["--" + row->name] = value;
    return settings;
}

// Returns the states of this rank, in an order that is equal on all ranks.
std::vector<RankState> rank_states_of(const TrainingSteps& steps) {
    std::vector<RankState> states{
        generator_state("torch_cpu_generator", at::detail::getDefaultCPUGenerator())};
    const auto* const replicas = steps.replicas();
    for (std::size_t r = 1; replicas != nullptr && r < replicas->count(); ++r)
        states.push_back(
            generator_state(fmt::format("replica_{}_generator", r), replicas->generator(r)));
    if (auto* const scaler = steps.scaler(); scaler != nullptr)
        states.push_back({"grad_scaler", [scaler] { return scaler->save(); },
                          [scaler](const std::string& state) { scaler->load(state); }});
    if (const auto device = steps.parts().device; !device.is_cpu())
        states.push_back(
            generator_state("torch_gpu_generator", at::globalContext().defaultGenerator(device)));
    return states;
}

}  // namespace

Checkpoint::Checkpoint(const TrainingOptions& options, std::int64_t samples, const nn::Model& model,
                       comm::Communicator& control)
    : control_(control),
      file_(*options.settings.checkpoint),
      settings_(settings_of_numbers(options, samples, control.world_size())) {
    comm::all_or_throw(control_, [&] {
        if (control_.rank() > 0) return;
        if (!options.settings.resume && std::filesystem::exists(path()))
            throw base::OptionError(
                fmt::format("{} exists; continue its run with --resume, or name another folder",
                            path().string()),
                {"checkpoint"});
        file_.prepare(expected_bytes(model, control_.world_size()));
    });
    if (!options.settings.resume) return;
    on_file([this] {
        if (control_.rank() == 0) find();
    });
    resumed_from_ = comm::from_root(control_, resumed_from_);
}

// Adds the file's name to errors. An HDF5 error becomes a DataError: the file is no checkpoint.
void Checkpoint::on_file(const std::function<void()>& work) {
    comm::all_or_throw(control_, [&] {
        const std::lock_guard lock(hdf5::library_mutex());
        const std::string file = path().string();
        try {
            work();
        } catch (const nlohmann::json::exception&) {
            throw base::DataError(fmt::format("{}: its settings cannot be read", file));
        } catch (const base::Hdf5Error& error) {
            throw base::DataError(fmt::format("{}: {}", file, error.what()));
        } catch (base::Error& error) {
            error.add_context(file);
            throw;
        }
    });
}

void Checkpoint::find() {
    stored_ = file_.open();
    if (!stored_)
        return base::log::info(fmt::format(
            "there is no checkpoint {} yet: the run starts from the beginning", path().string()));
    check_same_settings(settings_, stored_->root());
    resumed_from_ = stored_->root().int_attribute(kCompletedSteps);
    if (resumed_from_ < 1) throw base::DataError("the checkpoint has no completed step");
}

void Checkpoint::restore(nn::Model& model, TrainingSteps& steps) {
    if (resumed_from_ == 0) return;
    const auto states = rank_states_of(steps);
    RankBytes by_rank;
    on_file([&] {
        if (control_.rank() > 0) return;
        read_training(stored_->root(), model, steps.optimizer());
        by_rank = read_ranks(stored_->root(), states, control_.world_size());
        stored_.reset();
    });
    steps.make_ranks_equal();
    by_rank = comm::from_root(control_, std::move(by_rank));
    on_file([&] {
        for (std::size_t i = 0; i < states.size(); ++i)
            states[i].load(by_rank[static_cast<std::size_t>(control_.rank())][i]);
    });
    if (control_.rank() == 0)
        base::log::info(
            fmt::format("continuing after step {} of {}", resumed_from_, path().string()));
}

RankBytes Checkpoint::gather_states(const TrainingSteps& steps) const {
    std::vector<std::string> mine;
    for (const auto& state : rank_states_of(steps)) mine.push_back(state.save());
    return comm::gather_values(control_, mine);
}

std::uint64_t Checkpoint::write(std::int64_t completed_steps, const nn::Model& model,
                                TrainingSteps& steps, const RankBytes& by_rank) {
    std::vector<std::byte> image;
    {
        // Loader threads may read volumes through HDF5 meanwhile.
        const std::lock_guard lock(hdf5::library_mutex());
        const auto file = hdf5::File::create_in_memory();
        const auto root = file.root();
        root.set_int(CheckpointFile::kSchemaName, CheckpointFile::kSchema);
        root.set_int(kCompletedSteps, completed_steps);
        write_settings(root, settings_);
        write_training(root, model, steps.optimizer());
        write_ranks(root, rank_states_of(steps), by_rank);
        image = file.image();
    }
    return file_.write(image);
}

}  // namespace ranklab::experiments
