// The two datasets of a volume file, opened and checked before a value is read, and what a pass over the
// values finds: the same for all that read whole files (verify, convert). What is not as it should be is a
// DataError with the file's name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
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

/// Of all ranks after gather().
struct VolumeScan {
    static constexpr auto kNowhere = std::numeric_limits<std::int64_t>::max();

    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    std::int64_t first_bad = kNowhere;  ///< the row-major place of the first value that is not finite
    std::uint64_t sum = 0;

    /// Values from `place` of the whole array on.
    void add(std::int64_t place, std::span<const float> values);
    /// Collective: of all ranks.
    void gather(comm::Communicator& control);
};

/// "[1, 0, 3, 7]": extents, or the indices of a row-major place among them.
std::string place_text(std::int64_t place, const std::vector<std::int64_t>& shape);

/// DataError where a value of /NAME is not finite, or the sum is not the stored one.
void judge_volume(const std::filesystem::path& file, const char* name, const VolumeScan& found,
                  const std::vector<std::int64_t>& shape, std::optional<std::uint64_t> stored);

/// The same of an npy file in C order.
void judge_npy(const std::filesystem::path& file, const VolumeScan& found,
               const std::vector<std::int64_t>& shape);

}  // namespace ranklab::data
