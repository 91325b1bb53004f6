// The bucket rule on published figures: the 3D U-Net's parameters (workload: 116,977,029
// parameters, 446.23 MiB).
#include "train/bucket_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::train {
namespace {

using ::testing::ElementsAre;

/// Weight and bias of each layer, in the order of registration: 4x4x4 kernels.
std::vector<GradientSize> unet3d() {
    const std::vector<std::pair<std::int64_t, std::int64_t>> layers{
        {4, 64},    {64, 128},   {128, 256},  {256, 512}, {512, 512}, {512, 512},
        {512, 512}, {1024, 512}, {1024, 256}, {512, 128}, {256, 64},  {128, 5}};
    std::vector<GradientSize> sizes;
    for (const auto& [in, out] : layers) {
        sizes.push_back({in * out * 64 * 4, 0});
        sizes.push_back({out * 4, 0});
    }
    return sizes;
}

std::vector<double> mebibytes(const BucketPlan& plan, const std::vector<GradientSize>& sizes) {
    std::vector<double> result;
    for (const auto& bucket : plan) {
        std::int64_t bytes = 0;
        for (const std::size_t i : bucket) bytes += sizes[i].bytes;
        result.push_back(static_cast<double>(bytes) / (1 << 20));
    }
    return result;
}

constexpr std::int64_t kMiB = 1 << 20;

TEST(BucketPlan, TheUNetHasTheParametersOfThePublishedOne) {
    std::int64_t count = 0;
    for (const auto& size : unet3d()) count += size.bytes / 4;
    EXPECT_EQ(count, 116977029);
}

std::vector<::testing::Matcher<double>> about(const std::vector<double>& values) {
    std::vector<::testing::Matcher<double>> matchers;
    for (const double value : values) matchers.push_back(::testing::DoubleNear(value, 0.005));
    return matchers;
}

TEST(BucketPlan, TheUNetHasEightBucketsAt25MiB) {
    const auto sizes = unet3d();
    const auto plan =
        plan_buckets(sizes, reverse_order(sizes.size()), kFirstBucketBytes, 25 * kMiB);
    EXPECT_THAT(
        mebibytes(plan, sizes),
        ::testing::ElementsAreArray(about({4.16, 80.0, 128.0, 64.0, 64.0, 64.0, 32.0, 10.06})));
}

TEST(BucketPlan, TheUNetHasFiveBucketsAt100MiB) {
    const auto sizes = unet3d();
    const auto plan =
        plan_buckets(sizes, reverse_order(sizes.size()), kFirstBucketBytes, 100 * kMiB);
    EXPECT_THAT(mebibytes(plan, sizes),
                ::testing::ElementsAreArray(about({4.16, 208.0, 128.0, 104.0, 2.06})));
}

TEST(BucketPlan, ABucketClosesWhenItHasItsLimit) {
    const std::vector<GradientSize> sizes{{10, 0}, {10, 0}, {10, 0}, {10, 0}, {10, 0}};
    EXPECT_THAT(plan_buckets(sizes, {4, 3, 2, 1, 0}, 10, 20),
                ElementsAre(ElementsAre(4U), ElementsAre(3U, 2U), ElementsAre(1U, 0U)));
    EXPECT_THAT(plan_buckets(sizes, {4, 3, 2, 1, 0}, 11, 21),
                ElementsAre(ElementsAre(4U, 3U), ElementsAre(2U, 1U, 0U)));
    EXPECT_THAT(plan_buckets(sizes, {0, 1, 2, 3, 4}, 1000, 1000),
                ElementsAre(ElementsAre(0U, 1U, 2U, 3U, 4U)));
    EXPECT_TRUE(plan_buckets({}, {}, 1, 1).empty());
}

TEST(BucketPlan, ElementTypesDoNotMix) {
    const std::vector<GradientSize> sizes{{10, 1}, {10, 2}, {10, 1}, {10, 2}};
    EXPECT_THAT(plan_buckets(sizes, {0, 1, 2, 3}, 100, 100),
                ElementsAre(ElementsAre(0U, 2U), ElementsAre(1U, 3U)));
    EXPECT_THAT(plan_buckets(sizes, {0, 1, 2, 3}, 5, 100),
                ElementsAre(ElementsAre(0U), ElementsAre(1U), ElementsAre(2U), ElementsAre(3U)))
        << "the first bucket of each type is small";
}

TEST(BucketPlan, BlocksHoldWholeLayers) {
    const std::vector<std::string> names{"a.0.x", "a.0.y", "a.1.x", "a.1.y", "b.x"};
    const std::vector<GradientSize> sizes{{10, 0}, {10, 0}, {10, 0}, {10, 0}, {10, 0}};
    EXPECT_THAT(plan_blocks(names, sizes, 1),
                ElementsAre(ElementsAre(0U, 1U), ElementsAre(2U, 3U), ElementsAre(4U)));
    EXPECT_THAT(plan_blocks(names, sizes, 21),
                ElementsAre(ElementsAre(0U, 1U, 2U, 3U), ElementsAre(4U)));
    EXPECT_THAT(plan_blocks({"a.x", "a.y"}, {{10, 0}, {10, 1}}, 100),
                ElementsAre(ElementsAre(0U), ElementsAre(1U)))
        << "element types do not mix";
    EXPECT_TRUE(plan_blocks({}, {}, 1).empty());
}

TEST(BucketPlan, WhatBackwardDidNotReachComesLast) {
    EXPECT_THAT(completed_order({2, 0, 2}, 5), ElementsAre(2U, 0U, 4U, 3U, 1U));
    EXPECT_THAT(completed_order({}, 3), ElementsAre(2U, 1U, 0U));
    EXPECT_THAT(reverse_order(0), ElementsAre());
}

}  // namespace
}  // namespace ranklab::train
