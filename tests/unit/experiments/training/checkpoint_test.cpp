// The contents of a checkpoint. Its file is in checkpoint_file_test.cpp; whole runs are in
// tests/apps/checkpoint_test.py.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.hpp"
#include "experiments/training/checkpoint_file.hpp"
#include "experiments/training/checkpoint_state.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using tests::thrown_sentence;

TEST(CheckpointSettings, EveryDifferenceIsNamedWithBothValues) {
    const CheckpointSettings now{
        {"--model", "a"}, {"--lr", "1"}, {"--new", "5"}, {"--jit", "true"}};
    EXPECT_NO_THROW(check_same_settings(now, now));
    const CheckpointSettings stored{
        {"--model", "b"}, {"--lr", "1"}, {"--old", "\x1b[31m"}, {"--jit", "false"}};
    const auto said = thrown_sentence<base::OptionError>([&] { check_same_settings(now, stored); });
    for (const char* part : {"--model b (now a)", "--new none (now 5)", "--old ?[31m (now none)",
                             "--jit false (now true)"})
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
    for (const std::string& wrong :
         {std::string(), std::string("short"), std::string(saved.size(), '\xff')})
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
    EXPECT_THROW(take_rank(checkpoint, 0, {state("x", x)}), base::DataError)
        << "one would be forgotten";
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
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output;
    }
    torch::Tensor weight, mean, count;
};

TEST(CheckpointState, BuffersComeBackInPlace) {
    const auto optimizer_of = [](const Buffered& model) {
        return train::optimizers().front().make(model.parameters(), {.lr = 1});
    };
    Buffered before;
    before.count.fill_(9);
    Checkpoint checkpoint;
    checkpoint.completed_steps = 12;
    put_training(checkpoint, before, *optimizer_of(before));
    Buffered after;
    const auto* place = after.mean.const_data_ptr();
    take_training(decode(encode(checkpoint)), after, *optimizer_of(after));
    EXPECT_TRUE(torch::equal(after.weight, before.weight));
    EXPECT_TRUE(torch::equal(after.mean, before.mean));
    EXPECT_TRUE(torch::equal(after.count, before.count));
    EXPECT_EQ(after.mean.const_data_ptr(), place);
    Buffered other(4);
    const auto said = thrown_sentence<base::DataError>(
        [&] { take_training(checkpoint, other, *optimizer_of(other)); });
    EXPECT_NE(said.find("[3, 2]"), std::string::npos) << said;
    EXPECT_NE(said.find("[4, 2]"), std::string::npos) << said;
}

}  // namespace
}  // namespace ranklab::experiments
