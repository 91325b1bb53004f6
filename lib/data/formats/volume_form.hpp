// The two datasets of a volume file, opened and checked before a value is read: the same for all that read
// whole files (verify, convert). What is not as it should be is a DataError with the file's name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "hdf5/file.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {

struct VolumeWanted {
    const char* name;
    std::int64_t channels;
};
inline constexpr std::array kVolumesWanted{VolumeWanted{"Nbody", 4}, VolumeWanted{"Hydro", 5}};

hdf5::File open_volume_file(const std::filesystem::path& file);

/// float32 [channels, D, H, W], and all of it is in the file. `cube`: D = H = W.
hdf5::Volume open_volume(const std::filesystem::path& file, const hdf5::File& opened,
                         const VolumeWanted& wanted, bool cube);
/// The same extents, but for the channels.
void check_extents(const std::filesystem::path& file, const hdf5::Volume& first, const hdf5::Volume& other);
/// The checksum that was stored with its values, where one was.
std::optional<std::uint64_t> stored_sum(const std::filesystem::path& file, const hdf5::Volume& volume);

/// Runs `read`, which reads the values of /NAME: where the library cannot, the file is damaged.
void reading_values(const std::filesystem::path& file, const char* name, const std::function<void()>& read);

}  // namespace ranklab::data
