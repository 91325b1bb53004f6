#include "data/formats/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/cifar100.hpp"
#include "data/formats/volume_check.hpp"
#include "data/idx.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kIdxClasses = 10;

std::string first_bytes(const fs::path& file) {
    std::array<char, 8> bytes{};
    std::ifstream in(file, std::ios::binary);
    if (!in) throw base::DataError(fmt::format("{} cannot be opened; check its permissions", file.string()));
    in.read(bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(in.gcount())};
}

// The name first: a damaged file of that name is damaged, not of another kind.
std::string kind_of(const fs::path& file) {
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
    throw base::DataError(
        fmt::format("{} is none of the data files that are known: idx, CIFAR-100 binary (.bin), cosmology "
                    "HDF5 (.h5), npy",
                    file.string()));
}

void check_small(const fs::path& file, FileVerdict& verdict) {
    if (verdict.kind == "idx images") {
        const auto images = read_idx_images(file);
        verdict.content = fmt::format("{} images of {} x {}", images.count, images.rows, images.columns);
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

FileVerdict verify_file(comm::Communicator& control, const fs::path& file, base::ProgressSink& progress) {
    FileVerdict verdict{.file = file.string()};
    progress.activity("verifying " + verdict.file);
    verdict.wrong = first_fault(control, [&] {
        if (control.rank() == 0) verdict.kind = kind_of(file);
    });
    verdict.kind = comm::from_root(control, verdict.kind);
    if (!verdict.wrong.empty()) return verdict;
    if (verdict.kind == "cosmology HDF5") {
        check_cosmology(control, progress, verdict);
    } else if (verdict.kind == "npy") {
        check_npy(control, progress, verdict);
    } else {
        verdict.wrong = first_fault(control, [&] {
            if (control.rank() == 0) check_small(file, verdict);
        });
    }
    return verdict;
}

// Images and labels that do not belong together are seen only side by side.
FileVerdict verify_idx_pair(comm::Communicator& control, const fs::path& images, const fs::path& labels) {
    FileVerdict verdict{.file = images.string() + " + labels", .kind = "idx pair"};
    verdict.wrong = first_fault(control, [&] {
        if (control.rank() != 0) return;
        const auto header = read_idx_images(images);
        const auto set = read_idx_set(images, labels, {1, header.rows, header.columns}, kIdxClasses);
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
        if (fs::exists(plain_or_gz(folder, name))) found.idx.push_back(folder / name);
    if (!found.idx.empty()) {
        found.idx.clear();
        for (const char* name : kIdxNames) found.idx.push_back(plain_or_gz(folder, name));
    }
    for (const fs::path& place : {folder, folder / "cifar-100-binary"}) {
        if (!fs::is_directory(place)) continue;
        for (const auto& entry : fs::directory_iterator(place)) {
            const auto& path = entry.path();
            const std::string extension = path.extension().string();
            const bool cifar = path.filename() == "train.bin" || path.filename() == "test.bin";
            if (!path.filename().string().starts_with(".") &&
                (cifar || extension == ".h5" || extension == ".hdf5" || extension == ".npy"))
                found.files.push_back(path);
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

std::vector<std::string> names_of(const std::vector<fs::path>& paths) {
    std::vector<std::string> names;
    for (const auto& path : paths) names.push_back(path.string());
    return names;
}

std::vector<fs::path> broadcast_paths(comm::Communicator& control, const std::vector<fs::path>& paths) {
    const auto names = comm::from_root(control, names_of(paths));
    return {names.begin(), names.end()};
}

}  // namespace

std::vector<FileVerdict> verify(comm::Communicator& control, const fs::path& path,
                                base::ProgressSink& progress) {
    Found found;
    comm::together(control, [&] {
        if (control.rank() != 0) return;
        if (std::error_code ignored; !fs::is_directory(path, ignored))
            base::refuse_irregular<base::DataError>(path);
        if (!fs::exists(path))
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
