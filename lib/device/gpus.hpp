// The GPUs that this process can use. Only lib/device includes cuda_runtime.h. In a build without
// CUDA, or without a driver, the list is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ranklab::device {

struct Gpu {
    std::string name;
    std::string pci_id;
    std::int64_t memory_bytes = 0;
    /// "GPU-<hex>" as in nvidia-smi. The parts of a GPU (MIG) share its pci_id and differ in uuid.
    std::string uuid;
};

struct GpuList {
    std::vector<Gpu> gpus;
    std::string why_none;  ///< a sentence; set if `gpus` is empty
};

GpuList list_gpus();

/// The index of a rank's GPU: local ranks take the `gpus` visible GPUs in turn. 0 if the launcher
/// shows each rank one GPU.
constexpr int gpu_of(int local_rank, int gpus) {
    return gpus > 0 ? local_rank % gpus : 0;
}
/// Sets the calling thread's current GPU. Throws EnvironmentError if there is no such GPU.
void select_gpu(int index);

/// nsys and ncu with --capture-range=cudaProfilerApi (ncu: --profile-from-start off) record between
/// these calls. They do nothing without a profiler or without CUDA.
void start_cuda_profiler();
void stop_cuda_profiler();

/// The CUDA runtime of this build, "13.0"; "" without CUDA.
std::string cuda_runtime_version();

}  // namespace ranklab::device
