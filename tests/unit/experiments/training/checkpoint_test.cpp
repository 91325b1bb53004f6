// The contents of a checkpoint. Its file is in checkpoint_file_test.cpp; whole runs are in
// tests/apps/checkpoint_test.py.
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.hpp"
#include "experiments/training/checkpoint.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using tests::thrown_sentence;

TEST(CheckpointSettings, EveryDifferenceIsNamedWithBothValues) {
    const CheckpointSettings now{
        {"--model", "a"}, {"--lr", "1"}, {"--new", "5"}, {"--jit", "true"}};
    const auto check = [&](const CheckpointSettings& stored) {
        const auto file = hdf5::File::create_in_memory();
        write_settings(file.root(), stored);
        check_same_settings(now, file.root());
    };
    EXPECT_NO_THROW(check(now));
    const auto said = thrown_sentence<base::OptionError>([&] {
        check({{"--model", "b"}, {"--lr", "1"}, {"--old", "\x1b[31m"}, {"--jit", "false"}});
    });
    for (const char* part : {"--model b (now a)", "--new none (now 5)", "--old ?[31m (now none)",
                             "--jit false (now true)"})
        EXPECT_NE(said.find(part), std::string::npos) << part << " is not in: " << said;
    EXPECT_EQ(said.find("--lr"), std::string::npos) << said;
}

TEST(CheckpointState, TheGeneratorGoesOnWhereItWas) {
    const RankState generator =
        generator_state("torch_cpu_generator", at::detail::getDefaultCPUGenerator());
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

TEST(CheckpointState, EachRankHasAllOfIt) {
    const RankBytes by_rank{{"zero", std::string("\0a", 2)}, {"one", std::string("\0b", 2)}};
    const RankState x{"x", {}, {}}, y{"y", {}, {}}, z{"z", {}, {}};
    const auto file = hdf5::File::create_in_memory();
    write_ranks(file.root(), {x, y}, by_rank);
    EXPECT_EQ(read_ranks(file.root(), {x, y}, 2), by_rank);
    EXPECT_THROW(read_ranks(file.root(), {x, y}, 3), base::Error);
    EXPECT_THROW(read_ranks(file.root(), {x}, 2), base::DataError) << "one would be forgotten";
    EXPECT_THROW(read_ranks(file.root(), {x, z}, 2), base::Error);
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
    const auto file = hdf5::File::create_in_memory();
    write_training(file.root(), before, *optimizer_of(before));
    Buffered after;
    const auto* place = after.mean.const_data_ptr();
    read_training(file.root(), after, *optimizer_of(after));
    EXPECT_TRUE(torch::equal(after.weight, before.weight));
    EXPECT_TRUE(torch::equal(after.mean, before.mean));
    EXPECT_TRUE(torch::equal(after.count, before.count));
    EXPECT_EQ(after.mean.const_data_ptr(), place);
    Buffered other(4);
    const auto said = thrown_sentence<base::DataError>(
        [&] { read_training(file.root(), other, *optimizer_of(other)); });
    EXPECT_NE(said.find("[3, 2]"), std::string::npos) << said;
    EXPECT_NE(said.find("[4, 2]"), std::string::npos) << said;
}

}  // namespace
}  // namespace ranklab::experiments
