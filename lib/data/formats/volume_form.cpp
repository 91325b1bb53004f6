#include "data/formats/volume_form.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw base::DataError(fmt::format("{}: {}", file.string(), what));
}

std::string place_text(std::int64_t place, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; place /= shape[axis])
        index[axis] = place % shape[axis];
    return base::shape_text(index);
}

hdf5::Volume checked(const fs::path& file, const hdf5::Group& root, const VolumeWanted& wanted,
                     bool cube) {
    if (!root.has(wanted.name))
        fail(file,
             fmt::format(
                 "it has no dataset /{}: a volume file holds /Nbody [4, L, L, L] and /Hydro [5, "
                 "L, L, L]; name another dataset as FILE:/DATASET",
                 wanted.name));
    auto volume =
        hdf5::Volume::open(root, wanted.name, fmt::format("{}:/{}", file.string(), wanted.name));
    const auto& place = volume.place();
    const auto& shape = place.shape;
    if (shape.size() != 4 || shape[0] != wanted.channels || std::ranges::min(shape) < 1 ||
        (cube && (shape[1] != shape[2] || shape[1] != shape[3])))
        fail(file,
             fmt::format("/{} has the shape {}, not [{}, {}]", wanted.name, base::shape_text(shape),
                         wanted.channels, cube ? "L, L, L" : "D, H, W"));
    if (!place.is_float32) fail(file, fmt::format("/{} holds no float32", wanted.name));
    // The library reads zeros behind a file's end.
    if (place.direct() && place.end() > fs::file_size(file))
        fail(file, fmt::format("it is truncated: /{} ends at byte {}, the file at byte {}",
                               wanted.name, place.end(), fs::file_size(file)));
    return volume;
}

}  // namespace

hdf5::File open_volume_file(const fs::path& file) try {
    base::refuse_irregular<base::DataError>(file);
    if (!fs::exists(file))
        fail(file, "there is no file of this name; `ranklab data make cosmology` makes one");
    if (!hdf5::is_hdf5(file))
        fail(file, "it is not an HDF5 file (damaged or foreign); copy or make it again");
    return hdf5::File::open_to_read(file);
} catch (const base::Hdf5Error& error) {  // to the library a damaged file is a call that fails
    fail(file, fmt::format("it is truncated or damaged ({}); copy or make it again", error.what()));
}

hdf5::Volume open_volume(const fs::path& file, const hdf5::File& opened, const VolumeWanted& wanted,
                         bool cube) try {
    return checked(file, opened.root(), wanted, cube);
} catch (const base::Hdf5Error& error) {
    fail(file, fmt::format("it is truncated or damaged ({}); copy or make it again", error.what()));
}

void check_extents(const fs::path& file, const hdf5::Volume& first, const hdf5::Volume& other) {
    const auto& one = first.place().shape;
    const auto& two = other.place().shape;
    if (std::equal(one.begin() + 1, one.end(), two.begin() + 1)) return;
    fail(file, fmt::format("/Nbody has the shape {} and /Hydro {}; they do not belong together",
                           base::shape_text(one), base::shape_text(two)));
}

std::optional<std::uint64_t> stored_sum(const hdf5::Volume& volume) {
    constexpr const char* kName = "checksum_sum64";
    if (!volume.object().has_attribute(kName)) return std::nullopt;
    return std::bit_cast<std::uint64_t>(volume.object().int_attribute(kName));
}

std::uint64_t sum_over_ranks(comm::Communicator& control, std::uint64_t mine) {
    const auto all = comm::gather_values(control, mine);
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

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

void judge(const std::string& what, const VolumeScan& found, const std::vector<std::int64_t>& shape,
           std::optional<std::uint64_t> stored) {
    if (found.first_bad != VolumeScan::kNowhere)
        throw base::DataError(fmt::format(
            "{}: a value is not finite (NaN or infinite) at {}; make or copy the file again", what,
            place_text(found.first_bad, shape)));
    if (!stored || *stored == found.sum) return;
    throw base::DataError(fmt::format(
        "{}: the values give {}, and {} was stored when it was made: the file has changed since; "
        "make or copy it again",
        what, sum64_text(found.sum), sum64_text(*stored)));
}

}  // namespace ranklab::data
