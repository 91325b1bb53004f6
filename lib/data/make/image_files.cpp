#include "data/make/tools.hpp"

#include <algorithm>
#include <memory>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "data/class_images.hpp"
#include "data/formats/cifar100.hpp"
#include "data/idx.hpp"
#include "data/make/output_file.hpp"

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

// An open file of the set, and the records for the next write().
struct Output {
    const ImageFiles::File& file;
    std::unique_ptr<OutputFile> written;
    std::size_t record;
    std::vector<std::uint8_t> records{};

    void put(std::int64_t label, const ClassImages& images, RandomStream random) {
        records.resize(records.size() + record);
        auto* to = &records[records.size() - record];
        if (file.labels == 2) *to++ = kCifar100Coarse[label];
        if (file.labels > 0) *to++ = static_cast<std::uint8_t>(label);
        if (file.has_image)
            images.draw(
                label, [&] { return random.next(); }, to);
    }
    void write(std::int64_t first) {
        written->write(4 * file.header.size() + static_cast<std::uint64_t>(first) * record,
                       std::as_bytes(std::span(records)));
        records.clear();
    }
};

// Writes this rank's samples of a split, some at a time.
void write_split(comm::Communicator& control, const ImageFiles& set, std::int64_t split,
                 const ClassImages& images, std::vector<Output>& outputs,
                 base::ProgressSink& progress) {
    constexpr std::int64_t kAtOnce = 512;
    const auto mine =
        base::share_of(set.splits[split].samples, control.rank(), control.world_size());
    const auto start = base::Clock::now();
    for (auto& output : outputs)
        if (control.rank() == 0) output.written->write(0, big_endian(output.file.header));
    for (std::int64_t done = 0; done < mine.count;) {
        progress.activity("drawing images");
        const base::Share some{mine.first + done, std::min(kAtOnce, mine.count - done)};
        for (std::int64_t i = some.first; i < some.end(); ++i)
            for (auto& output : outputs)
                output.put(i % set.classes, images, RandomStream(random_of(set.seed, split, i)));
        for (auto& output : outputs) output.write(some.first);
        done += some.count;
        progress.update(done, mine.count, base::real(done) / base::seconds_since(start),
                        "images/s per rank", "images");
    }
}

}  // namespace

std::uint64_t ImageFiles::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& split : splits)
        for (const auto& file : split.files)
            sum += 4 * file.header.size() +
                   static_cast<std::uint64_t>(split.samples) * record_bytes(file);
    return sum;
}

ImageFiles cifar100_files(const fs::path& directory, const ImageFilesSpec& spec) {
    const fs::path folder = directory / "cifar-100-binary";
    return {kCifar100Shape,
            kCifar100Classes,
            {{{spec.train, {{.path = folder / "train.bin", .labels = 2}}},
              {spec.test, {{.path = folder / "test.bin", .labels = 2}}}}},
            spec.seed};
}

ImageFiles mnist_files(const fs::path& directory, const ImageFilesSpec& spec) {
    const auto split = [&](std::int64_t samples, std::size_t first) {
        const auto n = static_cast<std::uint32_t>(samples);
        return ImageFiles::Split{
            samples,
            {{.path = directory / kIdxNames[first], .header = {0x803, n, 28, 28}},
             {directory / kIdxNames[first + 1], {0x801, n}, 1, false}}};
    };
    return {{1, 28, 28}, 10, {split(spec.train, 0), split(spec.test, 2)}, spec.seed};
}

void make_images(comm::Communicator& control, const ImageFiles& set, bool force,
                 base::ProgressSink& progress) {
    const fs::path folder = set.splits[0].files[0].path.parent_path();
    comm::all_or_throw(control, [&] {
        if (control.rank() != 0) return;
        base::make_folders(folder);
        for (const auto& split : set.splits)
            for (const auto& file : split.files) check_output(file.path, force, set.bytes());
    });
    std::array<std::vector<Output>, 2> outputs;
    for (std::size_t s = 0; s < outputs.size(); ++s)
        for (const auto& file : set.splits[s].files)
            outputs[s].push_back({file, std::make_unique<OutputFile>(control, file.path, force, 0),
                                  set.record_bytes(file)});
    const ClassImages images(set.shape, set.classes, set.seed);
    for (std::size_t s = 0; s < outputs.size(); ++s)
        comm::all_or_throw(control, [&] {
            write_split(control, set, static_cast<std::int64_t>(s), images, outputs[s], progress);
        });
    progress.activity("writing to the disk");
    for (const auto& split : outputs)
        for (const auto& output : split) output.written->commit();
    progress.finish();
}

}  // namespace ranklab::data
