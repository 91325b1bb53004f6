#include <fmt/format.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>

#include "app/guarded.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "fuzz/formats/all.hpp"

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

// As the header says.
std::size_t image_bytes(const Bytes& bytes) {
    const std::size_t at = bytes.substr(0, kHeader).find("on: ");
    return at == Bytes::npos ? 0 : std::strtoull(bytes.c_str() + at + 4, nullptr, 10);
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
    // Behind the header lies HDF5 for other programs, then the index, which is what is read.
    void edit(Input& input, Random& random, std::span<const Input> others, const fs::path&) const override {
        const std::size_t index = kHeader + image_bytes(input.bytes);
        if (random.chance(20) || index >= input.bytes.size()) return edit_bytes(input, random, others);
        Input part{"index", input.bytes.substr(index)};
        edit_bytes(part, random, others.first(1));
        input.bytes = input.bytes.substr(0, index) + part.bytes;
    }
    // Mostly with the lengths and the checksum that such contents have, as a file made so on purpose.
    void finish(Input& input, Random& random) const override {
        if (input.bytes.size() < kHeader || random.chance(10)) return;
        const std::string rest = input.bytes.substr(kHeader);
        const std::size_t image = std::min(image_bytes(input.bytes), rest.size());
        const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(rest.data()), rest.size());
        std::string header = fmt::format(
            "ranklab checkpoint\nschema 2: HDF5 from byte {} on: {} bytes, then an index: {} bytes, crc32 "
            "{:08x}\n",
            kHeader, image, rest.size() - image, crc);
        header.resize(kHeader, '\0');
        input.bytes = header + rest;
    }
    void attempt(const Input& input, Random&, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
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
