#include "data/formats/cifar100.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
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

}  // namespace ranklab::data
