#include "data/volume_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "data/formats/volume_form.hpp"

namespace ranklab::data {
namespace {

// A part at a time: the library may need as much again.
VolumeField memory_field(const std::string& title, const hdf5::Volume& volume) {
    constexpr std::int64_t kPlanes = 16;
    auto place = volume.place();
    const std::int64_t edge = place.shape[1];
    std::vector<float> values(place.shape[0] * edge * edge * edge);
    std::span<float> left(values);
    for (std::int64_t c = 0; c < place.shape[0]; ++c)
        for (std::int64_t x = 0; x < edge; x += kPlanes) {
            const std::int64_t planes = std::min(kPlanes, edge - x);
            volume.read({.first_channel = c, .channels = 1, .first_plane = x, .planes = planes},
                        left.first(planes * edge * edge));
            left = left.subspan(planes * edge * edge);
        }
    place.chunk = place.shape;
    place.offsets = {0};
    return {title, std::make_shared<const FileBytes>(title, std::move(values)), std::move(place)};
}

}  // namespace

VolumeFile::VolumeFile(const std::filesystem::path& path, bool in_memory) try {
    const std::lock_guard lock(hdf5::library_mutex());
    const auto file = open_volume_file(path);
    const auto nbody = open_volume(path, file, kVolumesWanted[0], true);
    const auto hydro = open_volume(path, file, kVolumesWanted[1], true);
    check_extents(path, nbody, hydro);
    const std::string title = path.string() + ":/";
    if (nbody.place().direct() && hydro.place().direct()) {
        const auto bytes =
            std::make_shared<const FileBytes>(path, in_memory ? ByteAccess::resident : access_for(path));
        how_ = !bytes->is_mapped() ? "read" : in_memory ? "in memory" : "mapped";
        nbody_.emplace(title + "Nbody", bytes, nbody.place());
        hydro_.emplace(title + "Hydro", bytes, hydro.place());
        return;
    }
    if (!in_memory)
        throw base::DataError(
            fmt::format("crops of {} cannot be read from the file, since {}; read all of it into memory",
                        path.string(), (nbody.place().direct() ? hydro : nbody).place().indirect),
            {"volume-access inmem"});
    how_ = "in memory";
    nbody_.emplace(memory_field(title + "Nbody", nbody));
    hydro_.emplace(memory_field(title + "Hydro", hydro));
} catch (const base::Hdf5Error& error) {  // a damaged file is wrong data, not a failure of ours
    throw base::DataError(fmt::format("{} cannot be read as volumes, it is damaged or truncated ({})",
                                      path.string(), error.what()));
}

}  // namespace ranklab::data
