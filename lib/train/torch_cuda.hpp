// LibTorch's CUDA part. It is loaded when a run asks for a GPU and not before: half a gigabyte and
// a dozen libraries that a run on the CPU does not pay for.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/handle.hpp"
#include "device/stream.hpp"

namespace ranklab::train {

/// Whether load_torch_cuda() finds all it needs. Loads it. To be called before anything that asks
/// LibTorch about GPUs, torch::manual_seed among them: a negative answer is final.
bool has_torch_cuda();

/// EnvironmentError that says what is missing: LibTorch's CUDA part in this build, or a GPU that it
/// can use. Afterwards tensors can be made on the GPU that is selected (device/gpus.hpp).
void load_torch_cuda();

/// Makes this thread compute on a stream of LibTorch's pool, and returns it. A graph cannot be
/// captured on the default stream, nor what waits for it: everything that trains is put on this
/// one. After load_torch_cuda().
device::StreamHandle compute_on_own_stream();

/// The most bytes that tensors took on one of these GPUs at a time, since the mark was put back to
/// what they take now. LibTorch's allocator holds more, and the CUDA context some hundred MB beside
/// it.
std::int64_t peak_gpu_bytes(const std::vector<torch::Device>& gpus);
void restart_peak_gpu_bytes(const std::vector<torch::Device>& gpus);

/// Device work recorded once and launched again as a whole: a CUDA graph.
class StepGraph : base::Pinned {
  public:
    StepGraph() = default;
    virtual ~StepGraph() = default;

    /// Once. Runs `work` on the host; what it puts on the device's current stream, which is not the
    /// default one, is recorded and not done. Tensors that it makes keep their memory for the
    /// replays.
    virtual void capture(const std::function<void()>& work) = 0;
    /// Does on the device what was recorded, with the same memory.
    virtual void replay() = 0;
};

/// A CUDA graph. After compute_on_own_stream().
std::unique_ptr<StepGraph> make_cuda_graph();

}  // namespace ranklab::train
