#include "data/formats/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/arrays.hpp"
#include "data/formats/cifar100.hpp"
#include "data/formats/volume_form.hpp"
#include "data/idx.hpp"
#include "data/make/slab_writer.hpp"
#include "hdf5/file.hpp"
#include "hdf5/rows.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kIdxClasses = 10;

std::string first_bytes(const fs::path& file) {
    std::array<char, 8> bytes{};
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw base::DataError(
            fmt::format("{} cannot be opened; check its permissions", file.string()));
    in.read(bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(in.gcount())};
}

// The name first: a damaged file of that name is damaged, not of another kind.
std::string kind_of(const fs::path& file) {
    if (hdf5::names_dataset(file.string())) return "HDF5 dataset";
    base::refuse_irregular<base::DataError>(file);
    if (!fs::exists(file))
        throw base::DataError(fmt::format("{} does not exist; check the name", file.string()));
    const std::string extension = file.extension().string();
    const std::string name = file.filename().string();
    const std::string head = first_bytes(file);
    if (extension == ".h5" || extension == ".hdf5" || hdf5::is_hdf5(file)) return "cosmology HDF5";
    if (extension == ".npy" || head.starts_with("\x93NUMPY")) return "npy";
    const std::string magic = head.substr(0, 4);
    if (name.find("idx3-ubyte") != std::string::npos || magic == std::string("\0\0\x08\x03", 4))
        return "idx images";
    if (name.find("idx1-ubyte") != std::string::npos || magic == std::string("\0\0\x08\x01", 4))
        return "idx labels";
    if (extension == ".bin") return "CIFAR-100 binary";
    throw base::DataError(fmt::format(
        "{} is none of the data files that are known: idx, CIFAR-100 binary (.bin), cosmology "
        "HDF5 (.h5), npy",
        file.string()));
}

void check_small(const fs::path& file, FileVerdict& verdict) {
    if (verdict.kind == "idx images") {
        const auto images = read_idx_images(file);
        verdict.content =
            fmt::format("{} images of {} x {}", images.count, images.rows, images.columns);
        verdict.checked = "magic, size";
    } else if (verdict.kind == "idx labels") {
        const auto labels = read_idx_labels(file);
        check_label_range(file, labels, kIdxClasses);
        verdict.content = fmt::format("{} labels", labels.size());
        verdict.checked = fmt::format("magic, size, labels in 0..{}", kIdxClasses - 1);
    } else {
        const auto set = read_cifar100(file);
        verdict.content = fmt::format("{} images of 3 x 32 x 32", set.size());
        verdict.checked = "size, fine and coarse labels";
    }
}

// Runs `work` on each rank. Returns on all ranks "", or the sentence of the first rank's DataError
// or Hdf5Error. An error of another kind is thrown on all.
std::string first_fault(comm::Communicator& control, const std::function<void()>& work) {
    std::string mine;
    comm::all_or_throw(control, [&] {
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

// "Nbody [4, 8, 8, 8] contiguous, Hydro [5, 8, 8, 8] chunks [5, 4, 4, 4]"
std::string forms_of(const fs::path& file) {
    const auto opened = open_volume_file(file);
    std::string content;
    std::vector<hdf5::Volume> volumes;
    for (const auto& wanted : kVolumesWanted) {
        volumes.push_back(open_volume(file, opened, wanted, true));
        const auto& place = volumes.back().place();
        content += fmt::format(
            "{}{} {} {}", content.empty() ? "" : ", ", wanted.name, base::shape_text(place.shape),
            place.chunk == place.shape ? "contiguous" : "chunks " + base::shape_text(place.chunk));
    }
    check_extents(file, volumes.front(), volumes.back());
    return content;
}

void scan(comm::Communicator& control, const hdf5::Volume& volume, base::ProgressSink& progress,
          VolumeScan& found) {
    const auto& shape = volume.place().shape;
    const std::int64_t plane = shape[2] * shape[3];
    std::vector<float> values;
    for_each_piece(
        control, {shape[0], shape[1], shape[2], shape[3]}, progress, [&](base::Share planes) {
            const std::size_t part = planes.count * plane;
            values.resize(part * static_cast<std::size_t>(shape[0]));
            volume.read({.first_channel = 0,
                         .channels = shape[0],
                         .first_plane = planes.first,
                         .planes = planes.count},
                        values);
            for (std::int64_t c = 0; c < shape[0]; ++c)
                found.add((c * shape[1] + planes.first) * plane,
                          std::span(values).subspan(static_cast<std::size_t>(c) * part, part));
        });
}

void check_values(comm::Communicator& control, const VolumeWanted& wanted,
                  base::ProgressSink& progress, FileVerdict& verdict) {
    VolumeScan found;
    std::vector<std::int64_t> shape;
    std::optional<std::uint64_t> stored;
    verdict.wrong = first_fault(control, [&] {
        const auto opened = open_volume_file(verdict.file);
        const auto volume = open_volume(verdict.file, opened, wanted, true);
        shape = volume.place().shape;
        stored = stored_sum(volume);
        scan(control, volume, progress, found);
    });
    if (!verdict.wrong.empty()) return;
    found.gather(control);
    verdict.wrong = first_fault(control, [&] {
        judge(fmt::format("{}:/{}", verdict.file, wanted.name), found, shape, stored);
    });
    verdict.checked +=
        fmt::format("{}{} {:.3g} .. {:.3g}, {}", verdict.checked.empty() ? "" : "; ", wanted.name,
                    found.least, found.most, stored ? "checksum right" : "no checksum stored");
}

void check_cosmology(comm::Communicator& control, base::ProgressSink& progress,
                     FileVerdict& verdict) {
    verdict.wrong = first_fault(control, [&] {
        if (control.rank() == 0) verdict.content = forms_of(verdict.file);
    });
    for (const auto& wanted : kVolumesWanted)
        if (verdict.wrong.empty()) check_values(control, wanted, progress, verdict);
}

// Each rank its rows.
void check_array(comm::Communicator& control, FileVerdict& verdict) {
    VolumeScan found;
    std::vector<std::int64_t> shape;
    verdict.wrong = first_fault(control, [&] {
        const auto array =
            verdict.kind == "npy" ? open_npy_rows(verdict.file) : hdf5::open_rows(verdict.file);
        shape = array.shape;
        verdict.content = fmt::format("{} {}", base::shape_text(shape), array.type);
        if (shape.empty())
            throw base::DataError(fmt::format("{} is one number, not an array", verdict.file));
        std::vector<float> values(Field{Element::f32, array.sizes()}.elements());
        const auto mine = base::share_of(shape[0], control.rank(), control.world_size());
        for (std::int64_t i = mine.first; i < mine.end(); ++i) {
            array.read(i, Element::f32, reinterpret_cast<std::byte*>(values.data()));
            found.add(i * std::ssize(values), values);
            base::count_progress();
        }
    });
    if (!verdict.wrong.empty()) return;
    found.gather(control);
    verdict.checked = found.least > found.most
                          ? "no values"
                          : fmt::format("{:.3g} .. {:.3g}", found.least, found.most);
    verdict.wrong = first_fault(control, [&] { judge(verdict.file, found, shape, std::nullopt); });
}

FileVerdict verify_file(comm::Communicator& control, const fs::path& file,
                        base::ProgressSink& progress) {
    FileVerdict verdict{.file = file.string()};
    progress.activity("verifying " + verdict.file);
    verdict.wrong = first_fault(control, [&] {
        if (control.rank() == 0) verdict.kind = kind_of(file);
    });
    verdict.kind = comm::from_root(control, verdict.kind);
    if (!verdict.wrong.empty()) return verdict;
    if (verdict.kind == "cosmology HDF5") {
        check_cosmology(control, progress, verdict);
    } else if (verdict.kind == "npy" || verdict.kind == "HDF5 dataset") {
        check_array(control, verdict);
    } else {
        verdict.wrong = first_fault(control, [&] {
            if (control.rank() == 0) check_small(file, verdict);
        });
    }
    return verdict;
}

// Images and labels that do not belong together are seen only side by side.
FileVerdict verify_idx_pair(comm::Communicator& control, const fs::path& images,
                            const fs::path& labels) {
    FileVerdict verdict{.file = images.string() + " + labels", .kind = "idx pair"};
    verdict.wrong = first_fault(control, [&] {
        if (control.rank() != 0) return;
        const auto header = read_idx_images(images);
        const auto set =
            read_idx_set(images, labels, {1, header.rows, header.columns}, kIdxClasses);
        verdict.content = fmt::format("{} samples", set.size());
        verdict.checked = "as many labels as images";
    });
    return verdict;
}

struct Found {
    std::vector<fs::path> files;
    std::vector<fs::path> idx;  // all four where one is there
};

Found look_into(const fs::path& folder) {
    Found found;
    for (const char* name : kIdxNames)
        if (fs::exists(plain_or_gz(folder, name)) && found.idx.empty())
            for (const char* each : kIdxNames) found.idx.push_back(plain_or_gz(folder, each));
    for (const char* name : kIdxNames)  // other programs may read the packed one
        if (const fs::path gz = folder / (std::string(name) + ".gz");
            fs::exists(folder / name) && fs::exists(gz))
            found.files.push_back(gz);
    for (const fs::path& place : {folder, folder / "cifar-100-binary"}) {
        std::error_code missing;
        for (const auto& entry : fs::directory_iterator(place, missing)) {
            const std::string name = entry.path().filename().string();
            const std::string extension = entry.path().extension().string();
            if (name == "train.bin" || name == "test.bin" || extension == ".h5" ||
                extension == ".hdf5" || extension == ".npy")
                found.files.push_back(entry.path());
        }
    }
    std::sort(found.files.begin(), found.files.end());
    if (found.files.empty() && found.idx.empty())
        throw base::DataError(fmt::format(
            "{} holds no data file that is known: idx files, train.bin and test.bin of CIFAR-100, "
            ".h5, .npy",
            folder.string()));
    return found;
}

std::vector<fs::path> broadcast_paths(comm::Communicator& control,
                                      const std::vector<fs::path>& paths) {
    std::vector<std::string> names;
    for (const auto& path : paths) names.push_back(path.string());
    names = comm::from_root(control, names);
    return {names.begin(), names.end()};
}

}  // namespace

std::vector<FileVerdict> verify(comm::Communicator& control, const fs::path& path,
                                base::ProgressSink& progress) {
    Found found;
    comm::all_or_throw(control, [&] {
        if (control.rank() != 0) return;
        if (std::error_code ignored; !fs::is_directory(path, ignored))
            base::refuse_irregular<base::DataError>(path);
        if (!fs::exists(path) && !hdf5::names_dataset(path.string()))
            throw base::DataError(fmt::format("{} does not exist; check the name", path.string()));
        if (fs::is_directory(path)) {
            found = look_into(path);
        } else {
            found.files = {path};
        }
    });
    std::vector<FileVerdict> verdicts;
    for (const auto& file : broadcast_paths(control, found.files))
        verdicts.push_back(verify_file(control, file, progress));
    const auto idx = broadcast_paths(control, found.idx);
    bool whole = idx.size() == kIdxNames.size();
    for (const auto& file : idx) {
        verdicts.push_back(verify_file(control, file, progress));
        whole = whole && verdicts.back().wrong.empty();
    }
    for (std::size_t i = 0; whole && i < idx.size(); i += 2)
        verdicts.push_back(verify_idx_pair(control, idx[i], idx[i + 1]));
    progress.finish();
    return verdicts;
}

}  // namespace ranklab::data
