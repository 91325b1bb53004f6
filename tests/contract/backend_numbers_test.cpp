// Sums with rounding, infinity and NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend_fixture.hpp"

namespace ranklab::comm {
namespace {

// Two ranks have values, all others 0, so that the order of a sum does not matter. One rank alone
// keeps its values.
template <class T>
std::vector<T> spread(std::size_t rank, std::size_t ranks, const std::vector<float>& first,
                      const std::vector<float>& last) {
    std::vector<T> mine(first.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
        if (rank == 0) mine[i] = static_cast<T>(first[i]);
        if (rank != 0 && rank + 1 == ranks) mine[i] = static_cast<T>(last[i]);
    }
    return mine;
}

template <class T>
std::vector<float> as_floats(const std::vector<T>& values) {
    return {values.begin(), values.end()};
}

class Numbers : public Backend {
  protected:
    template <class T>
    std::vector<float> sum(const std::vector<float>& first, const std::vector<float>& last) {
        const auto buffer = place(spread<T>(rank(), ranks(), first, last));
        comm_->allreduce(buffer.view(), ReduceOp::sum);
        return as_floats(buffer.values());
    }
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Numbers, ::testing::ValuesIn(backends()),
                         ranklab::testing::test_name<BackendEntry>);

TEST_P(Numbers, SumsOfF16AreRoundedToNearestEven) {
    // 11 bits: above 2048 only even numbers. 2^-24 is the smallest number, 65504 the largest.
    const std::vector<float> first{2048, 2050, 4096, 1, 0x1p-24F, 65504};
    const std::vector<float> last{1, 1, 3, 0x1p-11F, 0x1p-24F, 16};
    const std::vector<float> rounded{2048, 2052,     4100,
                                     1,    0x1p-23F, std::numeric_limits<float>::infinity()};
    EXPECT_EQ(sum<Float16>(first, last), ranks() > 1 ? rounded : first);
}

TEST_P(Numbers, SumsOfBf16AreRoundedToNearestEven) {
    // 8 bits: above 256 only even numbers.
    const std::vector<float> first{256, 258, 512, 1, 1.5F * 0x1p-126F};
    const std::vector<float> last{1, 1, 3, 0x1p-8F, 0x1p-126F};
    const std::vector<float> rounded{256, 260, 516, 1, 2.5F * 0x1p-126F};
    EXPECT_EQ(sum<BFloat16>(first, last), ranks() > 1 ? rounded : first);
}

TEST_P(Numbers, InfinityAndNanComeThroughASum) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const auto check = [&](auto type) {
        using T = decltype(type);
        const auto total = sum<T>({kInf, -kInf, kNan, 1, kInf}, {1, 2, 3, kNan, -kInf});
        EXPECT_EQ(total[0], kInf);
        EXPECT_EQ(total[1], -kInf);
        EXPECT_TRUE(std::isnan(total[2]));
        if (ranks() == 1) return;
        EXPECT_TRUE(std::isnan(total[3]));
        EXPECT_TRUE(std::isnan(total[4])) << "there is no sum of infinities of both signs";
    };
    check(float{});
    check(double{});
    check(Float16{});
    check(BFloat16{});
}

}  // namespace
}  // namespace ranklab::comm
