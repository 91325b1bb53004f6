#include "data/volume_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "hdf5/file.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {
namespace {

constexpr const char* kWanted = "a volume file has /Nbody [4, L, L, L] and /Hydro [5, L, L, L], float32";

// Called with the library locked; closed so, too, since workers may use it by then.
std::shared_ptr<hdf5::File> open_hdf5(const std::filesystem::path& path) {
    base::refuse_irregular<base::DataError>(path);
    if (!std::filesystem::exists(path))
        throw base::DataError(
            fmt::format("there is no file {}; `ranklab data make cosmology` makes one", path.string()));
    if (!hdf5::is_hdf5(path))
        throw base::DataError(fmt::format("{} is not an HDF5 file; {}", path.string(), kWanted));
    return {new hdf5::File(hdf5::File::open_to_read(path)), [](hdf5::File* file) {
                const std::lock_guard lock(hdf5::library_mutex());
                delete file;
            }};
}

std::string text_of(const std::vector<std::int64_t>& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

// What the file is refused for, with its name.
hdf5::DatasetPlace place_in(const hdf5::Group& root, const std::string& name, const std::string& file) try {
    return hdf5::place_of(root, name);
} catch (base::DataError& error) {
    error.add_context(file);
    throw;
}

hdf5::DatasetPlace checked_place(const hdf5::Group& root, const std::string& name, const std::string& file) {
    if (!root.has(name)) throw base::DataError(fmt::format("{} has no dataset /{}; {}", file, name, kWanted));
    auto place = place_in(root, name, file);
    const auto& shape = place.shape;
    if (!place.is_float32)
        throw base::DataError(fmt::format("/{} of {} holds no float32; {}", name, file, kWanted));
    if (shape.size() != 4 || shape[0] < 1 || shape[1] < 1 || shape[2] != shape[1] || shape[3] != shape[1])
        throw base::DataError(
            fmt::format("/{} of {} has the shape {}; {}", name, file, text_of(shape), kWanted));
    return place;
}

// The library reads zeros behind a file's end.
void check_whole(const hdf5::DatasetPlace& place, const char* name, const std::filesystem::path& file) {
    const auto size = std::filesystem::file_size(file);
    if (place.direct() && place.end() > size)
        throw base::DataError(fmt::format("{} is truncated: /{} ends at byte {}, the file at byte {}",
                                          file.string(), name, place.end(), size));
}

ByteAccess byte_access(VolumeAccess access, const std::filesystem::path& path) {
    switch (access) {
        case VolumeAccess::mapped:
            return ByteAccess::mapped;
        case VolumeAccess::memory:
            return ByteAccess::resident;
        case VolumeAccess::automatic:
            return access_for(path);
        default:
            return ByteAccess::read;
    }
}

}  // namespace

// What is known while a file is being opened.
class VolumeFile::Opening {
  public:
    Opening(const std::filesystem::path& path, VolumeAccess access)
        : path_(path),
          access_(access),
          library_(open_hdf5(path)),
          root_(library_->root()),
          nbody_(checked_place(root_, "Nbody", path.string())),
          hydro_(checked_place(root_, "Hydro", path.string())) {
        if (nbody_.shape[1] != hydro_.shape[1])
            throw base::DataError(fmt::format("/Nbody {} and /Hydro {} of {} are not of one cube",
                                              text_of(nbody_.shape), text_of(hydro_.shape), path.string()));
    }

    void finish(VolumeFile& file) {
        check_whole(nbody_, "Nbody", path_);
        check_whole(hydro_, "Hydro", path_);
        file.edge_ = nbody_.shape[1];
        file.nbody_channels_ = nbody_.shape[0];
        file.hydro_channels_ = hydro_.shape[0];
        if (nbody_.direct() && hydro_.direct() && access_ != VolumeAccess::library) {
            by_bytes(file);
        } else {
            by_library(file);
        }
    }

  private:
    void by_bytes(VolumeFile& file) {
        const auto bytes = std::make_shared<FileBytes>(path_, byte_access(access_, path_));
        file.how_ = !bytes->is_mapped() ? "read" : access_ == VolumeAccess::memory ? "in memory" : "mapped";
        file.nbody_ = direct_field(name("Nbody"), bytes, std::move(nbody_));
        file.hydro_ = direct_field(name("Hydro"), bytes, std::move(hydro_));
    }

    void by_library(VolumeFile& file) {
        const auto& indirect = nbody_.direct() ? hydro_ : nbody_;
        const auto why = indirect.direct() ? "that was asked for" : indirect.indirect;
        if (access_ == VolumeAccess::memory) {
            file.how_ = "in memory, through HDF5, since " + why;
            file.nbody_ = in_memory("Nbody", nbody_);
            file.hydro_ = in_memory("Hydro", hydro_);
            return;
        }
        file.how_ = "through HDF5, since " + why;
        file.nbody_ = library_field(name("Nbody"), open("Nbody"));
        file.hydro_ = library_field(name("Hydro"), open("Hydro"));
        file.library_ = library_;
    }

    std::unique_ptr<VolumeField> in_memory(const char* dataset, const hdf5::DatasetPlace& place) {
        const auto opened = open(dataset);
        return memory_field(name(dataset), *opened, place);
    }

    std::shared_ptr<const hdf5::Object> open(const char* dataset) {
        constexpr std::uint64_t kCache = 256U << 20U;  // 27 chunks of [5, 64, 64, 64], and more
        return {new hdf5::Object(hdf5::open_for_boxes(root_, dataset, kCache)),
                [](const hdf5::Object* object) {
                    const std::lock_guard lock(hdf5::library_mutex());
                    delete object;
                }};
    }
    std::string name(const char* dataset) const { return fmt::format("{}:/{}", path_.string(), dataset); }

    std::filesystem::path path_;
    VolumeAccess access_;
    std::shared_ptr<hdf5::File> library_;
    hdf5::Group root_;
    hdf5::DatasetPlace nbody_;
    hdf5::DatasetPlace hydro_;
};

VolumeFile::VolumeFile(const std::filesystem::path& path, VolumeAccess access) {
    try {
        const std::lock_guard lock(hdf5::library_mutex());
        Opening(path, access).finish(*this);
    } catch (const base::Hdf5Error& error) {  // a damaged file is wrong data, not a failure of ours
        throw base::DataError(fmt::format("{} cannot be read as volumes, it is damaged or truncated ({})",
                                          path.string(), error.what()));
    }
}

VolumeFile::~VolumeFile() = default;

}  // namespace ranklab::data
