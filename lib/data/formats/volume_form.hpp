// The two datasets of a volume file, opened and checked before a value is read, and the results of
// a pass over the values. Faults are a DataError with the file's name.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "data/source.hpp"
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
/// DataError unless both have the same extents, but for the channels.
void check_extents(const std::filesystem::path& file, const hdf5::Volume& first,
                   const hdf5::Volume& other);
/// The checksum that was stored with its values, where one was.
std::optional<std::uint64_t> stored_sum(const hdf5::Volume& volume);

/// A checksum that can be summed in any order: for the elements from place `first` of a row-major
/// array the sum, modulo 2^64, of mix64(place * 0x9E3779B97F4A7C15 + the float's 32 bits).
inline std::uint64_t sum64(std::uint64_t first, std::span<const float> values) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        sum += mix64((first + i) * kGolden64 + std::bit_cast<std::uint32_t>(values[i]));
    return sum;
}
/// As it stands in a file: "sum64:0123456789abcdef".
inline std::string sum64_text(std::uint64_t sum) {
    return fmt::format("sum64:{:016x}", sum);
}
/// Collective: the ranks' numbers added modulo 2^64.
std::uint64_t sum_over_ranks(comm::Communicator& control, std::uint64_t mine);

/// Counts values; after gather() those of all ranks.
struct VolumeScan {
    static constexpr auto kNowhere = std::numeric_limits<std::int64_t>::max();
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    /// The row-major place of the first value that is not finite.
    std::int64_t first_bad = kNowhere;
    std::uint64_t sum = 0;

    /// Values from `place` of the whole array on.
    void add(std::int64_t place, std::span<const float> values);
    /// Collective: of all ranks.
    void gather(comm::Communicator& control);
};
/// Throws DataError where a value of `what` ("x.h5:/Nbody", "x.npy") is not finite, or the sum is
/// wrong.
void judge(const std::string& what, const VolumeScan& found, const std::vector<std::int64_t>& shape,
           std::optional<std::uint64_t> stored);

}  // namespace ranklab::data
