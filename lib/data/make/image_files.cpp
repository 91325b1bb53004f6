#include "data/make/image_files.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <system_error>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "data/formats/cifar100.hpp"
#include "data/idx.hpp"
#include "data/make/class_images.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kAtOnce = 512;  // samples in memory
constexpr std::uint64_t kImagesHeader = 16;
constexpr std::uint64_t kLabelsHeader = 8;

using Outputs = std::vector<std::unique_ptr<OutputFile>>;

Outputs open_all(comm::Communicator& control, const ImageFilesSpec& spec,
                 const std::vector<fs::path>& files, std::uint64_t bytes) {
    comm::all_or_throw(control, [&] {
        if (control.rank() != 0) return;
        std::error_code error;
        fs::create_directories(files.front().parent_path(), error);
        if (error) base::throw_errno("mkdir", files.front().parent_path(), error.value());
        for (const auto& file : files) check_output(file, spec.force, bytes);
    });
    Outputs outputs;
    for (const auto& file : files)
        outputs.push_back(std::make_unique<OutputFile>(control, file, spec.force, 0));
    return outputs;
}

// Calls make(first, count) for this rank's part of `total` samples, some at a time. Throws on all
// ranks if the disk of one is full.
void share_out(comm::Communicator& control, std::int64_t total, base::ProgressSink& progress,
               const std::function<void(std::int64_t, std::int64_t)>& make) {
    const base::Share mine = base::share_of(total, control.rank(), control.world_size());
    const auto start = base::Clock::now();
    comm::all_or_throw(control, [&] {
        for (std::int64_t done = 0; done < mine.count; done += kAtOnce) {
            progress.activity("drawing images");
            const std::int64_t count = std::min(kAtOnce, mine.count - done);
            make(mine.first + done, count);
            progress.update(done + count, mine.count,
                            base::real(done + count) / base::seconds_since(start),
                            "images/s a rank", "images");
        }
    });
}

void commit_all(Outputs& outputs, base::ProgressSink& progress) {
    progress.activity("writing to the disk");
    for (const auto& output : outputs) output->commit();
    progress.finish();
}

void write_header(comm::Communicator& control, OutputFile& file,
                  const std::vector<std::uint32_t>& words) {
    comm::all_or_throw(control, [&] {
        if (control.rank() != 0) return;
        std::vector<std::byte> bytes;
        for (const std::uint32_t word : words)
            for (const unsigned shift : {24U, 16U, 8U, 0U})
                bytes.push_back(static_cast<std::byte>(word >> shift & 0xFFU));
        file.write(0, bytes);
    });
}

void write_cifar100(comm::Communicator& control, const ClassImages& images,
                    const ImageFilesSpec& spec, Split split, OutputFile& file,
                    base::ProgressSink& progress) {
    std::vector<std::uint8_t> records(kAtOnce * kCifar100Record);
    const auto write = [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t label = images.class_of(split, first + i);
            auto* record = records.data() + i * kCifar100Record;
            record[0] = kCifar100Coarse[label];
            record[1] = static_cast<std::uint8_t>(label);
            images.draw(split, first + i, label, record + 2);
        }
        file.write(first * kCifar100Record,
                   std::as_bytes(std::span(records)).first(count * kCifar100Record));
    };
    share_out(control, split == Split::train ? spec.train : spec.test, progress, write);
}

void write_mnist(comm::Communicator& control, const ClassImages& images, const ImageFilesSpec& spec,
                 Split split, OutputFile& image_file, OutputFile& label_file,
                 base::ProgressSink& progress) {
    const std::int64_t total = split == Split::train ? spec.train : spec.test;
    const auto n = static_cast<std::uint32_t>(total);
    const auto edge = static_cast<std::uint32_t>(images.edge());
    write_header(control, image_file, {0x803, n, edge, edge});
    write_header(control, label_file, {0x801, n});
    const std::size_t bytes = images.bytes();
    std::vector<std::uint8_t> pixels(kAtOnce * bytes);
    std::vector<std::uint8_t> labels(kAtOnce);
    share_out(control, total, progress, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t label = images.class_of(split, first + i);
            labels[i] = static_cast<std::uint8_t>(label);
            images.draw(split, first + i, label, pixels.data() + i * bytes);
        }
        image_file.write(kImagesHeader + first * bytes,
                         std::as_bytes(std::span(pixels)).first(count * bytes));
        label_file.write(kLabelsHeader + static_cast<std::uint64_t>(first),
                         std::as_bytes(std::span(labels)).first(count));
    });
}

}  // namespace

std::uint64_t cifar100_bytes(const ImageFilesSpec& spec) {
    return (spec.train + spec.test) * kCifar100Record;
}

std::uint64_t mnist_bytes(const ImageFilesSpec& spec) {
    const std::uint64_t samples = spec.train + spec.test;
    return samples * (28 * 28 + 1) + 2 * (kImagesHeader + kLabelsHeader);
}

std::vector<fs::path> make_cifar100(comm::Communicator& control, const ImageFilesSpec& spec,
                                    base::ProgressSink& progress) {
    const fs::path folder = spec.directory / "cifar-100-binary";
    const std::vector<fs::path> files{folder / "train.bin", folder / "test.bin"};
    Outputs outputs = open_all(control, spec, files, cifar100_bytes(spec));
    const auto images = ClassImages::colour(spec.seed);
    write_cifar100(control, images, spec, Split::train, *outputs[0], progress);
    write_cifar100(control, images, spec, Split::test, *outputs[1], progress);
    commit_all(outputs, progress);
    return files;
}

std::vector<fs::path> make_mnist(comm::Communicator& control, const ImageFilesSpec& spec,
                                 base::ProgressSink& progress) {
    std::vector<fs::path> files;
    for (const char* name : kIdxNames) files.push_back(spec.directory / name);
    Outputs outputs = open_all(control, spec, files, mnist_bytes(spec));
    const auto images = ClassImages::strokes(spec.seed);
    write_mnist(control, images, spec, Split::train, *outputs[0], *outputs[1], progress);
    write_mnist(control, images, spec, Split::test, *outputs[2], *outputs[3], progress);
    commit_all(outputs, progress);
    return files;
}

}  // namespace ranklab::data
