#include <filesystem>

#include "app/session.hpp"
#include "experiments/checkpoint_file.hpp"
#include "fuzz/formats/all.hpp"
#include "fuzz/hdf5_edits.hpp"

#include <fmt/format.h>
#include <zlib.h>

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace experiments;

constexpr std::size_t kHeader = 512;

NamedArray array(Random& random, const std::string& name) {
    constexpr std::array kElements{hdf5::Element::u8, hdf5::Element::i64, hdf5::Element::f32,
                                   hdf5::Element::f64};
    hdf5::TypedArray values;
    values.element = random.pick(kElements);
    std::size_t count = 1;
    for (std::size_t rank = random.below(4); rank > 0; --rank) {
        values.shape.push_back(static_cast<std::int64_t>(1 + random.below(6)));
        count *= static_cast<std::size_t>(values.shape.back());
    }
    values.bytes.resize(count * hdf5::size_of(values.element));
    for (auto& byte : values.bytes) byte = static_cast<std::byte>(random.next());
    return {name, values};
}

std::vector<NamedArray> arrays(Random& random, std::size_t most) {
    std::vector<NamedArray> made;
    for (std::size_t i = 1 + random.below(most); i > 0; --i)
        made.push_back(array(random, fmt::format("layer{}.weight", i)));
    return made;
}

class Checkpoints final : public Format {
  public:
    std::string name() const override { return "checkpoint"; }
    Input make(Random& random, const fs::path&) const override {
        Checkpoint checkpoint;
        checkpoint.completed_steps = static_cast<std::int64_t>(1 + random.below(1000));
        checkpoint.settings = {{"model", "mnist-cnn"}, {"batch-size", "32"}, {"label", hostile_text(random)}};
        checkpoint.parameters = arrays(random, 12);
        checkpoint.buffers = arrays(random, 4);
        checkpoint.optimizer = {{"momentum", arrays(random, 12)}};
        checkpoint.ranks = {{"0", arrays(random, 3)}, {"1", arrays(random, 3)}};
        const auto bytes = encode(checkpoint);
        return {"checkpoint.h5", {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    }
    // What lies behind the header is HDF5.
    void edit(Input& input, Random& random, std::span<const Input> others,
              const fs::path& folder) const override {
        if (!input.damaged && random.chance(40) && input.bytes.size() > kHeader) {
            Input image{"image.h5", input.bytes.substr(kHeader)};
            edit_hdf5(image, random, folder);
            input.bytes = input.bytes.substr(0, kHeader) + image.bytes;
            return;
        }
        input.damaged = true;
        edit_bytes(input, random, others);
    }
    // Mostly with the checksum that such contents have, as a file damaged before it was summed up.
    void finish(Input& input, Random& random) const override {
        if (input.bytes.size() < kHeader || random.chance(10)) return;
        const std::string image = input.bytes.substr(kHeader);
        const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(image.data()), image.size());
        std::string header = fmt::format("ranklab checkpoint\nHDF5 from byte {} on: {} bytes, crc32 {:08x}\n",
                                         kHeader, image.size(), crc);
        header.resize(kHeader, '\0');
        input.bytes = header + image;
    }
    void attempt(const Input& input, Random&, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        lay_traps(folder);
        write_file(input.name, input.bytes);
        judge.expect("--resume with " + input.name, {0, 3}, [&] {
            return app::guarded([&] {
                const auto bytes = CheckpointFile(folder).read();
                static_cast<void>(decode(*bytes));
                return 0;
            });
        });
    }
};

}  // namespace

std::unique_ptr<Format> checkpoint_format() {
    return std::make_unique<Checkpoints>();
}

}  // namespace ranklab::fuzz
