#include "data/sources/cifar100.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/images.hpp"
#include "data/volume_field.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& what,
                       base::Settings settings = {}) {
    throw base::DataError(fmt::format("{} {}", file.string(), what), std::move(settings));
}

std::int64_t records_of(const fs::path& file, std::int64_t bytes) {
    if (bytes == 0) fail(file, "is empty; copy the file again");
    if (bytes % kCifar100Record == 0) return bytes / kCifar100Record;
    fail(file,
         fmt::format(
             "has {} bytes, {} records of {} and {} bytes more: it is truncated or not a CIFAR-100 "
             "binary file; copy it again",
             bytes, bytes / kCifar100Record, kCifar100Record, bytes % kCifar100Record));
}

void check_labels(const fs::path& file, std::int64_t record, std::uint8_t coarse,
                  std::uint8_t fine) {
    if (fine < kCifar100Classes && kCifar100Coarse[fine] == coarse) return;
    fail(
        file,
        fmt::format(
            "has the labels {} (coarse) and {} (fine) in record {}, a pair that CIFAR-100 does not "
            "have; the file is damaged or of another data set",
            coarse, fine, record));
}

}  // namespace

ImageSet read_cifar100(const fs::path& file) {
    if (!fs::exists(file)) fail(file, "does not exist; check the folder", {"data-dir"});
    const FileBytes bytes(file, ByteAccess::read);
    const std::int64_t records = records_of(file, static_cast<std::int64_t>(bytes.size()));
    ImageSet set{kCifar100Shape, kCifar100Classes, {}, {}};
    set.images.reserve(records * kCifar100Shape.bytes());
    for (std::int64_t i = 0; i < records; ++i) {
        const auto* const record =
            reinterpret_cast<const std::uint8_t*>(bytes.at(i * kCifar100Record, kCifar100Record));
        check_labels(file, i, record[0], record[1]);
        set.labels.push_back(record[1]);
        set.images.insert(set.images.end(), record + 2, record + kCifar100Record);
    }
    return set;
}

namespace {

// The model may have any height and width, to which the images are resized.
ImageSets load(const DataRequest& request) {
    const auto folder = find_image_folder(
        {.what = "CIFAR-100",
         .usual = "data",
         .below = {"", "cifar-100-binary"},
         .how_to_get = "unpack cifar-100-binary.tar.gz, or make a synthetic set with `ranklab data "
                       "make cifar100`, and name its folder",
         .file = "train.bin"},
        request.directory);
    if (request.input.front() != kCifar100Shape.channels || request.classes != kCifar100Classes)
        throw base::DataError(
            fmt::format("{} has images of 3 channels and 100 classes, the model takes {} and {}; "
                        "use another set",
                        folder.string(), request.input.front(), request.classes),
            {"data"});
    return {read_cifar100(folder / "train.bin"), read_cifar100(folder / "test.bin"),
            folder.string()};
}

}  // namespace

SourceEntry cifar100_entry() {
    return {.name = "cifar100",
            .summary =
                "CIFAR-100: 50,000 + 10,000 colour images of 32 x 32 in binary files, 100 classes",
            .pixel_mean = {0.5071, 0.4865, 0.4409},
            .pixel_std = {0.2673, 0.2564, 0.2762},
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_images(request, control, [&] { return load(request); });
            }};
}

}  // namespace ranklab::data
