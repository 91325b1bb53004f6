#include "data/formats/volume_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/checksum.hpp"
#include "data/make/slab_writer.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw base::DataError(fmt::format("{}: {}", file.string(), what));
}

// To the library a damaged file is a call that fails.
template <class Work>
auto of_a_damaged_file(const fs::path& file, const Work& work) {
    try {
        return work();
    } catch (const base::Hdf5Error& error) {
        fail(file, fmt::format("it is truncated or damaged ({}); copy or make it again", error.what()));
    }
}

// A hostile header may claim any size: what it claims must be in the file.
void check_stored(const fs::path& file, const hdf5::Volume& volume, const char* name) {
    constexpr double kBestCompression = 1100;  // deflate's own bound is 1032
    const auto& info = volume.info();
    double bytes = 4;
    for (const std::int64_t extent : info.shape) bytes *= base::real(extent);
    const double stored = base::real(info.stored_bytes) * (info.filtered ? kBestCompression : 1);
    std::error_code unknown;
    const bool in_file = info.stored_bytes <= fs::file_size(file, unknown) && !unknown;
    if (stored >= bytes && in_file) return;
    fail(file,
         fmt::format(
             "/{} should hold {:.0f} bytes and the file stores {}: parts of it were never written; make "
             "it again",
             name, bytes, info.stored_bytes));
}

void check_shape(const fs::path& file, const hdf5::Volume& volume, const VolumeWanted& wanted, bool cube) {
    const auto& shape = volume.info().shape;
    const bool good = shape.size() == 4 && shape[0] == wanted.channels &&
                      std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n > 0; }) &&
                      (!cube || (shape[1] == shape[2] && shape[1] == shape[3]));
    if (!good)
        fail(file, fmt::format("/{} has the shape {}, not [{}, {}]", wanted.name, base::shape_text(shape),
                               wanted.channels, cube ? "L, L, L" : "D, H, W"));
}

}  // namespace

hdf5::File open_volume_file(const fs::path& file) {
    if (!hdf5::is_hdf5(file))
        fail(file, "it is missing or no HDF5 file (damaged or foreign); copy or make it again");
    return of_a_damaged_file(file, [&] { return hdf5::File::open_to_read(file); });
}

hdf5::Volume open_volume(const fs::path& file, const hdf5::File& opened, const VolumeWanted& wanted,
                         bool cube) {
    const auto root = of_a_damaged_file(file, [&] { return opened.root(); });
    if (!of_a_damaged_file(file, [&] { return root.has(wanted.name); }))
        fail(file,
             fmt::format(
                 "it has no dataset /{}: a cosmology file holds /Nbody [4, L, L, L] and /Hydro [5, L, L, L]",
                 wanted.name));
    auto volume = of_a_damaged_file(file, [&] {
        try {
            return hdf5::Volume::open(root, wanted.name);
        } catch (const base::DataError& error) {
            fail(file, fmt::format("{}; copy or make it again", error.what()));
        }
    });
    check_shape(file, volume, wanted, cube);
    if (volume.info().type != "float32")
        fail(file, fmt::format("/{} holds {}, not float32", wanted.name, volume.info().type));
    check_stored(file, volume, wanted.name);
    return volume;
}

void check_extents(const fs::path& file, const hdf5::Volume& first, const hdf5::Volume& other) {
    const auto& one = first.info().shape;
    const auto& two = other.info().shape;
    if (std::equal(one.begin() + 1, one.end(), two.begin() + 1)) return;
    const auto is_cube = [](const auto& shape) { return shape[1] == shape[2] && shape[1] == shape[3]; };
    if (is_cube(one) && is_cube(two))
        fail(file,
             fmt::format("/Nbody has edge {} and /Hydro {}; they do not belong together", one[1], two[1]));
    fail(file, fmt::format("/Nbody has the shape {} and /Hydro {}; they do not belong together",
                           base::shape_text(one), base::shape_text(two)));
}

std::optional<std::uint64_t> stored_sum(const fs::path& file, const hdf5::Volume& volume) {
    constexpr const char* kName = "checksum_sum64";
    return of_a_damaged_file(file, [&]() -> std::optional<std::uint64_t> {
        if (!volume.object().has_attribute(kName)) return std::nullopt;
        return std::bit_cast<std::uint64_t>(volume.object().int_attribute(kName));
    });
}

void reading_values(const fs::path& file, const char* name, const std::function<void()>& read) {
    try {
        read();
    } catch (const base::Hdf5Error& error) {
        fail(file, fmt::format("/{} cannot be read ({}); make or copy the file again", name, error.what()));
    }
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
