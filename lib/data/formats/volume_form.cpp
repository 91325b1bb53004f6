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

std::string place_text(std::int64_t place, std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0; place /= shape[axis])
        index[axis] = place % shape[axis];
    return base::shape_text(index);
}

Volume open_volume(const fs::path& file, const hdf5::Group& root, const char* name,
                   std::int64_t channels, bool cube) {
    if (!root.has(name))
        fail(file, fmt::format("it has no dataset /{}; a volume file holds /Nbody [4, L, L, L] and "
                               "/Hydro [5, L, L, L]; name another dataset as FILE:/DATASET",
                               name));
    auto object = hdf5::open_dataset(root, name, fmt::format("{}:/{}", file.string(), name));
    auto place = hdf5::place_of(object);
    const auto& shape = place.shape;
    if (shape.size() != 4 || shape[0] != channels || std::ranges::min(shape) < 1 ||
        (cube && (shape[1] != shape[2] || shape[1] != shape[3])))
        fail(file, fmt::format("/{} has the shape {}, not [{}, {}]", name, base::shape_text(shape),
                               channels, cube ? "L, L, L" : "D, H, W"));
    if (!place.is_float32) fail(file, fmt::format("/{} does not hold float32", name));
    // HDF5 would read zeros beyond the end of a truncated file.
    if (place.direct() && place.end() > fs::file_size(file))
        fail(file, fmt::format("it is truncated: /{} ends at byte {}, the file at byte {}", name,
                               place.end(), fs::file_size(file)));
    return {std::move(object), std::move(place)};
}

}  // namespace

VolumePair open_volumes(const fs::path& file, bool cube) try {
    base::refuse_irregular<base::DataError>(file);
    if (!fs::exists(file))
        fail(file, "the file does not exist; `ranklab data make cosmology` makes one");
    if (!hdf5::is_hdf5(file))
        fail(file, "it is not an HDF5 file, or is damaged; copy or make it again");
    VolumePair pair{hdf5::File::open_to_read(file), {}};
    const auto root = pair.file.root();
    pair.volumes.push_back(open_volume(file, root, kVolumeNames[0], 4, cube));
    pair.volumes.push_back(open_volume(file, root, kVolumeNames[1], 5, cube));
    const auto& one = pair.volumes[0].place.shape;
    const auto& two = pair.volumes[1].place.shape;
    if (!std::equal(one.begin() + 1, one.end(), two.begin() + 1))
        fail(file, fmt::format("/Nbody has the shape {} and /Hydro {}; they do not belong together",
                               base::shape_text(one), base::shape_text(two)));
    return pair;
} catch (const base::Hdf5Error& error) {  // a damaged file fails in some call of the library
    fail(file, fmt::format("it is truncated or damaged ({}); copy or make it again", error.what()));
}

std::optional<std::uint64_t> stored_sum(const Volume& volume) {
    constexpr const char* kName = "checksum_sum64";
    if (!volume.object.has_attribute(kName)) return std::nullopt;
    return std::bit_cast<std::uint64_t>(volume.object.int_attribute(kName));
}

void ValueScan::add(std::int64_t place, std::span<const float> values) {
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

void ValueScan::add_planes(const VolumeShape& shape, base::Share planes,
                           std::span<const float> values) {
    const std::int64_t plane = shape[2] * shape[3];
    const std::int64_t part = planes.count * plane;
    for (std::int64_t c = 0; c < shape[0]; ++c)
        add((c * shape[1] + planes.first) * plane, values.subspan(c * part, part));
}

void ValueScan::gather(comm::Communicator& control) {
    least = comm::reduced(control, least, comm::ReduceOp::min);
    most = comm::reduced(control, most, comm::ReduceOp::max);
    first_bad = comm::reduced(control, first_bad, comm::ReduceOp::min);
    const auto sums = comm::gather_values(control, sum);
    sum = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

void ValueScan::judge(const std::string& what, std::span<const std::int64_t> shape,
                      std::optional<std::uint64_t> stored) const {
    if (first_bad != kNowhere)
        throw base::DataError(fmt::format(
            "{}: a value is not finite (NaN or infinite) at {}; make or copy the file again", what,
            place_text(first_bad, shape)));
    if (!stored || *stored == sum) return;
    throw base::DataError(
        fmt::format("{}: its values give {}, but {} was stored when it was made: the file has "
                    "changed since; make or copy it again",
                    what, sum64_text(sum), sum64_text(*stored)));
}

}  // namespace ranklab::data
