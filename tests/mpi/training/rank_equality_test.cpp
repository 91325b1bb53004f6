// All ranks come to one verdict on whether they are equal.
#include "experiments/training/checks.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "comm/exchange.hpp"
#include "mpi_world.hpp"

namespace ranklab::experiments {
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

/// Rank 0's sentence, which is everyone's.
std::string compared(const Softmax& model) {
    RankEquality equality(model, world());
    equality.compare("after step 3");
    const auto verdict = equality.verdict("");
    const auto all = comm::gather_texts(world(), verdict.result + ": " + verdict.detail);
    for (const auto& one : all) EXPECT_EQ(one, all.front());
    return all.front();
}

class RanksCompared : public ::testing::Test {
  protected:
    void SetUp() override {
        if (world().world_size() < 2) GTEST_SKIP() << "one rank is compared with none";
    }
};

TEST_F(RanksCompared, EqualRanksPass) {
    EXPECT_EQ(compared(Softmax()), "passed: bit by bit, once");
}

TEST_F(RanksCompared, ADifferenceIsNamedByAllAlike) {
    Softmax model;
    {
        const torch::NoGradGuard no_gradients;
        if (world().rank() == world().world_size() - 1) model.parameters().back().add_(1);
    }
    const auto sentence = compared(model);
    const auto wanted =
        "failed: they differ after step 3: 'linear.bias', the first that does, on rank " +
        std::to_string(world().world_size() - 1);
    EXPECT_NE(sentence.find(wanted), std::string::npos) << sentence;
}

}  // namespace
}  // namespace ranklab::experiments
