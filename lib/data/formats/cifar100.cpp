#include "data/formats/cifar100.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/files.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& what,
                       base::Settings settings = {}) {
    throw base::DataError(fmt::format("{} {}", file.string(), what), std::move(settings));
}

std::int64_t records_of(const fs::path& file) {
    base::refuse_irregular<base::DataError>(file);
    if (!fs::exists(file)) fail(file, "does not exist; check the folder", {"data-dir"});
    const std::int64_t bytes = fs::file_size(file);
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
    const std::int64_t records = records_of(file);
    std::ifstream in(file, std::ios::binary);
    if (!in)
        fail(file,
             fmt::format("cannot be opened: {}; check its permissions", std::strerror(errno)));
    ImageSet set{kCifar100Shape, kCifar100Classes, {}, {}};
    set.images.resize(records * kCifar100Shape.bytes());
    set.labels.resize(records);
    std::array<char, 2> labels{};
    for (std::int64_t i = 0; i < records; ++i) {
        in.read(labels.data(), labels.size());
        in.read(reinterpret_cast<char*>(set.images.data() + i * kCifar100Shape.bytes()),
                kCifar100Shape.bytes());
        if (in.bad()) base::throw_read_errno("read", file, errno);
        if (!in) fail(file, fmt::format("cannot be read past record {}; copy the file again", i));
        const auto fine = static_cast<std::uint8_t>(labels[1]);
        check_labels(file, i, static_cast<std::uint8_t>(labels[0]), fine);
        set.labels[i] = fine;
    }
    return set;
}

}  // namespace ranklab::data
