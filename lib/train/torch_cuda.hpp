// LibTorch's CUDA part. It is loaded when a run asks for a GPU and not before: half a gigabyte and
// a dozen libraries that a run on the CPU does not load.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/handle.hpp"
#include "device/stream.hpp"

namespace ranklab::train {

/// Loads the CUDA part and returns whether load_torch_cuda() has all it needs. Call it before
/// LibTorch looks for GPUs, as torch::manual_seed does: a negative answer is final.
bool has_torch_cuda();

/// Loads the CUDA part, with or without a GPU. EnvironmentError where this build has none.
void open_torch_cuda();
/// Loads the CUDA part, so that tensors can be made on the selected GPU (device/gpus.hpp).
/// EnvironmentError that says what is missing: LibTorch's CUDA part in this build, or a usable GPU.
void load_torch_cuda();

/// Makes this thread compute on a stream of LibTorch's pool, and returns it. A graph cannot capture
/// the default stream, nor work that waits for it: all training is put on this one. To be called
/// after load_torch_cuda().
device::StreamHandle compute_on_own_stream();

/// The most bytes that tensors took on one of these GPUs at a time, since the mark was reset to the
/// present use. LibTorch's allocator holds more, and the CUDA context some hundred MB besides.
std::int64_t peak_gpu_bytes(const std::vector<torch::Device>& gpus);
void restart_peak_gpu_bytes(const std::vector<torch::Device>& gpus);

/// Device work recorded once and launched again as a whole: a CUDA graph.
class StepGraph : base::Immovable {
  public:
    StepGraph() = default;
    virtual ~StepGraph() = default;

    /// To be called once. Runs `work` on the host; operations on the device's current stream, which
    /// is not the default one, are recorded and not done. Tensors that it makes keep their memory
    /// for the replays.
    virtual void capture(const std::function<void()>& work) = 0;
    /// Does on the device what was recorded, with the same memory.
    virtual void replay() = 0;
};

/// A CUDA graph. After compute_on_own_stream().
std::unique_ptr<StepGraph> make_cuda_graph();

}  // namespace ranklab::train
