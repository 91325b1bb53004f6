// A module that links LibTorch's CUDA part; train/torch_cuda.cpp loads it.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include "train/torch_cuda.hpp"

namespace ranklab::train {
namespace {

class CudaGraph final : public StepGraph {
  public:
    void capture(const std::function<void()>& work) override {
        // Waits for earlier work, which must not end within the capture.
        c10::cuda::getCurrentCUDAStream().synchronize();
        // Captures this thread only, since the loader's threads may allocate pinned memory
        // meanwhile.
        graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        try {
            work();
        } catch (...) {
            leave_capture();
            throw;
        }
        graph_.capture_end();
    }
    void replay() override { graph_.replay(); }

  private:
    // Ends a failed capture, to make the stream usable again. Ignores an error of capture_end,
    // which is not the cause.
    void leave_capture() noexcept {
        try {
            graph_.capture_end();
        } catch (...) {
        }
    }

    at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace ranklab::train

extern "C" {

__attribute__((visibility("default"))) cudaStream_t ranklab_compute_on_own_stream() {
    const auto stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/false);
    c10::cuda::setCurrentCUDAStream(stream);
    return stream.stream();
}

__attribute__((visibility("default"))) std::int64_t ranklab_peak_gpu_bytes(int gpu) {
    const auto device = static_cast<c10::DeviceIndex>(gpu);
    // Index 0 is the sum over all pools.
    return c10::cuda::CUDACachingAllocator::getDeviceStats(device).allocated_bytes[0].peak;
}

__attribute__((visibility("default"))) void ranklab_restart_peak_gpu_bytes(int gpu) {
    c10::cuda::CUDACachingAllocator::resetPeakStats(static_cast<c10::DeviceIndex>(gpu));
}

__attribute__((visibility("default"))) ranklab::train::StepGraph* ranklab_make_cuda_graph() {
    return new ranklab::train::CudaGraph();
}
}
