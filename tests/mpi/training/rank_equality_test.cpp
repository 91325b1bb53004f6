// All ranks come to one verdict on whether they are equal.
#include "train/equal_state.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "comm/exchange.hpp"
#include "mpi_world.hpp"

namespace ranklab::train {
namespace {

using ranklab::testing::world;

class Softmax final : public nn::Model {
  public:
    Softmax() {
        torch::manual_seed(1);
        linear_ = register_module("linear", torch::nn::Linear(4, 3));
    }
    torch::Tensor forward(const torch::Tensor& images) override { return linear_->forward(images); }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor& targets) const override {
        return torch::nll_loss(output, targets);
    }

  private:
    torch::nn::Linear linear_{nullptr};
};

/// The sentence, which all ranks have.
std::string compared(const Softmax& model) {
    const auto sentence = difference_of_ranks(model, true, world());
    EXPECT_TRUE(comm::is_same_everywhere(world(), sentence));
    return sentence;
}

class RanksCompared : public ::testing::Test {
  protected:
    void SetUp() override {
        if (world().world_size() < 2) GTEST_SKIP() << "one rank is compared with none";
    }
};

TEST_F(RanksCompared, EqualRanksPass) {
    EXPECT_EQ(compared(Softmax()), "");
}

TEST_F(RanksCompared, ADifferenceIsNamedByAllAlike) {
    Softmax model;
    {
        const torch::NoGradGuard no_gradients;
        if (world().rank() == world().world_size() - 1) model.parameters().back().add_(1);
    }
    EXPECT_EQ(compared(model), "first in 'linear.bias', on rank " +
                                   std::to_string(world().world_size() - 1) +
                                   " compared with rank 0");
}

}  // namespace
}  // namespace ranklab::train
