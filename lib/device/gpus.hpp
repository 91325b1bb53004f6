// The GPUs this process can use. The only room with cuda_runtime.h; without CUDA in the build, or a
// driver on the machine, the list is empty and says why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ranklab::device {

struct Gpu {
    std::string name;
    std::string pci_id;  ///< identifies a GPU across ranks
    std::int64_t memory_bytes = 0;
    /// "GPU-<hex>" as nvidia-smi writes it; a MIG part has its own, unlike its pci_id.
    std::string uuid;
};

struct GpuList {
    std::vector<Gpu> gpus;
    std::string why_none;  ///< a sentence, when `gpus` is empty
};

GpuList list_gpus();

/// The GPU of a rank among the `gpus` that it sees, assigned in turn. It is 0 on all ranks where
/// the launcher shows each one its own GPU alone.
constexpr int gpu_of(int local_rank, int gpus) {
    return gpus > 0 ? local_rank % gpus : 0;
}
/// For this thread, from here on; CudaError if there is no such GPU.
void select_gpu(int index);

/// nsys and ncu, told to wait for the CUDA profiler, record between these calls. Nothing without
/// them, or in a build without CUDA.
void start_cuda_profiler();
void stop_cuda_profiler();

/// "13.0" of the CUDA runtime in this build, "" without one.
std::string cuda_runtime_version();

}  // namespace ranklab::device
