// What a pass over a volume's values finds, on all ranks: values that are not finite, and the checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::data {

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
