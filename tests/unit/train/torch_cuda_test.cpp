// LibTorch's CUDA part as it is loaded. What LibTorch once knows of GPUs it keeps: suites of this
// name run before all others of the program.
#include "train/torch_cuda.hpp"

#include <ATen/detail/CUDAHooksInterface.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/gpus.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::train {
namespace {

TEST(TorchCudaDeathTest, IsLoadedWithItsKernelsWhereThisBuildHasIt) {
    const bool there = has_torch_cuda();
    EXPECT_TRUE(!there || !device::list_gpus().gpus.empty())
        << "a GPU that the runtime does not list";
#ifdef RANKLAB_HAS_TORCH_CUDA
    EXPECT_TRUE(at::detail::getCUDAHooks().hasCuDNN()) << "the module's hooks were not registered";
#else
    EXPECT_FALSE(at::detail::getCUDAHooks().hasCuDNN());
#endif
}

TEST(TorchCudaDeathTest, SaysWhatIsMissing) {
    if (has_torch_cuda()) GTEST_SKIP() << "there is a GPU";
    EXPECT_THAT(ranklab::tests::thrown_sentence<base::EnvironmentError>([] { load_torch_cuda(); }),
                ::testing::HasSubstr("--device cpu"));
}

}  // namespace
}  // namespace ranklab::train
