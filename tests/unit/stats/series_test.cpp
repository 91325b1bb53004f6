#include "stats/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "simulated.hpp"
#include "stats/distributions.hpp"

namespace ranklab::stats {
namespace {

using namespace simulated;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Read again and again, in pieces of an odd length.
class Pieces : public Source {
  public:
    explicit Pieces(std::vector<double> x) : x_(std::move(x)) {}
    void visit(void (*take)(void*, std::span<const double>), void* state) const override {
        constexpr std::size_t kPiece = 997;
        for (std::size_t i = 0; i < x_.size(); i += kPiece)
            take(state, std::span<const double>(x_).subspan(i, std::min(kPiece, x_.size() - i)));
        ++passes;
    }
    mutable int passes = 0;

  private:
    std::vector<double> x_;
};

std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}

// Negatives, zeros, ties, tiny, huge and infinite values among ordinary ones.
std::vector<double> awkward(std::size_t n) {
    Random random(n);
    std::vector<double> x(n);
    for (double& value : x) value = random.normal();
    const std::vector<double> odd{0, 0, -1.5, -1.5, 1e-310, -1e-310, 1e300, -1e300, kInfinity, -kInfinity};
    for (std::size_t i = 0; i + 20 < n; i += 20) x[i] = odd[(i / 20) % odd.size()];
    return x;
}

TEST(OrderStatistics, AreThoseOfTheSortedSamples) {
    for (const std::size_t n : {1U, 7U, 1000U, 100003U}) {
        const std::vector<double> x = awkward(n);
        std::vector<double> in_order = x;
        std::sort(in_order.begin(), in_order.end());
        std::vector<std::size_t> ranks;
        for (const std::size_t rank : {std::size_t{1}, n / 20, n / 2, n / 2 + 1, n - n / 100, n - 1, n})
            if (rank >= 1 && (ranks.empty() || rank > ranks.back())) ranks.push_back(rank);
        const auto found = order_statistics(Pieces(x), ranks);
        ASSERT_EQ(found.size(), ranks.size());
        for (std::size_t i = 0; i < ranks.size(); ++i)
            EXPECT_EQ(bits(found[i]), bits(in_order[ranks[i] - 1])) << "n = " << n << ", rank " << ranks[i];
    }
}

TEST(OrderStatistics, NotANumberSpoilsThem) {
    const auto found = order_statistics(Pieces({1, NAN, 3}), std::vector<std::size_t>{1, 2});
    EXPECT_TRUE(std::isnan(found.at(0)));
    EXPECT_TRUE(std::isnan(found.at(1)));
}

TEST(SummariseASource, IsTheSummaryOfItsSamples) {
    for (const std::size_t n : {0U, 1U, 7U, 29U, 30U, 1000U, 100003U}) {
        std::vector<double> x = awkward(n);
        for (double& value : x)
            value = std::isinf(value) || std::abs(value) > 1e299 ? 2 : value;  // for the mean
        const Pieces source(x);
        const Summary streamed = summarise(source);
        const Summary whole = summarise(x);
        EXPECT_EQ(streamed.n, whole.n);
        for (const auto field :
             {&Summary::median, &Summary::min, &Summary::max, &Summary::p95, &Summary::p99})
            EXPECT_EQ(bits(streamed.*field), bits(whole.*field)) << "n = " << n;
        EXPECT_EQ(bits(streamed.ci95.low), bits(whole.ci95.low)) << "n = " << n;
        EXPECT_EQ(bits(streamed.ci95.high), bits(whole.ci95.high)) << "n = " << n;
        EXPECT_TRUE(n == 0 || std::abs(streamed.mean - whole.mean) < 1e-12 * static_cast<double>(n)) << n;
        EXPECT_LE(source.passes, 6);
    }
}

TEST(SummariseASource, InfinitiesStayInTheOrder) {
    const std::vector<double> x = awkward(1000);
    const Summary streamed = summarise(Pieces(x));
    const Summary whole = summarise(x);
    EXPECT_EQ(streamed.max, kInfinity);
    EXPECT_EQ(streamed.min, -kInfinity);
    EXPECT_EQ(bits(streamed.median), bits(whole.median));
    EXPECT_EQ(bits(streamed.p99), bits(whole.p99));
}

TEST(SummariseASource, NotANumberIsCountedAndSpoilsTheRest) {
    const Summary summary = summarise(Pieces({1, NAN, 3}));
    EXPECT_EQ(summary.n, 3U);
    EXPECT_TRUE(std::isnan(summary.median));
    EXPECT_TRUE(std::isnan(summary.mean));
}

TEST(EstimateMedianOfASource, IsThatOfItsSamples) {
    Random random(91);
    for (const double phi : {0.0, 0.5}) {
        const std::vector<double> x = lognormal(random, 3000, 0.2, phi);
        const MedianEstimate streamed = estimate_median(Pieces(x));
        const MedianEstimate whole = estimate_median(x);
        EXPECT_EQ(bits(streamed.value), bits(whole.value));
        EXPECT_EQ(bits(streamed.ci.low), bits(whole.ci.low));
        EXPECT_STREQ(streamed.method, whole.method);
    }
}

// Too long to be held: as wide as the interval of the same samples when they are.
TEST(EstimateMedianOfASource, ALongOneAgreesWithWhatIsHeld) {
    Random random(92);
    for (const double phi : {0.0, 0.3, 0.9}) {
        const std::vector<double> x = lognormal(random, 300000, 0.2, phi);
        const MedianEstimate streamed = estimate_median(Pieces(x));
        const MedianEstimate whole = estimate_median(x);
        EXPECT_EQ(bits(streamed.value), bits(whole.value));
        EXPECT_STREQ(streamed.method, whole.method) << phi;
        EXPECT_NEAR(streamed.dependence.lag1, phi, 0.02);
        EXPECT_NEAR(streamed.dependence.effective_n / whole.dependence.effective_n, 1, 0.15) << phi;
        EXPECT_NEAR((streamed.ci.high - streamed.ci.low) / (whole.ci.high - whole.ci.low), 1, 0.1) << phi;
        EXPECT_EQ(streamed.dependence.warning.empty(), phi < 0.5);
    }
}

TEST(EstimateMedianOfASource, ASlowDriftIsSeen) {
    Random random(93);
    std::vector<double> x = normal(random, 300000, 1, 0.01);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.01 * std::sin(static_cast<double>(i) / 30000);
    const MedianEstimate estimate = estimate_median(Pieces(x));
    EXPECT_STREQ(estimate.method, "block bootstrap");
    EXPECT_LT(estimate.dependence.effective_n, 3000);
    EXPECT_NE(estimate.dependence.warning, "");
}

TEST(EstimateMedianOfASource, EqualSamplesHaveAnIntervalOfNoWidth) {
    const MedianEstimate estimate = estimate_median(Pieces(std::vector<double>(300000, 2.5)));
    EXPECT_EQ(estimate.ci.low, 2.5);
    EXPECT_EQ(estimate.ci.high, 2.5);
    EXPECT_EQ(estimate.dependence.warning, "");
}

TEST(FarOut, OfASourceAsOfItsSamples) {
    const std::vector<double> x = awkward(5003);
    const Outliers streamed = outliers(Pieces(x));
    const Outliers whole = outliers(x);
    EXPECT_EQ(streamed.below, whole.below);
    EXPECT_EQ(streamed.above, whole.above);
    EXPECT_EQ(bits(streamed.low_fence), bits(whole.low_fence));
    EXPECT_EQ(whole.count(), 100U);  // the huge and the infinite ones
    EXPECT_EQ(outliers(Pieces({})).count(), 0U);
}

// Quartiles of 1 .. 9 are 3 and 7: the far-out fences are -9 and 19.
TEST(FarOut, BeyondThreeInterquartileRanges) {
    std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9};
    Outliers found = outliers(x);
    EXPECT_DOUBLE_EQ(found.low_fence, -9);
    EXPECT_DOUBLE_EQ(found.high_fence, 19);
    EXPECT_EQ(found.count(), 0U);
    x.back() = 19;  // on the fence is not beyond it
    EXPECT_EQ(outliers(x).above, 0U);
    x.back() = 19.1;
    EXPECT_EQ(outliers(x).above, 1U);
    EXPECT_EQ(outliers(x).below, 0U);
    x.front() = -9.1;
    found = outliers(x);
    EXPECT_EQ(found.below, 1U);
    EXPECT_EQ(found.count(), 2U);
}

TEST(FarOut, NoneInNothing) {
    EXPECT_EQ(outliers({}).count(), 0U);
    EXPECT_TRUE(std::isnan(outliers({}).low_fence));
    EXPECT_TRUE(std::isnan(outliers(std::vector<double>{1, NAN}).high_fence));
    EXPECT_EQ(outliers(std::vector<double>(50, 1.0)).count(), 0U);
}

// Steps that settle: `slow` of them at half as long again.
std::vector<double> settling(Random& random, std::size_t n, std::size_t slow) {
    std::vector<double> x = lognormal(random, n, 0.05);
    for (std::size_t i = 0; i < slow; ++i) x[i] *= 1.5;
    return x;
}

TEST(WarmupEnd, IsFoundWhereItIs) {
    Random random(71);
    for (int trial = 0; trial < 50; ++trial) {
        EXPECT_EQ(warmup_end(settling(random, 100, 10)), 10U);
        EXPECT_EQ(warmup_end(settling(random, 1000, 35)), 35U);
        const std::size_t between = warmup_end(settling(random, 300, 12));
        EXPECT_GE(between, 10U);
        EXPECT_LE(between, 15U);
    }
}

TEST(WarmupEnd, OfAGradualBeginning) {
    Random random(72);
    std::vector<double> x = lognormal(random, 400, 0.02);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += 2 * std::exp(-static_cast<double>(i) / 8);
    const std::size_t end = warmup_end(x);
    EXPECT_GE(end, 20U);  // 2 exp(-20/8) is 16 %
    EXPECT_LE(end, 60U);
}

TEST(WarmupEnd, IsSeldomSeenWhereThereIsNone) {
    for (const std::size_t n : {20U, 50U, 200U, 1000U})
        EXPECT_LE(per_cent(73, [&](Random& random) { return warmup_end(settling(random, n, 0)) > 0; }),
                  5 + kAllowance)
            << "n = " << n;
}

TEST(WarmupEnd, OneSlowStepIsNone) {
    Random random(74);
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<double> x = settling(random, 200, 10);
        x[random.index(x.size())] *= 20;
        const std::size_t end = warmup_end(x);
        EXPECT_GE(end, 10U);
        EXPECT_LE(end, 15U);
    }
}

TEST(WarmupEnd, ShortSeriesHaveNone) {
    std::vector<double> x(19, 1.0);
    x.front() = 100;
    EXPECT_EQ(warmup_end(x), 0U);
    EXPECT_EQ(warmup_end({}), 0U);
    EXPECT_EQ(warmup_end(std::vector<double>(100, 1.0)), 0U);
    EXPECT_EQ(warmup_end(std::vector<double>(100, NAN)), 0U);
}

// Tables of R: qnorm, qt, qchisq, pbinom.
TEST(Distributions, AgreeWithTables) {
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
    EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-10);
    EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
    EXPECT_NEAR(normal_cdf(1.6448536269514722), 0.95, 1e-12);
    EXPECT_NEAR(student_quantile(0.975, 4), 2.776445, 1e-6);
    EXPECT_NEAR(student_quantile(0.975, 10), 2.228139, 1e-6);
    EXPECT_NEAR(student_quantile(0.975, 60), 2.000298, 1e-6);
    EXPECT_NEAR(chi_square_quantile(0.2, 4), 1.648777, 1e-6);
    EXPECT_NEAR(chi_square_quantile(0.2, 8), 4.593574, 1e-6);
    EXPECT_NEAR(chi_square_quantile(0.2, 58), 48.7965276, 1e-6);
    EXPECT_EQ(binomial_rank(20, 0.5, 0.025).k, 6U);
    EXPECT_NEAR(binomial_rank(20, 0.5, 0.025).below, 0.0206947, 1e-7);
    EXPECT_EQ(binomial_rank(100, 0.9, 0.025).k, 84U);
}

// What the simulations stand on.
TEST(RandomNumbers, HaveTheirMomentsAndAreReproducible) {
    Random random(81);
    double sum = 0, squares = 0, gammas = 0, betas = 0;
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
        const double z = random.normal();
        sum += z;
        squares += z * z;
        gammas += random.gamma(3.5);
        betas += random.beta(2, 6);
    }
    EXPECT_NEAR(sum / kDraws, 0, 0.03);
    EXPECT_NEAR(squares / kDraws, 1, 0.04);
    EXPECT_NEAR(gammas / kDraws, 3.5, 0.06);
    EXPECT_NEAR(betas / kDraws, 0.25, 0.006);
    Random one(1), other(1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(one.normal(), other.normal());
}

}  // namespace
}  // namespace ranklab::stats
