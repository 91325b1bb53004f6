#include "data/make/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "data/formats/volume_form.hpp"
#include "data/idx.hpp"
#include "data/make/pieces.hpp"
#include "data/sources/cifar100.hpp"
#include "data/sources/npy.hpp"
#include "data/sources/tokens.hpp"
#include "hdf5/array.hpp"
#include "hdf5/file.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kIdxClasses = 10;

std::string first_bytes(const fs::path& file) {
    const FileBytes bytes(file, ByteAccess::read);
    const auto count = std::min<std::uint64_t>(8, bytes.size());
    return {reinterpret_cast<const char*>(bytes.at(0, count)), count};
}

// What a check found in a valid file, and what was checked. Checks throw DataError for a fault.
using Finding = std::pair<std::string, std::string>;

struct Job {
    comm::Communicator& control;
    base::ProgressSink& progress;
    std::string file;
};

Finding idx_images(const std::string& file) {
    const auto set = read_idx_images(file);
    return {fmt::format("{} images of {} x {}", std::ssize(set.images) / set.shape.bytes(),
                        set.shape.height, set.shape.width),
            "magic, size"};
}

Finding idx_labels(const std::string& file) {
    const auto labels = read_idx_labels(file);
    check_label_range(file, labels, kIdxClasses);
    return {fmt::format("{} labels", labels.size()),
            fmt::format("magic, size, labels in 0..{}", kIdxClasses - 1)};
}

Finding cifar100_file(const std::string& file) {
    return {fmt::format("{} images of 3 x 32 x 32", read_cifar100(file).size()),
            "size, fine and coarse labels"};
}

Finding token_file(const std::string& file) {
    const auto tokens = open_token_windows(file, 1);
    // The vocabulary is not known here. The largest token, which is reported, is its lower bound.
    const auto largest = check_tokens(tokens, {0, tokens.shape[0]}, std::int64_t{1} << 16);
    return {fmt::format("{} tokens, the largest {}", tokens.shape[0] + 1, largest), "header, size"};
}

template <Finding (*Read)(const std::string& file)>
Finding on_rank_0(const Job& job) {
    Finding finding;
    comm::on_root(job.control, [&] { finding = Read(job.file); });
    return finding;
}

Finding volumes(const Job& job) {
    std::optional<VolumePair> pair;
    comm::all_or_throw(job.control, [&] { pair = open_volumes(job.file, true); });
    std::string content, checked;
    for (std::size_t i = 0; i < kVolumeNames.size(); ++i) {
        const auto& place = pair->volumes[i].place;
        const auto found =
            check_planes(job.control, pair->volumes[i], job.progress, [](auto&&...) {});
        content += fmt::format(
            "{}{} {} {}", i == 0 ? "" : ", ", kVolumeNames[i], base::shape_text(place.shape),
            place.chunk == place.shape ? "contiguous" : "chunks " + base::shape_text(place.chunk));
        checked += fmt::format(
            "{}{} {:.3g} .. {:.3g}, {}", i == 0 ? "" : "; ", kVolumeNames[i], found.least,
            found.most, stored_sum(pair->volumes[i]) ? "checksum matches" : "no checksum stored");
    }
    return {content, checked};
}

hdf5::Rows npy_rows(const std::string& name) {
    return open_npy_rows(name, ByteAccess::read);
}

// Each rank reads its rows.
template <hdf5::Rows (*Open)(const std::string& name)>
Finding rows(const Job& job) {
    ValueScan found;
    hdf5::Rows array;
    comm::all_or_throw(job.control, [&] {
        array = Open(job.file);
        if (array.shape.empty())
            throw base::DataError(fmt::format("{} is one number, not an array", job.file));
        std::vector<float> values(Field{Element::f32, array.sizes()}.elements());
        const auto mine =
            base::share_of(array.shape[0], job.control.rank(), job.control.world_size());
        for (std::int64_t i = mine.first; i < mine.end(); ++i) {
            array.read(i, Element::f32, reinterpret_cast<std::byte*>(values.data()));
            found.add(i * std::ssize(values), values);
            base::count_progress();
        }
    });
    found.gather(job.control);
    comm::all_or_throw(job.control, [&] { found.judge(job.file, array.shape, std::nullopt); });
    return {fmt::format("{} {}", base::shape_text(array.shape), array.type),
            found.least > found.most ? "no values"
                                     : fmt::format("{:.3g} .. {:.3g}", found.least, found.most)};
}

struct Kind {
    const char* name;
    Finding (*check)(const Job&);
};
enum KindIndex : int { images, labels, cifar100, cosmology, npy, dataset, tokens };
constexpr std::array kKinds{Kind{"idx images", on_rank_0<idx_images>},
                            Kind{"idx labels", on_rank_0<idx_labels>},
                            Kind{"CIFAR-100 binary", on_rank_0<cifar100_file>},
                            Kind{"cosmology HDF5", volumes},
                            Kind{"npy", rows<npy_rows>},
                            Kind{"HDF5 dataset", rows<hdf5::open_rows>},
                            Kind{"token file", on_rank_0<token_file>}};

// Decides by the name or the first bytes: a file with a kind's name but unrecognised contents is
// damaged, not unknown.
KindIndex kind_of(const fs::path& file) {
    if (hdf5::names_dataset(file.string())) return dataset;
    base::refuse_irregular<base::DataError>(file);
    const std::string extension = file.extension().string();
    const std::string name = file.filename().string();
    const std::string head = first_bytes(file);
    if (extension == ".h5" || extension == ".hdf5" || hdf5::is_hdf5(file)) return cosmology;
    if (extension == ".npy" || head.starts_with("\x93NUMPY")) return npy;
    const std::string magic = head.substr(0, 4);
    if (name.find("idx3-ubyte") != std::string::npos || magic == std::string("\0\0\x08\x03", 4))
        return images;
    if (name.find("idx1-ubyte") != std::string::npos || magic == std::string("\0\0\x08\x01", 4))
        return labels;
    if (is_llmc_tokens(head)) return tokens;
    if (extension == ".bin")
        return name == "train.bin" || name == "test.bin" ||
                       fs::file_size(file) % kCifar100Record == 0
                   ? cifar100
                   : tokens;
    throw base::DataError(
        fmt::format("{} is not a known data file; known are idx, CIFAR-100 binary (.bin), "
                    "cosmology HDF5 (.h5) and npy",
                    file.string()));
}

// Runs a collective check. If ranks find a fault in the file, verdict.wrong is, on all ranks, the
// message of the lowest of them.
void run_check(comm::Communicator& control, FileVerdict& verdict,
               const std::function<Finding()>& check) {
    std::string mine;
    comm::all_or_throw(control, [&] {
        try {
            std::tie(verdict.content, verdict.checked) = check();
        } catch (const base::DataError& error) {
            mine = error.what();
        } catch (const base::Hdf5Error& error) {
            mine = error.what();
        } catch (const comm::PeerError&) {  // the rank that failed has the message
        }
    });
    for (const auto& text : comm::gather_texts(control, mine))
        if (verdict.wrong.empty()) verdict.wrong = text;
}

FileVerdict verify_file(comm::Communicator& control, const std::string& file,
                        base::ProgressSink& progress) {
    FileVerdict verdict{.file = file};
    progress.activity("verifying " + file);
    run_check(control, verdict, [&] {
        int kind = 0;
        comm::on_root(control, [&] { kind = kind_of(file); });
        const auto& [name, check] = kKinds.at(comm::from_root(control, kind));
        verdict.kind = name;
        return check({control, progress, file});
    });
    return verdict;
}

// Checks that the images and labels of one set fit together.
FileVerdict verify_idx_pair(comm::Communicator& control, const std::string& images,
                            const std::string& labels) {
    FileVerdict verdict{.file = images + " + labels", .kind = "idx pair"};
    run_check(control, verdict, [&] {
        if (control.rank() != 0) return Finding{};
        const auto set = read_idx_set(images, labels, kIdxClasses);
        return Finding{
            fmt::format("{} images of {} x {}", set.size(), set.shape.height, set.shape.width),
            fmt::format("magic, size, one label per image, labels in 0..{}", kIdxClasses - 1)};
    });
    return verdict;
}

// The data files of a folder except the idx files that training reads, which are checked in pairs.
std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> files;
    for (const char* name : kIdxNames)  // a .gz beside a plain file: other programs may read it
        if (const fs::path gz = folder / (std::string(name) + ".gz");
            fs::exists(folder / name) && fs::exists(gz))
            files.push_back(gz);
    for (const fs::path& place : {folder, folder / "cifar-100-binary"}) {
        std::error_code missing;
        for (const auto& entry : fs::directory_iterator(place, missing)) {
            const std::string name = entry.path().filename().string();
            const std::string extension = entry.path().extension().string();
            if (name == "train.bin" || name == "test.bin" || extension == ".h5" ||
                extension == ".hdf5" || extension == ".npy")
                files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

struct Found {
    std::vector<std::string> files, idx;  // idx: images, labels, images, labels
};

Found files_at(const fs::path& path) {
    if (!fs::is_directory(path)) {
        base::refuse_irregular<base::DataError>(path);
        if (!fs::exists(path) && !hdf5::names_dataset(path.string()))
            throw base::DataError(fmt::format("{} does not exist; check the name", path.string()));
        return {{path.string()}, {}};
    }
    Found found{files_in(path), {}};
    for (const char* name : kIdxNames) found.idx.push_back(plain_or_gz(path, name));
    if (std::ranges::none_of(found.idx, [](const auto& file) { return fs::exists(file); }))
        found.idx.clear();
    if (found.files.empty() && found.idx.empty())
        throw base::DataError(
            fmt::format("{} holds no known data file; known are idx files, train.bin and "
                        "test.bin of CIFAR-100, .h5, .npy",
                        path.string()));
    return found;
}

}  // namespace

std::vector<FileVerdict> verify(comm::Communicator& control, const fs::path& path,
                                base::ProgressSink& progress) {
    Found found;
    comm::on_root(control, [&] { found = files_at(path); });
    std::vector<FileVerdict> verdicts;
    for (const auto& file : comm::from_root(control, found.files))
        verdicts.push_back(verify_file(control, file, progress));
    const auto idx = comm::from_root(control, found.idx);
    for (std::size_t i = 0; i < idx.size(); i += 2)
        verdicts.push_back(verify_idx_pair(control, idx[i], idx[i + 1]));
    progress.finish();
    return verdicts;
}

}  // namespace ranklab::data
