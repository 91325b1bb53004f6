// The GPUs this process can use. The only room with cuda_runtime.h; without CUDA in the build, or a driver
// on the machine, the list is empty and says why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ranklab::device {

struct Gpu {
    std::string name;
    std::string pci_id;  ///< tells one GPU from another across ranks
    std::int64_t memory_bytes = 0;
};

struct GpuList {
    std::vector<Gpu> gpus;
    std::string why_none;  ///< a sentence, when `gpus` is empty
};

GpuList list_gpus();

/// "13.0" of the CUDA runtime in this build, "" without one.
std::string cuda_runtime_version();

}  // namespace ranklab::device
