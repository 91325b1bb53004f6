#include "data/formats/volume_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/checksum.hpp"
#include "data/make/slab_writer.hpp"

namespace ranklab::data {

void VolumeScan::add(std::int64_t place, std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = values[i];
        if (!std::isfinite(value)) {
            first_bad = std::min(first_bad, place + static_cast<std::int64_t>(i));
            continue;
        }
        least = std::min(least, value);
        most = std::max(most, value);
    }
    sum += sum64(place, values);
}

void VolumeScan::gather(comm::Communicator& control) {
    least = comm::reduced(control, least, comm::ReduceOp::min);
    most = comm::reduced(control, most, comm::ReduceOp::max);
    first_bad = comm::reduced(control, first_bad, comm::ReduceOp::min);
    sum = sum_over_ranks(control, sum);
}

std::string place_text(std::int64_t place, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        index[axis] = place % shape[axis];
        place /= shape[axis];
    }
    return base::shape_text(index);
}

void judge_volume(const std::filesystem::path& file, const char* name, const VolumeScan& found,
                  const std::vector<std::int64_t>& shape, std::optional<std::uint64_t> stored) {
    if (found.first_bad != VolumeScan::kNowhere)
        throw base::DataError(fmt::format(
            "{}: /{} has a value that is not finite (NaN or infinite) at {}; make or copy the file again",
            file.string(), name, place_text(found.first_bad, shape)));
    if (!stored || *stored == found.sum) return;
    throw base::DataError(fmt::format(
        "{}: the values of /{} give {}, and {} was stored when it was made: the file has changed since; "
        "make or copy it again",
        file.string(), name, sum64_text(found.sum), sum64_text(*stored)));
}

void judge_npy(const std::filesystem::path& file, const VolumeScan& found,
               const std::vector<std::int64_t>& shape) {
    if (found.first_bad == VolumeScan::kNowhere) return;
    throw base::DataError(
        fmt::format("{}: a value is not finite (NaN or infinite) at {}; make or copy the file again",
                    file.string(), place_text(found.first_bad, shape)));
}

}  // namespace ranklab::data
