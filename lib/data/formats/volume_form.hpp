// Opens the two datasets of a volume file, checks their shape and type before a value is read, and
// checks their values. Faults throw DataError with the file's name.
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

#include "base/numbers.hpp"
#include "comm/communicator.hpp"
#include "data/source.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {

inline constexpr std::array kVolumeNames{"Nbody", "Hydro"};

using VolumeShape = std::array<std::int64_t, 4>;  ///< channels, depth (z), height (y), width (x)

struct Volume {
    hdf5::Object object;
    hdf5::DatasetPlace place;

    VolumeShape shape() const {
        return {place.shape[0], place.shape[1], place.shape[2], place.shape[3]};
    }
};

/// The box that holds `planes` in all channels.
inline hdf5::Box part_of(const VolumeShape& shape, base::Share planes) {
    return {{0, planes.first, 0, 0}, {shape[0], planes.count, shape[2], shape[3]}};
}

struct VolumePair {
    hdf5::File file;
    std::vector<Volume> volumes;  ///< Nbody, Hydro
};

/// Opens both datasets, which must be float32 [4, D, H, W] and [5, D, H, W] of equal extents and
/// complete in the file. `cube`: D = H = W, too.
VolumePair open_volumes(const std::filesystem::path& file, bool cube);

/// The checksum that was stored with the values, if any.
std::optional<std::uint64_t> stored_sum(const Volume& volume);

/// A checksum whose parts can be added in any order: over the elements of a row-major array from
/// index `first` on, the sum modulo 2^64 of mix64(index * kGolden64 + the float's 32 bits).
inline std::uint64_t sum64(std::uint64_t first, std::span<const float> values) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        sum += mix64((first + i) * kGolden64 + std::bit_cast<std::uint32_t>(values[i]));
    return sum;
}
inline std::string sum64_text(std::uint64_t sum) {
    return fmt::format("sum64:{:016x}", sum);
}

/// Range, checksum and faults of an array's values: this rank's values until gather(), then all.
struct ValueScan {
    static constexpr auto kNowhere = std::numeric_limits<std::int64_t>::max();
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    std::int64_t first_bad = kNowhere;  ///< row-major index of the first value that is not finite
    std::uint64_t sum = 0;              ///< sum64

    /// Adds consecutive values of the array, the first at the row-major index `place`.
    void add(std::int64_t place, std::span<const float> values);
    /// Adds all channels of a volume's `planes`, in part_of()'s order.
    void add_planes(const VolumeShape& shape, base::Share planes, std::span<const float> values);
    /// Collective. Combines the ranks' scans.
    void gather(comm::Communicator& control);
    /// Throws DataError if a value of `what` ("x.h5:/Nbody", "x.npy") is not finite, or if the sum
    /// differs from the stored one.
    void judge(const std::string& what, std::span<const std::int64_t> shape,
               std::optional<std::uint64_t> stored) const;
};

}  // namespace ranklab::data
