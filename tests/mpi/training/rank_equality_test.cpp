// All ranks come to one verdict on whether they are equal, also where the MPI library hands different values
// to them: that is what is looked for.
#include "experiments/training/rank_equality.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

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

/// The world, but that on rank 1 the results of sums and of gatherings may be others.
class Liar final : public comm::Communicator {
  public:
    bool spoils_sums = false;        ///< as if the ranks differed
    bool hides_differences = false;  ///< as if they were equal

    int rank() const override { return world().rank(); }
    int world_size() const override { return world().world_size(); }
    int local_rank() const override { return world().local_rank(); }
    int local_size() const override { return world().local_size(); }
    std::string backend() const override { return world().backend(); }
    void barrier() override { world().barrier(); }
    void broadcast(comm::BufferView buffer, int root) override { world().broadcast(buffer, root); }
    void allreduce(comm::BufferView buffer, comm::ReduceOp op) override {
        world().allreduce(buffer, op);
        auto* const values = static_cast<std::int64_t*>(buffer.data);
        if (!lies() || buffer.dtype != comm::DType::i64 || buffer.count != 2) return;
        if (spoils_sums) values[0] -= 1;
        if (hides_differences) values[1] = ~values[0];
    }
    comm::Request start_allreduce(comm::BufferView buffer, comm::ReduceOp op) override {
        return world().start_allreduce(buffer, op);
    }
    void allgather(comm::BufferView send, comm::BufferView receive) override {
        world().allgather(send, receive);
        auto* const values = static_cast<std::int64_t*>(receive.data);
        if (!lies() || !hides_differences || receive.dtype != comm::DType::i64) return;
        for (std::size_t i = send.count; i < receive.count; ++i) values[i] = values[i % send.count];
    }
    void reduce_scatter(comm::BufferView send, comm::BufferView receive, comm::ReduceOp op) override {
        world().reduce_scatter(send, receive, op);
    }
    std::unique_ptr<comm::Communicator> split(int color, int key) override {
        return world().split(color, key);
    }
    void synchronize() override { world().synchronize(); }

  private:
    static bool lies() { return world().rank() == 1; }
};

/// Rank 0's sentence, which is everyone's.
std::string compared(const Softmax& model, Liar& liar) {
    RankEquality equality(model, liar, world());
    equality.compare("after step 3");
    const auto verdict = equality.verdict("");
    const auto all = comm::gather_texts(world(), verdict.result + ": " + verdict.detail);
    for (const auto& one : all) EXPECT_EQ(one, all.front());
    world().barrier();  // a rank that went another way would not come here
    return all.front();
}

class RanksCompared : public ::testing::Test {
  protected:
    void SetUp() override {
        if (world().world_size() < 2) GTEST_SKIP() << "one rank is compared with none";
    }
};

TEST_F(RanksCompared, EqualRanksPass) {
    Liar honest;
    EXPECT_EQ(compared(Softmax(), honest), "passed: bit by bit, once");
}

TEST_F(RanksCompared, OneRankAloneSeesADifference) {
    Liar liar;
    liar.spoils_sums = true;
    const auto sentence = compared(Softmax(), liar);
    EXPECT_NE(
        sentence.find(
            "failed: one comparison found them to differ after step 3, and a second one found them equal"),
        std::string::npos)
        << sentence;
}

void spoil_last_rank(Softmax& model) {
    const torch::NoGradGuard no_gradients;
    if (world().rank() == world().world_size() - 1) model.parameters().back().add_(1);
}

TEST_F(RanksCompared, ADifferenceIsNamedByAllAlike) {
    Liar honest;
    Softmax model;
    spoil_last_rank(model);
    const auto sentence = compared(model, honest);
    const auto last =
        "'linear.bias', the first that does, on rank " + std::to_string(world().world_size() - 1);
    EXPECT_NE(sentence.find(last), std::string::npos) << sentence;
}

TEST_F(RanksCompared, OneRankAloneDoesNotSeeIt) {
    Liar liar;
    liar.hides_differences = true;
    Softmax model;
    spoil_last_rank(model);
    const auto sentence = compared(model, liar);
    EXPECT_NE(sentence.find("failed: they differ after step 3: 'linear.bias'"), std::string::npos)
        << sentence;
}

}  // namespace
}  // namespace ranklab::experiments
