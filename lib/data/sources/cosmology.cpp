#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "data/dataset.hpp"
#include "data/volumes.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

struct Files {
    fs::path train;
    fs::path test;
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
    const auto& in = request.input;
    const auto& out = request.target;
    const bool fits = in.size() == 4 && out.size() == 4 && in[1] == in[2] && in[2] == in[3] &&
                      out[1] == in[1] && out[2] == in[1] && out[3] == in[1];
    if (!fits)
        throw base::OptionError(
            "the cosmology set needs a model whose input and target are cubes of one edge; use "
            "another "
            "model or set",
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

std::int64_t samples_of(const VolumeFile& file, std::int64_t asked, std::int64_t crop_edge) {
    return asked > 0 ? asked : usual_samples(file.edge(), crop_edge);
}

DataSet open_here(const DataRequest& request, std::int64_t ranks) {
    check_kind(request);
    const Files files = find_files(request);
    const auto train = open_file(files.train, request);
    const auto test = files.test == files.train ? train : open_file(files.test, request);
    const std::int64_t edge = request.input[1];
    const CropOptions of_train{edge, samples_of(*train, request.train_samples, edge),
                               request.volume.rotate, request.volume.rotate_vectors};
    const CropOptions of_test{edge, samples_of(*test, request.test_samples, edge), false, false};
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
