#include <algorithm>
#include <memory>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "data/class_images.hpp"
#include "data/idx.hpp"
#include "data/make/output_file.hpp"
#include "data/make/tools.hpp"
#include "data/sources/cifar100.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> big_endian(const std::vector<std::uint32_t>& words) {
    std::vector<std::byte> bytes;
    for (const std::uint32_t word : words)
        for (const unsigned shift : {24U, 16U, 8U, 0U})
            bytes.push_back(static_cast<std::byte>(word >> shift & 0xFFU));
    return bytes;
}

void add_record(const ImageFiles& set, const ImageFiles::File& file, const ClassImages& images,
                std::int64_t sample, std::vector<std::uint8_t>& records) {
    const std::int64_t label = sample % set.classes;
    if (file.labels == 2) records.push_back(kCifar100Coarse[label]);
    if (file.labels > 0) records.push_back(static_cast<std::uint8_t>(label));
    if (!file.has_image) return;
    RandomStream random(random_of(set.seed, file.split, sample));
    records.resize(records.size() + set.shape.bytes());
    images.draw(
        label, [&] { return random.next(); }, &records[records.size() - set.shape.bytes()]);
}

// Writes this rank's samples of a file, some at a time.
void write_file(const comm::Communicator& control, const ImageFiles& set,
                const ImageFiles::File& file, const ClassImages& images, OutputFile& output,
                base::ProgressSink& progress) {
    constexpr std::int64_t kAtOnce = 512;
    const auto mine = base::share_of(file.samples, control.rank(), control.world_size());
    const auto start = base::Clock::now();
    if (control.rank() == 0) output.write(0, big_endian(file.header));
    for (std::int64_t done = 0; done < mine.count;) {
        progress.activity("drawing images");
        const base::Share some{mine.first + done, std::min(kAtOnce, mine.count - done)};
        std::vector<std::uint8_t> records;
        for (std::int64_t i = some.first; i < some.end(); ++i)
            add_record(set, file, images, i, records);
        output.write(4 * file.header.size() + some.first * set.record_bytes(file),
                     std::as_bytes(std::span(records)));
        done += some.count;
        progress.update(done, mine.count, base::real(done) / base::seconds_since(start),
                        "images/s per rank", "images");
    }
}

}  // namespace

std::uint64_t ImageFiles::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : files)
        sum += 4 * file.header.size() + file.samples * record_bytes(file);
    return sum;
}

ImageFiles cifar100_files(const ImageFilesSpec& spec) {
    const fs::path folder = fs::path(spec.output) / "cifar-100-binary";
    return {kCifar100Shape,
            kCifar100Classes,
            {{.path = folder / "train.bin", .split = 0, .samples = spec.train, .labels = 2},
             {.path = folder / "test.bin", .split = 1, .samples = spec.test, .labels = 2}},
            spec.seed};
}

ImageFiles mnist_files(const ImageFilesSpec& spec) {
    const fs::path folder = spec.output;
    ImageFiles set{{1, 28, 28}, 10, {}, spec.seed};
    for (const int split : {0, 1}) {
        const auto samples = split == 0 ? spec.train : spec.test;
        const auto n = static_cast<std::uint32_t>(samples);
        set.files.push_back({folder / kIdxNames.at(2 * split), split, samples, {0x803, n, 28, 28}});
        set.files.push_back({.path = folder / kIdxNames.at(2 * split + 1),
                             .split = split,
                             .samples = samples,
                             .header = {0x801, n},
                             .labels = 1,
                             .has_image = false});
    }
    return set;
}

void make_images(comm::Communicator& control, const ImageFiles& set, bool force,
                 base::ProgressSink& progress) {
    comm::on_root(control, [&] {
        base::make_folders(set.files.front().path.parent_path());
        for (const auto& file : set.files) check_output(file.path, force, set.bytes());
    });
    std::vector<std::unique_ptr<OutputFile>> outputs;
    for (const auto& file : set.files)
        outputs.push_back(std::make_unique<OutputFile>(control, file.path, force, 0));
    const ClassImages images(set.shape, set.classes, set.seed);
    comm::all_or_throw(control, [&] {
        for (std::size_t i = 0; i < outputs.size(); ++i)
            write_file(control, set, set.files[i], images, *outputs[i], progress);
    });
    progress.activity("writing to the disk");
    for (const auto& output : outputs) output->commit();
    progress.finish();
}

}  // namespace ranklab::data
