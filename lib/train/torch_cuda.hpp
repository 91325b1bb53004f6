// LibTorch's CUDA part: a dozen large libraries, loaded only for runs on a GPU.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/handle.hpp"
#include "device/gpus.hpp"

namespace ranklab::train {

/// Loads the CUDA part and returns whether load_torch_cuda() would succeed. Call it before LibTorch
/// looks for GPUs (as torch::manual_seed does), since LibTorch remembers a negative answer.
bool has_torch_cuda();

/// Loads the CUDA part, with or without a GPU. Throws EnvironmentError if this build has none.
void open_torch_cuda();
/// Loads the CUDA part, so that tensors can be made on the current GPU (device/gpus.hpp). Throws
/// EnvironmentError if this build has no CUDA part, or LibTorch finds no usable GPU.
void load_torch_cuda();

/// Makes this thread compute on a stream of LibTorch's pool, and returns the stream. All training
/// runs on it, since a CUDA graph can capture neither the default stream nor work that waits for
/// it. Call load_torch_cuda() before.
device::StreamHandle compute_on_own_stream();

/// Peak bytes of tensors on one of these GPUs, maximum over GPUs, since restart_peak_gpu_bytes().
/// Not included: memory that LibTorch's allocator caches, and the CUDA context (some hundred MB).
std::int64_t peak_gpu_bytes(const std::vector<torch::Device>& gpus);
void restart_peak_gpu_bytes(const std::vector<torch::Device>& gpus);

/// Device work that is recorded once and replayed as a whole: a CUDA graph.
class StepGraph : base::Immovable {
  public:
    StepGraph() = default;
    virtual ~StepGraph() = default;

    /// Runs `work` on the host and records, without executing, its operations on the current
    /// stream, which must not be the default one. Tensors that `work` makes keep their memory for
    /// the replays. To be called once.
    virtual void capture(const std::function<void()>& work) = 0;
    /// Executes the recorded operations, on the same memory.
    virtual void replay() = 0;
};

/// Call compute_on_own_stream() before.
std::unique_ptr<StepGraph> make_cuda_graph();

}  // namespace ranklab::train
