// A checkpoint's file. What goes into it is in checkpoint_test.cpp; whole runs are in
// tests/apps/checkpoint_test.py.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <iterator>
#include <random>
#include <span>

#include "base/error.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using hdf5::Element;
using tests::TempFolder;
using Bytes = std::vector<std::byte>;

NamedArray array_of(const std::string& name, Element element, std::vector<std::int64_t> shape) {
    std::size_t bytes = hdf5::size_of(element);
    for (const auto extent : shape) bytes *= static_cast<std::size_t>(extent);
    NamedArray array{name, {element, std::move(shape), Bytes(bytes)}};
    for (std::size_t i = 0; i < bytes; ++i)
        array.values.bytes[i] = static_cast<std::byte>(i * 37 + 11);
    return array;
}

Checkpoint small_checkpoint() {
    Checkpoint checkpoint;
    checkpoint.completed_steps = 12;
    checkpoint.settings = {{"--model", "m"}, {"--lr", ""}, {"ranks", "2"}};
    checkpoint.parameters = {array_of("b.weight", Element::f32, {2, 3}),
                             array_of("a.bias", Element::f64, {4})};
    checkpoint.buffers = {array_of("batches", Element::i64, {}),
                          array_of("none", Element::i32, {0})};
    checkpoint.optimizer = {{"momentum", {array_of("b.weight", Element::f32, {2, 3})}},
                            {"other", {}}};
    checkpoint.ranks = {{"0", {array_of("generator", Element::u8, {5})}},
                        {"1", {array_of("generator", Element::u8, {7})}}};
    return checkpoint;
}

void expect_equal(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].name, b[i].name);
        EXPECT_EQ(a[i].values.element, b[i].values.element) << a[i].name;
        EXPECT_EQ(a[i].values.shape, b[i].values.shape) << a[i].name;
        EXPECT_EQ(a[i].values.bytes, b[i].values.bytes) << a[i].name;
    }
}

void expect_equal(const std::vector<ArraySet>& a, const std::vector<ArraySet>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].name, b[i].name);
        expect_equal(a[i].arrays, b[i].arrays);
    }
}

Bytes bytes_in(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

TEST(CheckpointBytes, ComeBackInTheirTypesShapesAndOrder) {
    const Checkpoint before = small_checkpoint();
    const Checkpoint after = decode(encode(before));
    EXPECT_EQ(after.completed_steps, before.completed_steps);
    EXPECT_EQ(after.settings, before.settings);
    expect_equal(after.parameters, before.parameters);
    expect_equal(after.buffers, before.buffers);
    expect_equal(after.optimizer, before.optimizer);
    expect_equal(after.ranks, before.ranks);
}

TEST(CheckpointBytes, OfSeveralModelsDoNotMix) {
    Checkpoint other = small_checkpoint();
    other.completed_steps = 13;
    const Bytes first = encode(small_checkpoint());
    const Bytes second = encode(other);
    EXPECT_EQ(decode(first).completed_steps, 12);
    EXPECT_EQ(decode(second).completed_steps, 13);
    EXPECT_EQ(decode(first).completed_steps, 12);
}

TEST(CheckpointBytes, AnyChangedByteIsSeen) {
    const Bytes good = encode(small_checkpoint());
    Bytes bytes = good;
    for (std::size_t i = 0; i < bytes.size(); i += 1 + i / 4096) {
        bytes[i] ^= std::byte{0x01};
        EXPECT_THROW(decode(bytes), base::DataError) << "byte " << i;
        bytes[i] = good[i];
    }
    EXPECT_NO_THROW(decode(bytes));
}

TEST(CheckpointBytes, AnyCutIsSeen) {
    const Bytes good = encode(small_checkpoint());
    for (std::size_t size = 0; size < good.size(); size += 101)
        EXPECT_THROW(decode(std::span(good).first(size)), base::DataError) << size << " bytes";
    EXPECT_THROW(decode(std::span(good).first(good.size() - 1)), base::DataError);
}

TEST(CheckpointBytes, ANegativeNumberOfStepsIsDamage) {
    Checkpoint wrong = small_checkpoint();
    for (const std::int64_t steps : {0, -5}) {
        wrong.completed_steps = steps;
        EXPECT_THROW(decode(encode(wrong)), base::DataError);
    }
}

constexpr std::size_t kHeader = 512;

/// The file of these two parts, with the checksum that they have: docs/checkpoint.md, written down
/// again.
Bytes sealed(const Bytes& data, const Bytes& index, const std::string& schema = "schema 3: ") {
    Bytes rest = data;
    rest.insert(rest.end(), index.begin(), index.end());
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(rest.data()), rest.size());
    std::string header = fmt::format(
        "ranklab checkpoint\n{}HDF5 from byte 512 on: {} bytes, then an index: {} bytes, crc32 "
        "{:08x}\n",
        schema, data.size(), index.size(), crc);
    header.resize(kHeader, '\0');
    const auto* begin = reinterpret_cast<const std::byte*>(header.data());
    rest.insert(rest.begin(), begin, begin + header.size());
    return rest;
}

/// The parts that encode() put into the file of small_checkpoint().
struct Taken {
    Bytes data, index;
};
Taken take_apart(const Bytes& bytes) {
    const std::string header(reinterpret_cast<const char*>(bytes.data()), kHeader);
    const auto data = std::stoul(header.substr(header.find(" on: ") + 5));
    const auto begin = bytes.begin() + kHeader;
    const auto middle = begin + static_cast<std::ptrdiff_t>(data);
    return {{begin, middle}, {middle, bytes.end()}};
}

// A right checksum says nothing about who made it.
TEST(CheckpointBytes, AnyIndexIsReadOrRefused) {
    const auto [data, index] = take_apart(encode(small_checkpoint()));
    EXPECT_EQ(sealed(data, index), encode(small_checkpoint()));
    std::mt19937 random(7);
    int refused = 0;
    for (int i = 0; i < 5000; ++i) {
        Bytes changed = index;
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % changed.size();
            changed[at] =
                static_cast<std::byte>(random() % 2 == 0 ? '0' + random() % 10 : random());
            if (random() % 4 == 0) changed.resize(at + 1);
        }
        try {
            decode(sealed(data, changed));
        } catch (const base::DataError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 2500);
}

TEST(CheckpointBytes, ArraysThatCannotBeAreRefused) {
    const Bytes data(1000);
    const auto index_of = [](const std::string& shape, const std::string& begin) {
        const std::string text =
            R"({"completed_steps":1,"settings":{},"buffers":[],"optimizer":[],"ranks":[],)"
            R"("parameters":[{"name":"x","type":"fp64","shape":)" +
            shape + R"(,"begin":)" + begin + "}]}";
        const auto bytes = std::as_bytes(std::span(text));
        return Bytes(bytes.begin(), bytes.end());
    };
    EXPECT_EQ(decode(sealed(data, index_of("[125]", "0"))).parameters.size(), 1U);
    const std::vector<std::pair<const char*, const char*>> wrong{
        {"[126]", "0"}, {"[4611686018427387904,8]", "0"}, {"[-1,-1]", "0"},
        {"[2]", "985"}, {"[2]", "18446744073709551615"},  {"[2]", "null"}};
    for (const auto& [shape, begin] : wrong)
        EXPECT_THROW(decode(sealed(data, index_of(shape, begin))), base::DataError)
            << shape << begin;
}

TEST(CheckpointBytes, OfAnotherSchemaSaySo) {
    const auto [data, index] = take_apart(encode(small_checkpoint()));
    const auto said =
        tests::thrown_sentence<base::DataError>([&] { decode(sealed(data, index, "schema 2: ")); });
    EXPECT_NE(said.find("schema 2"), std::string::npos) << said;
}

TEST(CheckpointFile, KeepsOneWholeFile) {
    const TempFolder folder;
    CheckpointFile file(folder / "a/b");
    file.prepare(1000);
    EXPECT_EQ(file.read(), std::nullopt);
    for (const char fill : {'x', 'y'}) {
        Checkpoint checkpoint = small_checkpoint();
        checkpoint.settings.emplace("fill", std::string(1, fill));
        const Bytes bytes = encode(checkpoint);
        file.write(bytes);
        EXPECT_EQ(file.read(), bytes);
        EXPECT_EQ(bytes_in(file.path()), bytes) << "and nothing behind it";
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a/b"), {}), 1);
}

TEST(CheckpointFile, SetsAsideOnceWhatWasThere) {
    const TempFolder folder;
    CheckpointFile file(folder.path());
    EXPECT_FALSE(file.set_aside_first()) << "there is nothing yet";
    file.write(Bytes(10, std::byte{1}));
    EXPECT_EQ(folder.names(), std::vector<std::string>{"checkpoint.h5"});
    CheckpointFile again(folder.path());
    EXPECT_TRUE(again.set_aside_first());
    again.write(Bytes(10, std::byte{2}));
    again.write(Bytes(10, std::byte{3}));
    EXPECT_EQ(bytes_in(folder / "checkpoint.previous.h5"), Bytes(10, std::byte{1}));
    EXPECT_EQ(again.read(), Bytes(10, std::byte{3}));
}

TEST(CheckpointFile, PrepareRemovesWhatKilledWritersLeft) {
    const TempFolder folder;
    folder.write(".checkpoint.h5.0123456789abcdef.tmp", "half");
    folder.write("other.tmp", "not ours");
    CheckpointFile(folder.path()).prepare(10);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"other.tmp"});
}

}  // namespace
}  // namespace ranklab::experiments
