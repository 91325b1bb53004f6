#include <zlib.h>

#include <filesystem>

#include "app/guarded.hpp"
#include "data/formats/cifar100.hpp"
#include "data/idx.hpp"
#include "fuzz/formats/all.hpp"
#include "fuzz/tool_verbs.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;

Bytes big_endian(std::uint32_t value) {
    Bytes bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift);
    return bytes;
}

Bytes noise(Random& random, std::size_t count, std::size_t end) {
    Bytes bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(end));
    return bytes;
}

Bytes packed(const Bytes& bytes) {
    z_stream stream{};
    deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    Bytes out(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

Bytes idx_images(Random& random, std::uint32_t count) {
    return big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28) +
           noise(random, count * 784UL, 256);
}

Bytes idx_labels(Random& random, std::uint32_t count) {
    return big_endian(0x801) + big_endian(count) + noise(random, count, 10);
}

// Headers that claim what they like, with or without what they claim; much of nothing, packed.
Bytes idx_by_grammar(Random& random) {
    constexpr std::array<std::uint32_t, 6> kMagic{0x803, 0x801, 0x802, 0x903, 0x80000803, 0};
    Bytes bytes = big_endian(random.pick(kMagic));
    for (int i = 0; i < 3; ++i)
        bytes += big_endian(random.chance(50) ? static_cast<std::uint32_t>(random.below(30))
                                              : static_cast<std::uint32_t>(edge_number(random)));
    return bytes + Bytes(random.chance(3) ? std::size_t{64} << 20U : random.mostly_small(20000), '\0');
}

class Idx final : public Format {
  public:
    std::string name() const override { return "idx"; }
    // The first letter of the name under which it lies tells images from labels.
    Input make(Random& random, const fs::path&) const override {
        const auto count = static_cast<std::uint32_t>(random.below(12));
        const bool images = random.chance(50);
        const Bytes bytes = images ? idx_images(random, count) : idx_labels(random, count);
        const std::string name = images ? "train-images-idx3-ubyte" : "train-labels-idx1-ubyte";
        const bool pack = random.chance(50);
        return {name + (pack ? ".gz" : ""), pack ? packed(bytes) : bytes};
    }
    void edit(Input& input, Random& random, std::span<const Input> others, const fs::path&) const override {
        if (random.chance(75)) return edit_bytes(input, random, others);
        input.bytes = idx_by_grammar(random);
        if (input.name.ends_with(".gz")) input.bytes = packed(input.bytes);
    }
    void attempt(const Input& input, Random&, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        Random own(1, 1);
        write_file("train-images-idx3-ubyte", idx_images(own, 5));
        write_file("train-labels-idx1-ubyte", idx_labels(own, 5));
        write_file("t10k-images-idx3-ubyte", idx_images(own, 3));
        write_file("t10k-labels-idx1-ubyte", idx_labels(own, 3));
        fs::remove(input.name.substr(0, input.name.find(".gz")));
        write_file(input.name, input.bytes);
        run_data("verify", {input.name}, judge);
        const int folder_code = run_data("verify", {"."}, judge);
        const auto outcome = judge.expect("train --data mnist", {0, 3}, [&] {
            return app::guarded([&] {
                static_cast<void>(data::read_idx_folder(folder, {1, 28, 28}, 10));
                return 0;
            });
        });
        judge.promise("data verify", outcome.code != 0 || folder_code == 0, "refuses what train takes");
    }
};

class Cifar final : public Format {
  public:
    std::string name() const override { return "cifar"; }
    std::size_t bases() const override { return 32; }
    Input make(Random& random, const fs::path&) const override {
        return {random.chance(50) ? "train.bin" : "test.bin", records(random, random.below(8))};
    }
    void edit(Input& input, Random& random, std::span<const Input> others, const fs::path&) const override {
        if (random.chance(30) && input.bytes.size() >= data::kCifar100Record)
            input.bytes[random.below(2) +
                        data::kCifar100Record * random.below(input.bytes.size() / data::kCifar100Record)] =
                static_cast<char>(random.next());
        else
            edit_bytes(input, random, others);
    }
    void attempt(const Input& input, Random&, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        Random own(1, 1);
        write_file("train.bin", records(own, 3));
        write_file("test.bin", records(own, 2));
        write_file(input.name, input.bytes);
        const int verified = run_data("verify", {"."}, judge);
        const auto outcome = judge.expect("train --data cifar100", {0, 3}, [&] {
            return app::guarded([&] {
                static_cast<void>(data::read_cifar100_folder(folder));
                return 0;
            });
        });
        judge.promise("data verify", (verified == 0) == (outcome.code == 0), "and train do not agree");
    }

  private:
    static Bytes records(Random& random, std::size_t count) {
        Bytes bytes;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t fine = random.below(data::kCifar100Classes);
            bytes += static_cast<char>(data::kCifar100Coarse[fine]);
            bytes += static_cast<char>(fine);
            bytes += noise(random, data::kCifar100Record - 2, 256);
        }
        return bytes;
    }
};

}  // namespace

std::unique_ptr<Format> idx_format() {
    return std::make_unique<Idx>();
}

std::unique_ptr<Format> cifar_format() {
    return std::make_unique<Cifar>();
}

}  // namespace ranklab::fuzz
