#include "data/formats/volume_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/share.hpp"
#include "comm/exchange.hpp"
#include "data/formats/checksum.hpp"
#include "data/formats/npy.hpp"
#include "data/make/pace.hpp"
#include "data/make/slab_writer.hpp"
#include "hdf5/file.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr auto kNowhere = std::numeric_limits<std::int64_t>::max();

// What a pass over values finds; places are row-major in the whole array.
struct Scan {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    std::int64_t first_bad = kNowhere;  // not finite
    std::uint64_t sum = 0;

    void add(std::int64_t place, std::span<const float> values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = values[i];
            if (!std::isfinite(value)) {
                first_bad = std::min(first_bad, place + static_cast<std::int64_t>(i));
                continue;
            }
            least = std::min(least, value);
            most = std::max(most, value);
        }
        sum += sum64(static_cast<std::uint64_t>(place), values);
    }

    void gather(comm::Communicator& control) {
        control.allreduce(comm::view(std::span(&least, 1)), comm::ReduceOp::min);
        control.allreduce(comm::view(std::span(&most, 1)), comm::ReduceOp::max);
        control.allreduce(comm::view(std::span(&first_bad, 1)), comm::ReduceOp::min);
        sum = sum_over_ranks(control, sum);
    }
};

// "[1, 0, 3, 7]" for a row-major place.
std::string place_text(std::int64_t place, const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        index[axis] = place % shape[axis];
        place /= shape[axis];
    }
    return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

struct Wanted {
    const char* name;
    std::int64_t channels;
};
constexpr std::array kWanted{Wanted{"Nbody", 4}, Wanted{"Hydro", 5}};

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw base::DataError(fmt::format("{}: {}", file.string(), what));
}

hdf5::File open(const fs::path& file) {
    if (!hdf5::is_hdf5(file)) fail(file, "it is no HDF5 file (damaged or foreign); copy or make it again");
    try {
        return hdf5::File::open_to_read(file);
    } catch (const base::Hdf5Error& error) {
        fail(file, fmt::format("it is truncated or damaged ({}); copy or make it again", error.what()));
    }
}

hdf5::Volume open_volume(const fs::path& file, const hdf5::Group& root, const char* name) {
    try {
        return hdf5::Volume::open(root, name);
    } catch (const base::Error& error) {
        fail(file, fmt::format("{}; copy or make it again", error.what()));
    }
}

// A hostile header may claim any size: what it claims must be in the file.
void check_stored(const fs::path& file, const hdf5::Volume& volume, const char* name) {
    constexpr double kBestCompression = 1100;  // deflate's own bound is 1032
    const auto& info = volume.info();
    double bytes = 4;
    for (const std::int64_t extent : info.shape) bytes *= static_cast<double>(extent);
    const double stored = static_cast<double>(info.stored_bytes) * (info.filtered ? kBestCompression : 1);
    const bool in_file = info.stored_bytes <= fs::file_size(file);
    if (stored >= bytes && in_file) return;
    fail(file,
         fmt::format(
             "/{} should hold {:.0f} bytes and the file stores {}: parts of it were never written; make "
             "it again",
             name, bytes, info.stored_bytes));
}

hdf5::Volume check_form(const fs::path& file, const hdf5::Group& root, const Wanted& wanted) {
    if (!root.has(wanted.name))
        fail(file,
             fmt::format(
                 "it has no dataset /{}: a cosmology file holds /Nbody [4, L, L, L] and /Hydro [5, L, L, L]",
                 wanted.name));
    auto volume = open_volume(file, root, wanted.name);
    const auto& shape = volume.info().shape;
    const bool cube = shape.size() == 4 && shape[0] == wanted.channels && shape[1] > 0 &&
                      shape[1] == shape[2] && shape[1] == shape[3];
    if (!cube)
        fail(file, fmt::format("/{} has the shape {}, not [{}, L, L, L]", wanted.name, shape_text(shape),
                               wanted.channels));
    if (volume.info().type != "float32")
        fail(file, fmt::format("/{} holds {}, not float32", wanted.name, volume.info().type));
    check_stored(file, volume, wanted.name);
    return volume;
}

void check_forms(const fs::path& file, std::string& content) {
    const auto opened = open(file);
    const auto root = opened.root();
    std::int64_t edge = 0;
    for (const Wanted& wanted : kWanted) {
        const auto volume = check_form(file, root, wanted);
        const auto& info = volume.info();
        if (edge != 0 && info.shape[1] != edge)
            fail(file, fmt::format("/Nbody has edge {} and /Hydro {}; they do not belong together", edge,
                                   info.shape[1]));
        edge = info.shape[1];
        const std::string layout = info.chunk.empty() ? "contiguous" : "chunks " + shape_text(info.chunk);
        content += fmt::format("{}{} {} {}", content.empty() ? "" : ", ", wanted.name, shape_text(info.shape),
                               layout);
    }
}

// How many planes from `first` on are read at once: whole layers of chunks where there are chunks, so that no
// chunk is read for its every channel and plane anew.
std::int64_t planes_together(const hdf5::VolumeInfo& info, std::int64_t first, std::int64_t left) {
    constexpr std::int64_t kShare = 4;  // of planes_a_piece's 256 MiB
    const std::int64_t most =
        std::min(left, planes_a_piece(kShare * info.shape[0] * info.shape[2] * info.shape[3]));
    const std::int64_t past = info.chunk.empty() ? 0 : (first + most) % info.chunk[1];
    return most == left || past >= most ? most : most - past;
}

void scan(const hdf5::Volume& volume, base::Share mine, base::ProgressSink& progress, Scan& found) {
    const auto& shape = volume.info().shape;
    const std::int64_t plane = shape[2] * shape[3];
    std::vector<float> values;
    Pace pace(progress, mine.count, "MiB/s a rank", "planes read");
    for (std::int64_t done = 0; done < mine.count;) {
        const std::int64_t first = mine.first + done;
        const std::int64_t planes = planes_together(volume.info(), first, mine.count - done);
        const auto part = static_cast<std::size_t>(planes * plane);
        values.resize(part * static_cast<std::size_t>(shape[0]));
        volume.read({.first_channel = 0, .channels = shape[0], .first_plane = first, .planes = planes},
                    values);
        for (std::int64_t c = 0; c < shape[0]; ++c)
            found.add((c * shape[1] + first) * plane,
                      std::span(values).subspan(static_cast<std::size_t>(c) * part, part));
        done += planes;
        pace.steps(planes, mebibytes(4 * planes * plane * shape[0]));
    }
}

std::optional<std::uint64_t> stored_sum(const hdf5::Volume& volume) {
    constexpr const char* kName = "checksum_sum64";
    if (!volume.object().has_attribute(kName)) return std::nullopt;
    return std::bit_cast<std::uint64_t>(volume.object().int_attribute(kName));
}

void judge(const fs::path& file, const char* name, const Scan& found, const std::vector<std::int64_t>& shape,
           std::optional<std::uint64_t> stored) {
    if (found.first_bad != kNowhere)
        fail(file,
             fmt::format(
                 "/{} has a value that is not finite (NaN or infinite) at {}; make or copy the file again",
                 name, place_text(found.first_bad, shape)));
    if (!stored || *stored == found.sum) return;
    fail(file,
         fmt::format(
             "the values of /{} give {}, and {} was stored when it was made: the file has changed since; "
             "make or copy it again",
             name, sum64_text(found.sum), sum64_text(*stored)));
}

void check_values(comm::Communicator& control, const fs::path& file, const Wanted& wanted,
                  base::ProgressSink& progress, std::string& fault, std::string& checked) {
    Scan found;
    std::vector<std::int64_t> shape;
    std::optional<std::uint64_t> stored;
    fault = first_fault(control, [&] {
        const auto opened = open(file);
        const auto volume = open_volume(file, opened.root(), wanted.name);
        shape = volume.info().shape;
        stored = stored_sum(volume);
        try {
            scan(volume, base::share_of(shape[1], control.rank(), control.world_size()), progress, found);
        } catch (const base::Hdf5Error& error) {
            fail(file, fmt::format("/{} cannot be read ({}); make or copy the file again", wanted.name,
                                   error.what()));
        }
    });
    if (!fault.empty()) return;
    found.gather(control);
    fault = first_fault(control, [&] { judge(file, wanted.name, found, shape, stored); });
    checked += fmt::format("{}{} {:.3g} .. {:.3g}, {}", checked.empty() ? "" : "; ", wanted.name, found.least,
                           found.most, stored ? "checksum right" : "no checksum stored");
}

void scan_npy(const NpyFile& file, base::Share mine, base::ProgressSink& progress, Scan& found) {
    constexpr std::int64_t kPiece = std::int64_t{1} << 22;
    std::vector<float> values(static_cast<std::size_t>(std::min(kPiece, mine.count)));
    Pace pace(progress, (mine.count + kPiece - 1) / kPiece, "MiB/s a rank", "pieces read");
    for (std::int64_t done = 0; done < mine.count; done += kPiece) {
        const auto part =
            std::span(values).first(static_cast<std::size_t>(std::min(kPiece, mine.count - done)));
        file.read(static_cast<std::uint64_t>(mine.first + done), part);
        found.add(mine.first + done, part);
        pace.step(mebibytes(4 * static_cast<std::int64_t>(part.size())));
    }
}

}  // namespace

std::string first_fault(comm::Communicator& control, const std::function<void()>& work) {
    std::string mine;
    comm::together(control, [&] {
        try {
            work();
        } catch (const base::DataError& error) {
            mine = error.what();
        } catch (const base::Hdf5Error& error) {
            mine = error.what();
        }
    });
    for (const auto& text : comm::gather_texts(control, mine))
        if (!text.empty()) return text;
    return "";
}

std::string check_cosmology(comm::Communicator& control, const fs::path& file, base::ProgressSink& progress,
                            std::string& content, std::string& checked) {
    std::string fault = first_fault(control, [&] {
        if (control.rank() == 0) check_forms(file, content);
    });
    for (const Wanted& wanted : kWanted)
        if (fault.empty()) check_values(control, file, wanted, progress, fault, checked);
    return fault;
}

std::string check_npy(comm::Communicator& control, const fs::path& file, base::ProgressSink& progress,
                      std::string& content, std::string& checked) {
    Scan found;
    NpyHeader header;
    std::string fault = first_fault(control, [&] {
        const NpyFile opened(file);
        header = opened.header();
        const auto total = static_cast<std::int64_t>(header.values());
        scan_npy(opened, base::share_of(total, control.rank(), control.world_size()), progress, found);
    });
    if (!fault.empty()) return fault;
    found.gather(control);
    constexpr std::array kTypes{"float32", "float64", "uint8"};
    content = fmt::format("{} {}{}", shape_text(header.shape), kTypes[static_cast<std::size_t>(header.type)],
                          header.fortran_order ? ", Fortran order" : "");
    checked = header.values() == 0 ? "no values" : fmt::format("{:.3g} .. {:.3g}", found.least, found.most);
    if (found.first_bad == kNowhere) return "";
    if (header.fortran_order) std::reverse(header.shape.begin(), header.shape.end());
    return fmt::format("{}: a value is not finite (NaN or infinite) at {}{}; make or copy the file again",
                       file.string(), place_text(found.first_bad, header.shape),
                       header.fortran_order ? " of its transpose" : "");
}

}  // namespace ranklab::data
