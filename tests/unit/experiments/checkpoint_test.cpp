// A checkpoint's file and what goes into it. Whole runs are in tests/apps/checkpoint_test.py.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "experiments/checkpoint_file.hpp"
#include "experiments/checkpoint_settings.hpp"
#include "experiments/checkpoint_state.hpp"
#include "temp_folder.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using hdf5::Element;
using tests::TempFolder;
using tests::thrown_sentence;
using Bytes = std::vector<std::byte>;

NamedArray array_of(const std::string& name, Element element, std::vector<std::int64_t> shape) {
    std::size_t bytes = hdf5::size_of(element);
    for (const auto extent : shape) bytes *= static_cast<std::size_t>(extent);
    NamedArray array{name, {element, std::move(shape), Bytes(bytes)}};
    for (std::size_t i = 0; i < bytes; ++i) array.values.bytes[i] = static_cast<std::byte>(i * 37 + 11);
    return array;
}

Checkpoint small_checkpoint() {
    Checkpoint checkpoint;
    checkpoint.completed_steps = 12;
    checkpoint.settings = {{"--model", "m"}, {"--lr", ""}, {"ranks", "2"}};
    checkpoint.parameters = {array_of("b.weight", Element::f32, {2, 3}),
                             array_of("a.bias", Element::f64, {4})};
    checkpoint.buffers = {array_of("batches", Element::i64, {}), array_of("none", Element::i32, {0})};
    checkpoint.optimizer = {{"momentum", {array_of("b.weight", Element::f32, {2, 3})}}, {"other", {}}};
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

// HDF5 1.10 does not survive all of this: it must not come to see it.
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

TEST(CheckpointFile, KeepsOneWholeFile) {
    const TempFolder folder;
    CheckpointFile file(folder / "a/b");
    file.prepare(1000);
    EXPECT_EQ(file.read(), std::nullopt);
    for (const char fill : {'x', 'y'}) {
        const Bytes bytes(3000, static_cast<std::byte>(fill));
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

TEST(CheckpointSettings, EveryDifferenceIsNamedWithBothValues) {
    const CheckpointSettings now{{"--model", "a"}, {"--lr", "1"}, {"--new", "5"}};
    EXPECT_NO_THROW(check_same_settings(now, now));
    EXPECT_NO_THROW(check_same_settings(now, {now.rbegin(), now.rend()})) << "in any order";
    const CheckpointSettings stored{{"--model", "b"}, {"--lr", "1"}, {"--old", "\x1b[31m"}};
    const auto said = thrown_sentence<base::OptionError>([&] { check_same_settings(now, stored); });
    for (const char* part : {"--model b (now a)", "--new unset (now 5)", "--old ?[31m (now unset)"})
        EXPECT_NE(said.find(part), std::string::npos) << part << " is not in: " << said;
    EXPECT_EQ(said.find("--lr"), std::string::npos) << said;
}

TEST(CheckpointState, TheGeneratorGoesOnWhereItWas) {
    const RankState generator = torch_cpu_generator();
    torch::manual_seed(5);
    torch::randn({7});  // an odd number: the state holds one half of a pair, too
    const std::string saved = generator.save();
    const auto next = torch::randn({5});
    torch::manual_seed(6);
    generator.load(saved);
    EXPECT_TRUE(torch::equal(torch::randn({5}), next));
    for (const std::string& wrong : {std::string(), std::string("short"), std::string(saved.size(), '\xff')})
        EXPECT_THROW(generator.load(wrong), base::DataError);
}

TEST(CheckpointState, EachRankGetsItsOwnAndAllOfIt) {
    Checkpoint checkpoint;
    put_rank_state(checkpoint, "x", {"zero", "one"});
    put_rank_state(checkpoint, "y", {"", std::string("\0b", 2)});
    std::string x;
    std::string y;
    const auto state = [](const char* name, std::string& into) {
        return RankState{name, [] { return std::string(); },
                         [&into](const std::string& text) { into = text; }};
    };
    checkpoint = decode([&] {
        checkpoint.completed_steps = 1;
        return encode(checkpoint);
    }());
    take_rank(checkpoint, 1, {state("y", y), state("x", x)});
    EXPECT_EQ(x, "one");
    EXPECT_EQ(y, std::string("\0b", 2));
    EXPECT_THROW(take_rank(checkpoint, 2, {state("x", x), state("y", y)}), base::DataError);
    EXPECT_THROW(take_rank(checkpoint, 0, {state("x", x)}), base::DataError) << "one would be forgotten";
    EXPECT_THROW(take_rank(checkpoint, 0, {state("x", x), state("z", y)}), base::DataError);
}

/// A model with a buffer, which none in the catalogue has yet.
class Buffered final : public nn::Model {
  public:
    explicit Buffered(std::int64_t size = 3) {
        weight = register_parameter("weight", torch::randn({size, 2}));
        mean = register_buffer("mean", torch::randn({size}));
        count = register_buffer("count", torch::tensor(std::int64_t{4}));
    }
    torch::Tensor forward(const torch::Tensor& images) override { return images; }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override { return output; }
    torch::Tensor weight, mean, count;
};

TEST(CheckpointState, BuffersComeBackInPlace) {
    const auto optimizer_of = [](const Buffered& model) {
        return train::optimizers().front().make(model.parameters(), {.lr = 1});
    };
    Buffered before;
    before.count.fill_(9);
    Checkpoint checkpoint = small_checkpoint();
    checkpoint.optimizer.clear();
    put_training(checkpoint, before, *optimizer_of(before));
    Buffered after;
    const auto* place = after.mean.const_data_ptr();
    take_training(decode(encode(checkpoint)), after, *optimizer_of(after));
    EXPECT_TRUE(torch::equal(after.weight, before.weight));
    EXPECT_TRUE(torch::equal(after.mean, before.mean));
    EXPECT_TRUE(torch::equal(after.count, before.count));
    EXPECT_EQ(after.mean.const_data_ptr(), place);
    Buffered other(4);
    const auto said =
        thrown_sentence<base::DataError>([&] { take_training(checkpoint, other, *optimizer_of(other)); });
    EXPECT_NE(said.find("[3, 2]"), std::string::npos) << said;
    EXPECT_NE(said.find("[4, 2]"), std::string::npos) << said;
}

}  // namespace
}  // namespace ranklab::experiments
