#include "data/formats/volume_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/share.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/npy.hpp"
#include "data/formats/volume_form.hpp"
#include "data/formats/volume_scan.hpp"
#include "data/make/pace.hpp"
#include "data/make/slab_writer.hpp"
#include "hdf5/volume.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

void check_forms(const fs::path& file, std::string& content) {
    const auto opened = open_volume_file(file);
    std::optional<hdf5::Volume> first;
    for (const auto& wanted : kVolumesWanted) {
        auto volume = open_volume(file, opened, wanted, true);
        const auto& info = volume.info();
        const std::string layout =
            info.chunk.empty() ? "contiguous" : "chunks " + base::shape_text(info.chunk);
        content += fmt::format("{}{} {} {}", content.empty() ? "" : ", ", wanted.name,
                               base::shape_text(info.shape), layout);
        if (first) check_extents(file, *first, volume);
        if (!first) first.emplace(std::move(volume));
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

void scan(const hdf5::Volume& volume, base::Share mine, base::ProgressSink& progress, VolumeScan& found) {
    const auto& shape = volume.info().shape;
    const std::int64_t plane = shape[2] * shape[3];
    std::vector<float> values;
    Pace pace(progress, mine.count, "MiB/s a rank", "planes read");
    for (std::int64_t done = 0; done < mine.count;) {
        const std::int64_t first = mine.first + done;
        const std::int64_t planes = planes_together(volume.info(), first, mine.count - done);
        const std::size_t part = planes * plane;
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

void check_values(comm::Communicator& control, const VolumeWanted& wanted, base::ProgressSink& progress,
                  FileVerdict& verdict) {
    const fs::path file = verdict.file;
    VolumeScan found;
    std::vector<std::int64_t> shape;
    std::optional<std::uint64_t> stored;
    verdict.wrong = first_fault(control, [&] {
        const auto opened = open_volume_file(file);
        const auto volume = open_volume(file, opened, wanted, true);
        shape = volume.info().shape;
        stored = stored_sum(file, volume);
        reading_values(file, wanted.name, [&] {
            scan(volume, base::share_of(shape[1], control.rank(), control.world_size()), progress, found);
        });
    });
    if (!verdict.wrong.empty()) return;
    found.gather(control);
    verdict.wrong = first_fault(control, [&] { judge_volume(file, wanted.name, found, shape, stored); });
    verdict.checked +=
        fmt::format("{}{} {:.3g} .. {:.3g}, {}", verdict.checked.empty() ? "" : "; ", wanted.name,
                    found.least, found.most, stored ? "checksum right" : "no checksum stored");
}

void scan_npy(const NpyFile& file, base::Share mine, base::ProgressSink& progress, VolumeScan& found) {
    constexpr std::int64_t kPiece = std::int64_t{1} << 22;
    std::vector<float> values(std::min(kPiece, mine.count));
    Pace pace(progress, (mine.count + kPiece - 1) / kPiece, "MiB/s a rank", "pieces read");
    for (std::int64_t done = 0; done < mine.count; done += kPiece) {
        const auto part = std::span(values).first(std::min(kPiece, mine.count - done));
        file.read(mine.first + done, part);
        found.add(mine.first + done, part);
        pace.step(mebibytes(4 * std::ssize(part)));
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

void check_cosmology(comm::Communicator& control, base::ProgressSink& progress, FileVerdict& verdict) {
    const std::lock_guard lock(hdf5::library_mutex());
    verdict.wrong = first_fault(control, [&] {
        if (control.rank() == 0) check_forms(verdict.file, verdict.content);
    });
    for (const auto& wanted : kVolumesWanted)
        if (verdict.wrong.empty()) check_values(control, wanted, progress, verdict);
}

void check_npy(comm::Communicator& control, base::ProgressSink& progress, FileVerdict& verdict) {
    VolumeScan found;
    NpyHeader header;
    verdict.wrong = first_fault(control, [&] {
        const NpyFile opened(verdict.file);
        header = opened.header();
        const std::int64_t total = header.values();
        scan_npy(opened, base::share_of(total, control.rank(), control.world_size()), progress, found);
    });
    if (!verdict.wrong.empty()) return;
    found.gather(control);
    constexpr std::array kTypes{"float32", "float64", "uint8"};
    verdict.content =
        fmt::format("{} {}{}", base::shape_text(header.shape), kTypes[base::number_of(header.type)],
                    header.fortran_order ? ", Fortran order" : "");
    verdict.checked =
        header.values() == 0 ? "no values" : fmt::format("{:.3g} .. {:.3g}", found.least, found.most);
    if (found.first_bad == VolumeScan::kNowhere) return;
    if (header.fortran_order) std::reverse(header.shape.begin(), header.shape.end());
    verdict.wrong = fmt::format(
        "{}: a value is not finite (NaN or infinite) at {}{}; make or copy the file again", verdict.file,
        place_text(found.first_bad, header.shape), header.fortran_order ? " of its transpose" : "");
}

}  // namespace ranklab::data
