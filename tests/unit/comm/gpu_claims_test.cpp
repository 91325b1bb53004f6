#include "comm/gpu_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/pack.hpp"

namespace ranklab::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

GpuClaim claim(const std::string& host, int gpu, const std::string& uuid) {
    return {host, "NVIDIA H200", "0000:" + std::to_string(10 + gpu) + ":00.0", uuid};
}

TEST(GpuClaims, OneGpuARankIsWell) {
    EXPECT_EQ(shared_gpu_sentence({}), "");
    EXPECT_EQ(shared_gpu_sentence({claim("a", 0, "GPU-1")}), "");
    EXPECT_EQ(shared_gpu_sentence({claim("a", 0, "GPU-1"), claim("a", 1, "GPU-2"), claim("b", 0, "GPU-3")}),
              "");
}

TEST(GpuClaims, TwoRanksOfOneGpuAreNamed) {
    const auto sentence = shared_gpu_sentence(
        {claim("a", 0, "GPU-1"), claim("b", 0, "GPU-2"), claim("b", 1, "GPU-3"), claim("b", 0, "GPU-2")});
    EXPECT_THAT(sentence,
                AllOf(HasSubstr("ranks 1,3 on b"), HasSubstr("NVIDIA H200"), HasSubstr("0000:10:00.0"),
                      HasSubstr("(GPU-2)"), HasSubstr("CUDA_VISIBLE_DEVICES"), Not(HasSubstr("more GPUs"))));
}

TEST(GpuClaims, RanksWithoutAGpuShareNone) {
    EXPECT_EQ(shared_gpu({{"a", "", "", ""}, {"a", "", "", ""}, claim("a", 0, "GPU-1")}), "");
    EXPECT_THAT(shared_gpu({{"a", "", "", ""}, claim("a", 0, "GPU-1"), claim("a", 0, "GPU-1")}),
                AllOf(HasSubstr("ranks 1-2 on a"), Not(HasSubstr("NCCL"))));
}

TEST(GpuClaims, OfSeveralTheOneOfTheLowestRankIsTold) {
    const auto sentence = shared_gpu_sentence(
        {claim("a", 1, "GPU-9"), claim("a", 0, "GPU-1"), claim("a", 0, "GPU-1"), claim("a", 1, "GPU-9")});
    EXPECT_THAT(sentence, AllOf(HasSubstr("ranks 0,3 on a"), HasSubstr("GPU-9"), HasSubstr("1 more GPUs")));
}

// Two parts of a partitioned GPU have one PCI address and two identities. Whether they can be used together
// is for NCCL to say: its versions differ.
TEST(GpuClaims, ThePartsOfAPartitionedGpuAreApart) {
    EXPECT_EQ(shared_gpu_sentence({claim("a", 0, "MIG-1"), claim("a", 0, "MIG-2")}), "");
}

// Containers on one node have host names of their own.
TEST(GpuClaims, OneGpuUnderTwoHostNamesIsOne) {
    EXPECT_THAT(shared_gpu_sentence({claim("box1", 0, "GPU-1"), claim("box2", 0, "GPU-1")}),
                HasSubstr("ranks 0-1 on box1 and box2"));
}

TEST(GpuClaims, WithoutAnIdentityThePlaceOnTheHostCounts) {
    EXPECT_EQ(shared_gpu_sentence({claim("a", 0, ""), claim("b", 0, ""), claim("a", 1, "")}), "");
    EXPECT_THAT(shared_gpu_sentence({claim("a", 0, ""), claim("a", 0, "")}),
                AllOf(HasSubstr("ranks 0-1 on a"), Not(HasSubstr("()"))));
}

TEST(GpuClaims, TravelAsBytes) {
    const auto there = claim("node07", 3, "");
    const auto back = base::unpacked<GpuClaim>(base::packed(there)).value();
    EXPECT_EQ(back.host, there.host);
    EXPECT_EQ(back.name, there.name);
    EXPECT_EQ(back.pci_id, there.pci_id);
    EXPECT_EQ(back.uuid, there.uuid);
    EXPECT_FALSE(base::unpacked<GpuClaim>("node07"));
}

}  // namespace
}  // namespace ranklab::comm
