// Behaviour of the room without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/gpus.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::device {
namespace {

using ::testing::HasSubstr;

TEST(Gpus, AreDealtOutByLocalRank) {
    EXPECT_EQ(gpu_of(0, 4), 0);
    EXPECT_EQ(gpu_of(3, 4), 3);
    EXPECT_EQ(gpu_of(5, 4), 1) << "more ranks than GPUs share them";
    EXPECT_EQ(gpu_of(3, 1), 0) << "each rank sees its own alone";
    EXPECT_EQ(gpu_of(3, 0), 0);
}

TEST(Gpus, AnEmptyListSaysWhy) {
    const auto list = list_gpus();
    EXPECT_EQ(list.gpus.empty(), !list.why_none.empty());
}

StreamHandle handle(int& anything) {
    return reinterpret_cast<StreamHandle>(&anything);
}

TEST(ComputeStream, IsTheDefaultStreamUntilSetAndAfterwards) {
    int outer = 0;
    int inner = 0;
    EXPECT_EQ(compute_stream(), nullptr);
    {
        const ComputeStream one(handle(outer));
        EXPECT_EQ(compute_stream(), handle(outer));
        {
            const ComputeStream two(handle(inner));
            EXPECT_EQ(compute_stream(), handle(inner));
        }
        EXPECT_EQ(compute_stream(), handle(outer));
    }
    EXPECT_EQ(compute_stream(), nullptr);
}

// In a build with CUDA and in one without, what needs a GPU says that there is none.
TEST(WithoutAGpu, EverythingThrowsASentence) {
    if (!list_gpus().gpus.empty()) GTEST_SKIP() << "this machine has a GPU";
    const auto sentence = [](auto&& work) {
        return tests::thrown_sentence<base::EnvironmentError>(work);
    };
    EXPECT_THAT(sentence([] { Stream(); }), HasSubstr("--device cpu"));
    EXPECT_THAT(sentence([] { Event(); }), HasSubstr("--device cpu"));
    EXPECT_THAT(sentence([] { Buffer(16); }), HasSubstr("--device cpu"));
    EXPECT_THAT(sentence([] { select_gpu(0); }), HasSubstr("--device cpu"));
    EXPECT_THAT(sentence([] { synchronize(nullptr); }), HasSubstr("--device cpu"));
}

}  // namespace
}  // namespace ranklab::device
