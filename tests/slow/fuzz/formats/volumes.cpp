#include <fmt/format.h>

#include <filesystem>

#include "app/guarded.hpp"
#include "data/volumes.hpp"
#include "fuzz/formats/all.hpp"
#include "fuzz/hdf5_edits.hpp"
#include "fuzz/tool_verbs.hpp"
#include "unit/data/volume_files.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;
using testing::Layout;

std::string npy(const std::string& descr, const std::vector<hsize_t>& shape, const Bytes& values) {
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", descr,
                                     fmt::join(shape, ", "));
    header.resize((header.size() + 10) / 64 * 64 + 64 - 10 - 1, ' ');
    header += '\n';
    Bytes bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() % 256);
    bytes += static_cast<char>(header.size() / 256);
    return bytes + header + values;
}

Bytes floats(Random& random, std::size_t count) {
    Bytes bytes;
    for (std::size_t i = 0; i < count; ++i) {
        const auto value = static_cast<float>(random.below(2000)) / 7;
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
}

// The file as crops are read from it.
void read_crops(const std::string& file, Random& random, Judge& judge) {
    constexpr std::array kAccess{data::VolumeAccess::automatic, data::VolumeAccess::mapped,
                                 data::VolumeAccess::read, data::VolumeAccess::library,
                                 data::VolumeAccess::memory};
    const auto access = random.pick(kAccess);
    judge.expect("crops of " + file, {0, 3}, [&] {
        return app::guarded([&] {
            const auto volume = std::make_shared<const data::VolumeFile>(file, access);
            const auto edge = std::min<std::int64_t>(volume->edge(), 4);
            const auto source = data::crop_source(volume, {edge, 4, true, false});
            std::vector<std::byte> input(source->layout().input.bytes());
            std::vector<std::byte> target(source->layout().target.bytes());
            data::ReadTimes times;
            for (std::int64_t i = 0; i < 4; ++i)
                source->read({i, random.next()}, input.data(), target.data(), times);
            return 0;
        });
    });
}

class Volumes final : public Hdf5Format {
  public:
    std::string name() const override { return "volume"; }
    // Contiguous, chunked, packed, of the other byte order; half of them with the checksums that `convert`
    // adds.
    Input make(Random& random, const fs::path& folder) const override {
        const hsize_t edge = 2 + random.below(7);
        if (random.chance(50)) return converted(random, edge, folder);
        const fs::path path = folder / "base.h5";
        Layout layout;
        if (random.chance(50)) layout.chunk = {5, 1 + random.below(edge), 1 + random.below(edge), edge};
        layout.deflate = !layout.chunk.empty() && random.chance(50);
        layout.big_endian = random.chance(20);
        testing::VolumeWriter(path).add_both(edge, layout);
        return {"in.h5", read_file(path)};
    }
    void attempt(const Input& input, Random& random, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        lay_traps(folder);
        write_file(input.name, input.bytes);
        const int verified = run_data("verify", {input.name}, judge);
        const int converted = run_data("convert", {input.name, "out"}, judge);
        judge.promise("data convert", converted != 0 || verified == 0, "takes what data verify refuses");
        judge.promise("data verify", verified != 0 || converted == 0, "takes what data convert refuses");
        read_crops(input.name, random, judge);
    }

  private:
    static Input converted(Random& random, hsize_t edge, const fs::path& folder) {
        Slot slot;
        for (const hsize_t channels : {4, 5})
            write_file(
                folder / fmt::format("{}.npy", channels),
                npy("<f4", {edge, edge, edge, channels}, floats(random, channels * edge * edge * edge)));
        const fs::path out = folder / "made.h5";
        const base::Descriptor none;
        Judge judge(slot, none, none);
        run_data("convert",
                 {fmt::format("{}/4.npy,{}/5.npy", folder.string(), folder.string()), out.string(), "--force",
                  "--chunk", random.chance(50) ? "0" : "2"},
                 judge, {0});
        return {"in.h5", read_file(out)};
    }
};

// A dictionary by grammar, with what does not belong there.
std::string dictionary(Random& random) {
    constexpr std::array kTypes{"<f4", "<f8",  "|u1", ">f4",     "<i8",
                                "|O",  "<f16", "",    "<f4,<f4", "[('a','<f4')]"};
    std::string shape;
    for (std::size_t rank = random.mostly_small(random.chance(3) ? 20000 : 8); rank > 0; --rank)
        shape += (random.chance(60) ? std::to_string(random.below(9)) : edge_text(random)) + ", ";
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), {}}}",
                       random.chance(50) ? "<f4" : random.pick(kTypes), random.chance(80) ? "False" : "True",
                       shape, random.chance(90) ? "" : hostile_text(random));
}

class Npy final : public Format {
  public:
    std::string name() const override { return "npy"; }
    std::size_t bases() const override { return 32; }
    Input make(Random& random, const fs::path&) const override {
        const hsize_t edge = 1 + random.below(6);
        const hsize_t channels = random.chance(50) ? 4 : 5;
        return {"in.npy",
                npy("<f4", {edge, edge, edge, channels}, floats(random, channels * edge * edge * edge))};
    }
    void edit(Input& input, Random& random, std::span<const Input> others, const fs::path&) const override {
        const std::size_t begin = input.bytes.find('{');
        const std::size_t end = input.bytes.find('\n');
        if (!random.chance(50) || begin >= end || end == Bytes::npos)
            return edit_bytes(input, random, others);
        const std::string header = dictionary(random) + '\n';
        Bytes length{static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
        input.bytes = input.bytes.substr(0, begin - 2) + length + header + input.bytes.substr(end + 1);
    }
    void attempt(const Input& input, Random& random, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        write_file(input.name, input.bytes);
        run_data("verify", {input.name}, judge);
        std::vector<std::string> words{input.name, "out.h5"};
        if (random.chance(40)) words.insert(words.end(), {"--chunk", "2"});
        if (random.chance(40)) words.insert(words.end(), {"--dataset", "x"});
        run_data("convert", words, judge);
    }
};

}  // namespace

std::unique_ptr<Format> volume_format() {
    return std::make_unique<Volumes>();
}

std::unique_ptr<Format> npy_format() {
    return std::make_unique<Npy>();
}

}  // namespace ranklab::fuzz
