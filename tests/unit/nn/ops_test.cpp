// Our own operations promise LibTorch's very bits: LibTorch is the judge here.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "nn/ops/ops.hpp"

namespace ranklab::nn {
namespace {

bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
    if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return false;
    const auto left = a.detach().contiguous();
    const auto right = b.detach().contiguous();
    return std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

struct Outcome {
    torch::Tensor output;
    torch::Tensor gradient;
};

/// The operation's output on x, and the gradient of x under a fixed gradient of the output.
Outcome run(const std::function<torch::Tensor(const torch::Tensor&)>& operation,
            const torch::Tensor& x) {
    const auto input = x.detach().clone(torch::MemoryFormat::Preserve).requires_grad_();
    const auto output = operation(input);
    output.backward(torch::linspace(-3, 5, output.numel(), output.options().requires_grad(false))
                        .view(output.sizes()));
    return {output.detach(), input.grad()};
}

torch::Tensor plain_relu_max_pool(const torch::Tensor& x) {
    return torch::max_pool2d(torch::relu(x), 2);
}

void expect_the_same_pooling(const torch::Tensor& x, const std::string& what) {
    const auto ours = run([](const torch::Tensor& t) { return relu_max_pool_2x2(t); }, x);
    const auto torchs = run(plain_relu_max_pool, x);
    EXPECT_TRUE(same_bits(ours.output, torchs.output)) << what;
    EXPECT_TRUE(same_bits(ours.gradient, torchs.gradient)) << what;
}

class Threads : public ::testing::TestWithParam<int> {
  protected:
    void SetUp() override { at::set_num_threads(GetParam()); }
    void TearDown() override { at::set_num_threads(1); }
};
INSTANTIATE_TEST_SUITE_P(Nn, Threads, ::testing::Values(1, 2), ::testing::PrintToStringParamName());

TEST_P(Threads, ReluMaxPoolEqualsTheTwoOperations) {
    torch::manual_seed(3);
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        // The network's own shape, then widths that leave a rest in any vector.
        for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 64, 24, 24},
                                                       {1, 1, 2, 2},
                                                       {3, 2, 4, 6},
                                                       {1, 3, 2, 34},
                                                       {5, 7, 10, 14}}) {
            expect_the_same_pooling(torch::randn(shape, dtype),
                                    "shape " + std::to_string(shape[3]));
        }
        // Few values, so that maxima are often equal: the first in a window takes the gradient.
        expect_the_same_pooling(torch::randint(-2, 3, {4, 8, 12, 12}).to(dtype), "ties");
        expect_the_same_pooling(torch::zeros({1, 2, 4, 4}, dtype), "zeros");
        expect_the_same_pooling(-torch::rand({1, 2, 4, 4}, dtype), "all below zero");
    }
}

// Every window of four out of {NaN, -inf, -1, 0, 1, inf}.
TEST(ReluMaxPool, TakesSpecialValuesAsLibTorch) {
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> special{std::nan(""), -inf, -1, 0, 1, inf};
    std::vector<double> windows;
    for (std::size_t code = 0; code < 6 * 6 * 6 * 6; ++code) {
        for (std::size_t place = 0, rest = code; place < 4; ++place, rest /= 6)
            windows.push_back(special[rest % 6]);
    }
    const auto values = torch::tensor(windows, torch::kDouble).view({1, 6 * 6 * 6 * 6, 2, 2});
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        const auto x = values.to(dtype);
        const auto ours = run([](const torch::Tensor& t) { return relu_max_pool_2x2(t); }, x);
        const auto torchs = run(plain_relu_max_pool, x);
        EXPECT_TRUE(torch::allclose(ours.output, torchs.output, 0, 0, /*equal_nan=*/true));
        EXPECT_TRUE(torch::equal(ours.gradient, torchs.gradient));
    }
}

TEST(ReluMaxPool, LeavesOtherTensorsToLibTorch) {
    torch::manual_seed(3);
    expect_the_same_pooling(torch::randn({2, 3, 5, 7}), "odd height and width");
    expect_the_same_pooling(torch::randn({2, 3, 6, 8}).transpose(2, 3), "strided");
    expect_the_same_pooling(
        torch::randn({2, 3, 6, 8}).contiguous(torch::MemoryFormat::ChannelsLast), "channels last");
    expect_the_same_pooling(torch::randn({3, 6, 8}), "without a batch");
    expect_the_same_pooling(torch::randn({2, 2, 4, 4}).to(torch::kBFloat16), "bfloat16");
}

void expect_the_same_dropout(const torch::Tensor& x, double p, const std::string& what) {
    auto generator = at::detail::getDefaultCPUGenerator();
    const auto start = generator.get_state();
    const auto ours = run([p](const torch::Tensor& t) { return fast_dropout(t, p, true); }, x);
    const auto ours_next = torch::rand({5});
    generator.set_state(start);
    const auto torchs = run([p](const torch::Tensor& t) { return torch::dropout(t, p, true); }, x);
    const auto torchs_next = torch::rand({5});
    // A dropped element is 0; whether -0 is not promised.
    EXPECT_TRUE(torch::equal(ours.output, torchs.output)) << what;
    EXPECT_TRUE(torch::equal(ours.gradient, torchs.gradient)) << what;
    EXPECT_TRUE(torch::equal(ours_next, torchs_next))
        << what << ": the generator is left in another state";
}

TEST_P(Threads, DropoutDrawsLibTorchsNumbers) {
    torch::manual_seed(11);
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        for (const double p : {0.25, 0.5, 0.1, 1e-3, 0.999}) {
            // The state holds 624 words, two of which make a number: sizes about its half, and odd
            // ones.
            for (const std::int64_t count :
                 {1, 2, 7, 311, 312, 313, 623, 624, 625, 10001, 64 * 128}) {
                expect_the_same_dropout(
                    torch::randn({count}, dtype), p,
                    std::to_string(count) + " elements, p " + std::to_string(p));
            }
        }
    }
}

// In a scope the numbers are those that the default generator would give from the same seed, and it
// is left alone.
void expect_the_scopes_numbers(const torch::Tensor& x, double p, const std::string& what) {
    const auto dropped = [p](const torch::Tensor& t) { return fast_dropout(t, p, true); };
    torch::manual_seed(77);
    const auto expected = run(dropped, x);
    const auto second = run(dropped, x);
    torch::manual_seed(5);
    const auto untouched = at::detail::getDefaultCPUGenerator().get_state();
    {
        const GeneratorScope scope(at::detail::createCPUGenerator(77));
        EXPECT_TRUE(same_bits(run(dropped, x).output, expected.output)) << what;
        {
            const GeneratorScope inner(at::detail::createCPUGenerator(77));
            const auto ours = run(dropped, x);
            EXPECT_TRUE(same_bits(ours.output, expected.output)) << what << ", inner scope";
            EXPECT_TRUE(same_bits(ours.gradient, expected.gradient)) << what;
        }
        EXPECT_TRUE(same_bits(run(dropped, x).output, second.output))
            << what << ", outer scope again";
    }
    EXPECT_TRUE(torch::equal(at::detail::getDefaultCPUGenerator().get_state(), untouched)) << what;
    EXPECT_FALSE(scoped_generator().defined());
}

TEST(GeneratorScope, IsWhereDropoutDraws) {
    const auto x = torch::randn({6, 50});
    expect_the_scopes_numbers(x, 0.5, "fast");
    expect_the_scopes_numbers(x.to(torch::kDouble), 0.25, "fast, double");
    expect_the_scopes_numbers(x.t(), 0.25, "strided");
    expect_the_scopes_numbers(x.to(torch::kBFloat16), 0.25, "bfloat16");
    expect_the_scopes_numbers(x, 1.0, "all dropped");
    EXPECT_THROW(
        {
            const GeneratorScope scope(at::detail::createCPUGenerator(1));
            fast_dropout(x.t(), 1.5, true);
        },
        c10::Error);
}

TEST(GeneratorScope, IsOneThreads) {
    const GeneratorScope scope(at::detail::createCPUGenerator(1));
    bool defined = true;
    std::thread([&] { defined = scoped_generator().defined(); }).join();
    EXPECT_FALSE(defined);
    EXPECT_TRUE(scoped_generator().defined());
}

// The state may stand anywhere in its words, also at an odd one, when dropout begins.
TEST(Dropout, ContinuesTheStreamFromAnyPlace) {
    torch::manual_seed(12);
    for (int i = 0; i < 700; ++i) {
        expect_the_same_dropout(torch::ones({i % 5 + 1}), 0.5, "draw " + std::to_string(i));
        torch::randint(0, 100, {1});  // takes one word
    }
}

TEST(Dropout, OutsideItsPathIsLibTorchs) {
    torch::manual_seed(13);
    expect_the_same_dropout(torch::randn({6, 8}).t(), 0.5, "strided");
    expect_the_same_dropout(torch::randn({4, 4}).to(torch::kBFloat16), 0.5, "bfloat16");
    expect_the_same_dropout(torch::randn({10}), 1.0, "all dropped");
    expect_the_same_dropout(torch::empty({0}), 0.5, "empty");
    const auto x = torch::randn({10});
    const auto state = at::detail::getDefaultCPUGenerator().get_state();
    EXPECT_TRUE(same_bits(fast_dropout(x, 0.5, false), x)) << "in evaluation it does nothing";
    EXPECT_TRUE(same_bits(fast_dropout(x, 0.0, true), x));
    EXPECT_TRUE(torch::equal(at::detail::getDefaultCPUGenerator().get_state(), state))
        << "and draws nothing";
}

TEST(Dropout, KeepsTheMean) {
    torch::manual_seed(14);
    const auto out = fast_dropout(torch::ones({1000000}), 0.25, true);
    EXPECT_NEAR(out.mean().item<double>(), 1.0, 0.005);
    EXPECT_NEAR(out.eq(0).to(torch::kDouble).mean().item<double>(), 0.25, 0.005);
}

// --ops: the same mask, output and gradient, and the same stream of random numbers afterwards.
TEST(Ops, BothComputeTheSameBits) {
    torch::manual_seed(8);
    const auto x = torch::randn({3, 4, 6, 10});
    const auto computed = [&x](Ops ops) {
        torch::manual_seed(21);
        return run(
            [ops](const torch::Tensor& t) {
                return fast_dropout(relu_max_pool_2x2(t, ops), 0.25, true, ops);
            },
            x);
    };
    const auto ours = computed(Ops::ranklab);
    const auto next = torch::rand({5});
    const auto torchs = computed(Ops::libtorch);
    EXPECT_TRUE(same_bits(ours.output, torchs.output));
    EXPECT_TRUE(same_bits(ours.gradient, torchs.gradient));
    EXPECT_TRUE(same_bits(torch::rand({5}), next));
}

// Which of the two computed tells the graph of autograd.
TEST(Ops, LibTorchsAreLibTorchs) {
    const auto x = torch::randn({1, 1, 4, 4}).requires_grad_();
    const auto node = [](const torch::Tensor& t) { return t.grad_fn()->name(); };
    EXPECT_THAT(node(relu_max_pool_2x2(x, Ops::libtorch)), ::testing::HasSubstr("MaxPool2D"));
    EXPECT_THAT(node(relu_max_pool_2x2(x, Ops::ranklab)), ::testing::HasSubstr("ReluMaxPool"));
    EXPECT_THAT(node(fast_dropout(x, 0.5, true, Ops::ranklab)),
                ::testing::HasSubstr("FastDropout"));
    EXPECT_THAT(node(fast_dropout(x, 0.5, true, Ops::libtorch)),
                ::testing::Not(::testing::HasSubstr("FastDropout")));
}

}  // namespace
}  // namespace ranklab::nn
