#include "data/sources/cosmology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "data/dataset.hpp"
#include "data/formats/volume_form.hpp"
#include "data/source.hpp"
#include "hdf5/array.hpp"

namespace ranklab::data {
namespace {

using base::Clock, base::seconds_since;

class Crops final : public Source {
  public:
    Crops(std::shared_ptr<const VolumeFile> file, const CropOptions& options)
        : Source({field_of(file->fields()[0], options), field_of(file->fields()[1], options)},
                 options.samples),
          file_(std::move(file)),
          options_(options) {}

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto place = crop_place(draw.random, file_->edge(), options_.edge, options_.rotate);
        read_field(file_->fields()[0], place, reinterpret_cast<float*>(input), times);
        read_field(file_->fields()[1], place, reinterpret_cast<float*>(target), times);
    }

  private:
    static Field field_of(const VolumeField& field, const CropOptions& options) {
        return {Element::f32, {field.channels(), options.edge, options.edge, options.edge}};
    }

    void read_field(const VolumeField& field, const CropPlace& place, float* to,
                    ReadTimes& times) const {
        const std::int64_t channels = field.channels();
        const std::int64_t cube = options_.edge * options_.edge * options_.edge;
        for (std::int64_t c = 0; c < channels; ++c) {
            const bool is_vector = options_.rotate_vectors && c >= 1 && c <= 3 && channels >= 4;
            const std::size_t axis = is_vector ? c - 1 : 0;
            const std::int64_t channel = is_vector ? 1 + place.rotation.from[axis] : c;
            const bool negate = is_vector && place.rotation.sign[axis] < 0;
            read_channel(field, channel, place, negate, to + c * cube, times);
        }
    }

    // If the rotation keeps rows, reads them directly to their places. Otherwise reads a cube into
    // a buffer that this thread keeps, and rotates the cube.
    void read_channel(const VolumeField& field, std::int64_t channel, const CropPlace& place,
                      bool negate, float* to, ReadTimes& times) const {
        const std::int64_t e = options_.edge;
        const auto& [x, y, z] = place.start;
        const Slab slab{channel, x, e, y, z, e};
        const auto begin = Clock::now();
        if (place.rotation.keeps_rows() && !negate) {
            const auto [base, step] = turned(place.rotation, e);
            field.read(slab, {to + base, step[0], step[1]});
            times.read += seconds_since(begin);
            return;
        }
        // Planes that are a power of two apart would share cache sets.
        const std::int64_t stride = e * e + 16;
        thread_local std::vector<float> cube;
        cube.resize(e * stride);
        field.read(slab, {cube.data(), stride, e});
        const auto read = Clock::now();
        turn(cube.data(), stride, place.rotation, e, negate, to);
        times.read += base::seconds_between(begin, read);
        times.augment += seconds_since(read);
    }

    std::shared_ptr<const VolumeFile> file_;
    CropOptions options_;
};

}  // namespace

CropPlace crop_place(std::uint64_t random, std::int64_t volume_edge, std::int64_t crop_edge,
                     bool rotate) {
    RandomStream numbers(random);
    CropPlace place;
    for (auto& start : place.start) start = numbers.below(volume_edge - crop_edge + 1);
    if (rotate) place.rotation = rotations()[numbers.below(rotations().size())];
    return place;
}

std::int64_t usual_samples(std::int64_t volume_edge, std::int64_t crop_edge) {
    const std::int64_t across = volume_edge / crop_edge;
    return 16 * across * across * across;
}

std::shared_ptr<const Source> crop_source(std::shared_ptr<const VolumeFile> file,
                                          const CropOptions& options) {
    return std::make_shared<Crops>(std::move(file), options);
}

namespace {

// Reads some planes at a time, since HDF5 may buffer all that one call reads.
VolumeField memory_field(const Volume& volume) {
    constexpr std::int64_t kPlanes = 16;
    auto place = volume.place;
    const std::int64_t edge = place.shape[1];
    std::vector<float> values(place.shape[0] * edge * edge * edge);
    std::span<float> left(values);
    for (std::int64_t c = 0; c < place.shape[0]; ++c)
        for (std::int64_t x = 0; x < edge; x += kPlanes) {
            const std::int64_t planes = std::min(kPlanes, edge - x);
            hdf5::read_part(volume.object, {{c, x, 0, 0}, {1, planes, edge, edge}},
                            left.first(planes * edge * edge));
            left = left.subspan(planes * edge * edge);
        }
    place.chunk = place.shape;
    place.offsets = {0};
    const auto& title = volume.object.path();
    return {title, std::make_shared<const FileBytes>(title, std::move(values)), std::move(place)};
}

}  // namespace

VolumeFile::VolumeFile(const std::filesystem::path& path, bool in_memory) try {
    const std::lock_guard lock(hdf5::library_mutex());
    const auto pair = open_volumes(path, true);
    const auto indirect = std::ranges::find_if(
        pair.volumes, [](const auto& volume) { return !volume.place.direct(); });
    if (indirect == pair.volumes.end()) {
        const auto bytes = std::make_shared<const FileBytes>(
            path, in_memory ? ByteAccess::resident : access_for(path));
        how_ = !bytes->is_mapped() ? "read" : in_memory ? "in memory" : "mapped";
        for (const auto& volume : pair.volumes)
            fields_.emplace_back(volume.object.path(), bytes, volume.place);
        return;
    }
    if (!in_memory)
        throw base::DataError(
            fmt::format("crops of {} cannot be read from the file: {}; read all of it into memory",
                        path.string(), indirect->place.indirect),
            {"volume-access inmem"});
    how_ = "in memory";
    for (const auto& volume : pair.volumes) fields_.push_back(memory_field(volume));
} catch (const base::Hdf5Error& error) {  // a damaged file is wrong data, not an internal error
    throw base::DataError(fmt::format("{} is damaged or truncated ({}); make or copy it again",
                                      path.string(), error.what()));
}

namespace {

namespace fs = std::filesystem;

struct Files {
    fs::path train, test;
};

std::optional<Files> files_in(const fs::path& folder) {
    static constexpr std::array<std::array<const char*, 2>, 2> kNames{
        {{"train.h5", "valid.h5"}, {"downsamp_2048crop_train.h5", "downsamp_1024crop_valid.h5"}}};
    for (const auto& [train, test] : kNames)
        if (fs::exists(folder / train) && fs::exists(folder / test))
            return Files{folder / train, folder / test};
    return std::nullopt;
}

Files find_files(const DataRequest& request) {
    constexpr const char* kHow =
        "name a folder of train.h5 and valid.h5 (or of the published "
        "downsamp_2048crop_train.h5 and downsamp_1024crop_valid.h5), or one .h5 file for both; "
        "`ranklab data make cosmology` makes them";
    if (!request.directory.empty() && !fs::is_directory(request.directory))
        return {request.directory, request.directory};
    const fs::path folder = data_root(request.directory);
    if (folder.empty())
        throw base::DataError(fmt::format("no folder of cosmology volumes is given; {}", kHow),
                              {"data-dir", "RANKLAB_DATA"});
    for (const auto& place : {folder, folder / "cosmology"})
        if (const auto files = files_in(place)) return *files;
    throw base::DataError(
        fmt::format("there are no cosmology volumes in {}; {}", folder.string(), kHow),
        {"data-dir", "RANKLAB_DATA"});
}

void check_kind(const DataRequest& request) {
    const auto is_cube = [&](const auto& sizes) {
        return sizes.size() == 4 &&
               std::ranges::count(sizes.begin() + 1, sizes.end(), sizes.back()) == 3;
    };
    const auto &in = request.input, &out = request.target;
    if (!is_cube(in) || !is_cube(out) || in.back() != out.back())
        throw base::OptionError(
            "the cosmology set needs a model whose input and target are cubes of one edge; use "
            "another model or set",
            {"model unet3d", "data"});
}

std::shared_ptr<const VolumeFile> open_file(const fs::path& path, const DataRequest& request) {
    auto file = std::make_shared<const VolumeFile>(path, request.volume.in_memory);
    const auto in = file->fields()[0].channels();
    const auto out = file->fields()[1].channels();
    if (in != request.input[0] || out != request.target[0])
        throw base::DataError(
            fmt::format("{} has {} and {} channels, the model takes {} and returns {}",
                        path.string(), in, out, request.input[0], request.target[0]));
    if (request.input[1] > file->edge())
        throw base::DataError(
            fmt::format("crops of edge {} do not fit into {} of edge {}; make a larger volume",
                        request.input[1], path.string(), file->edge()));
    return file;
}

DataSet open_here(const DataRequest& request, std::int64_t ranks) {
    check_kind(request);
    const Files files = find_files(request);
    const auto train = open_file(files.train, request);
    const auto test = files.test == files.train ? train : open_file(files.test, request);
    const std::int64_t edge = request.input[1];
    const auto samples_of = [&](const VolumeFile& file, std::int64_t asked) {
        return asked > 0 ? asked : usual_samples(file.edge(), edge);
    };
    const CropOptions of_train{edge, samples_of(*train, request.train_samples),
                               request.volume.rotate, request.volume.rotate_vectors};
    const CropOptions of_test{edge, samples_of(*test, request.test_samples), false, false};
    if (of_train.samples < ranks)  // each rank needs a sample per epoch
        throw base::OptionError(fmt::format("{} samples are too few for {} ranks; use more samples",
                                            of_train.samples, ranks),
                                {"train-samples"});
    return {crop_source(train, of_train), crop_source(test, of_test),
            fmt::format("{} ({} cubed, {}), {} ({} cubed, {})", files.train.string(), train->edge(),
                        train->how(), files.test.string(), test->edge(), test->how())};
}

}  // namespace

SourceEntry cosmology_entry() {
    return {
        .name = "cosmology",
        .summary = "random crops of N-body and hydrodynamics volumes, /Nbody and /Hydro in HDF5",
        .open = [](const DataRequest& request, comm::Communicator& control) {
            return open_on_each(control, [&] { return open_here(request, control.world_size()); });
        }};
}

}  // namespace ranklab::data
