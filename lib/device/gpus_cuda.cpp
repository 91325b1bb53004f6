#include <cuda_runtime.h>
#include <fmt/format.h>

#include "device/gpus.hpp"

namespace ranklab::device {

GpuList list_gpus() {
    int count = 0;
    const cudaError_t rc = cudaGetDeviceCount(&count);
    if (rc != cudaSuccess) return {{}, fmt::format("no GPU can be used: {}", cudaGetErrorString(rc))};
    GpuList list;
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        char pci[32] = "";
        if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
        if (cudaDeviceGetPCIBusId(pci, sizeof pci, i) != cudaSuccess) pci[0] = '\0';
        list.gpus.push_back({properties.name, pci, static_cast<std::int64_t>(properties.totalGlobalMem)});
    }
    if (list.gpus.empty()) list.why_none = "the CUDA runtime lists no GPU";
    return list;
}

std::string cuda_runtime_version() {
    int version = 0;
    if (cudaRuntimeGetVersion(&version) != cudaSuccess) return "unknown";
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace ranklab::device
