#include "experiments/training/checkpoint.hpp"

#include <fmt/format.h>
#include <torch/types.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "hdf5/array.hpp"
#include "results/staged_file.hpp"
#include "train/equal_state.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "checkpoint";
constexpr std::size_t kDigits = 8;  // of the checksum, after the HDF5 file

std::string checksum_of(std::span<const std::byte> bytes) {
    return fmt::format("{:08x}",
                       crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Checked before HDF5 reads the file: HDF5 1.10 may crash on damaged structures.
bool has_its_checksum(std::span<const std::byte> bytes) {
    const auto digits = bytes.last(std::min(bytes.size(), kDigits));
    const std::string expected = checksum_of(bytes.first(bytes.size() - digits.size()));
    return std::ranges::equal(digits, std::as_bytes(std::span(expected)));
}

}  // namespace

CheckpointFile::CheckpointFile(const fs::path& folder) : path_(folder / "checkpoint.h5") {}

void CheckpointFile::prepare(std::uint64_t expected_bytes) const {
    base::make_folders(path_.parent_path(), kSetting);
    if (const auto kind = base::irregular_kind(path_); !kind.empty())
        throw base::OptionError(
            fmt::format("{} is {}, not a file; name another folder", path_.string(), kind),
            {kSetting});
    results::remove_leftovers(path_);
    results::StagedFile(path_, kSetting).reserve(expected_bytes);
}

std::optional<hdf5::File> CheckpointFile::open() const {
    const auto file = base::open_regular<base::DataError>(path_, O_RDONLY);
    if (!file && errno == ENOENT) return std::nullopt;
    if (!file) base::throw_read_errno("open", path_, errno, kSetting);
    std::vector<std::byte> bytes(fs::file_size(path_));
    const auto read = base::read_whole(file.get(), bytes);
    if (!read) base::throw_read_errno("read", path_, errno, kSetting);
    bytes.resize(*read);
    if (!has_its_checksum(bytes))
        throw base::DataError(
            "the checkpoint is damaged, cut short, or no checkpoint of this version; restore it, "
            "or begin anew in another folder");
    auto opened = hdf5::File::open_to_read(path_);
    if (const auto schema = opened.root().int_attribute(kSchemaName); schema != kSchema)
        throw base::DataError(
            fmt::format("the checkpoint has schema {}, and this ranklab reads {}; use the version "
                        "that wrote it, or begin anew",
                        schema, kSchema));
    return opened;
}

std::uint64_t CheckpointFile::write(std::span<const std::byte> image) const {
    const std::string checksum = checksum_of(image);
    results::StagedFile staged(path_, kSetting);
    staged.reserve(image.size() + checksum.size());
    staged.write(image);
    staged.write(std::as_bytes(std::span(checksum)));
    staged.commit();
    return image.size() + checksum.size();
}

namespace {

using Json = nlohmann::json;

constexpr const char* kSettings = "settings_json";

void write_tensor(const hdf5::Group& group, const std::string& name, const torch::Tensor& tensor) {
    const torch::Tensor dense = tensor.detach().cpu().contiguous();
    const auto* begin = static_cast<const std::byte*>(dense.const_data_ptr());
    hdf5::write_typed(group, name,
                      {train::element_of(dense.scalar_type()),
                       dense.sizes().vec(),
                       {begin, begin + dense.nbytes()}});
}

torch::Tensor tensor_of(const void* bytes, torch::IntArrayRef shape, torch::Dtype type) {
    torch::Tensor tensor = torch::empty(shape, type);
    if (tensor.nbytes() > 0) std::memcpy(tensor.mutable_data_ptr(), bytes, tensor.nbytes());
    return tensor;
}

torch::Tensor read_tensor(const hdf5::Group& group, const std::string& name) {
    const auto array = hdf5::read_typed(group, name);
    return tensor_of(array.bytes.data(), array.shape, train::dtype_of(array.element));
}

template <class NamedTensors>
void write_tensors(const hdf5::Group& group, const NamedTensors& tensors) {
    for (const auto& item : tensors) write_tensor(group, item.key(), item.value());
}

// Throws DataError unless the group has `expected` members: extra ones would not be read.
void check_count(const hdf5::Group& group, std::size_t expected) {
    if (const auto count = group.members().size(); count != expected)
        throw base::DataError(
            fmt::format("the checkpoint has {} entries in {}, but this run needs {}; the file is "
                        "of another model",
                        count, group.path(), expected));
}

// Reads the model's tensors. Throws DataError unless names, shapes and types are the model's.
template <class NamedTensors>
void read_tensors(const hdf5::Group& group, const NamedTensors& tensors) {
    check_count(group, tensors.size());
    for (const auto& item : tensors) {
        const auto stored = read_tensor(group, item.key());
        const auto& wanted = item.value();
        if (stored.sizes() != wanted.sizes() || stored.scalar_type() != wanted.scalar_type())
            throw base::DataError(
                fmt::format("the checkpoint's '{}' of shape {} does not fit this model's of shape "
                            "{}; the file is of another model",
                            item.key(), base::shape_text(stored.sizes().vec()),
                            base::shape_text(wanted.sizes().vec())));
        item.value().copy_(stored);
    }
}

std::string save_generator(at::Generator generator) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    const torch::Tensor state = generator.get_state();
    return {static_cast<const char*>(state.const_data_ptr()), state.nbytes()};
}

void load_generator(at::Generator generator, const std::string& bytes) {
    const auto state =
        tensor_of(bytes.data(), static_cast<std::int64_t>(bytes.size()), torch::kByte);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    try {
        generator.set_state(state);
    } catch (const c10::Error&) {
        throw base::DataError("the checkpoint's state of LibTorch's random generator is invalid");
    }
}

}  // namespace

void write_settings(const hdf5::Group& root, const CheckpointSettings& settings) {
    root.set_text(kSettings, Json(settings).dump(-1, ' ', false, Json::error_handler_t::replace));
}

void check_same_settings(const CheckpointSettings& now, const hdf5::Group& root) {
    const auto stored = Json::parse(root.text_attribute(kSettings)).get<CheckpointSettings>();
    const auto value_in = [](const CheckpointSettings& settings, const std::string& name) {
        const auto found = settings.find(name);
        return found == settings.end() ? "none" : found->second;
    };
    CheckpointSettings all = now;
    all.insert(stored.begin(), stored.end());
    std::vector<std::string> differences;
    for (const auto& [name, value] : all) {
        const auto here = value_in(now, name), there = value_in(stored, name);
        if (here != there)
            differences.push_back(fmt::format("{} {} (now {})", base::printable(name, 80),
                                              base::printable(there, 80),
                                              base::printable(here, 80)));
    }
    if (differences.empty()) return;
    throw base::OptionError(fmt::format(
        "the checkpoint's run had {}; give the same settings, or another folder with --checkpoint",
        fmt::join(differences, ", ")));
}

void write_parameters(const hdf5::Group& group, const nn::Model& model) {
    write_tensors(group, model.named_parameters());
}

void write_training(const hdf5::Group& root, const nn::Model& model, train::Optimizer& optimizer) {
    write_parameters(root.create_group("parameters"), model);
    write_tensors(root.create_group("buffers"), model.named_buffers());
    const auto kinds = root.create_group("optimizer");
    const auto names = train::trained_parameter_names(model);
    for (const auto& state : optimizer.state()) {
        const auto group = kinds.create_group(state.name);
        for (std::size_t i = 0; i < names.size(); ++i)
            if (state.tensors[i].defined()) write_tensor(group, names[i], state.tensors[i]);
    }
}

void read_training(const hdf5::Group& root, nn::Model& model, train::Optimizer& optimizer) {
    const torch::NoGradGuard no_gradients;
    read_tensors(root.open_group("parameters"), model.named_parameters());
    read_tensors(root.open_group("buffers"), model.named_buffers());
    const auto kinds = root.open_group("optimizer");
    const auto names = train::trained_parameter_names(model);
    auto states = optimizer.state();
    check_count(kinds, states.size());
    for (auto& state : states) {
        const auto group = kinds.open_group(state.name);
        std::size_t found = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const bool has = group.has(names[i]);
            state.tensors[i] = has ? read_tensor(group, names[i]) : torch::Tensor();
            if (has) ++found;
        }
        check_count(group, found);
    }
    optimizer.load_state(states);
}

RankState generator_state(const std::string& name, const at::Generator& generator) {
    return {name, [generator] { return save_generator(generator); },
            [generator](const std::string& bytes) { load_generator(generator, bytes); }};
}

void write_ranks(const hdf5::Group& root, const std::vector<RankState>& states,
                 const RankBytes& by_rank) {
    const auto ranks = root.create_group("ranks");
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        const auto group = ranks.create_group(fmt::format("{}", rank));
        for (std::size_t i = 0; i < states.size(); ++i)
            hdf5::write_bytes(group, states[i].name, by_rank[rank][i]);
    }
}

RankBytes read_ranks(const hdf5::Group& root, const std::vector<RankState>& states, int ranks) {
    RankBytes by_rank(static_cast<std::size_t>(ranks));
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        const auto group = root.open_group("ranks").open_group(fmt::format("{}", rank));
        check_count(group, states.size());
        for (const auto& state : states)
            by_rank[rank].push_back(hdf5::read_bytes(group, state.name));
    }
    return by_rank;
}

}  // namespace ranklab::experiments
