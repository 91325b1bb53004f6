#include <cuda_runtime.h>
#include <fmt/format.h>

#include "device/cuda_check.hpp"
#include "device/gpus.hpp"

namespace ranklab::device {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

}  // namespace

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
        list.gpus.push_back({properties.name, pci, static_cast<std::int64_t>(properties.totalGlobalMem),
                             uuid_text(properties.uuid)});
    }
    if (list.gpus.empty()) list.why_none = "the CUDA runtime lists no GPU";
    return list;
}

void select_gpu(int index) {
    cuda_check(cudaSetDevice(index), "cudaSetDevice");
}

int selected_gpu() {
    int index = 0;
    cuda_check(cudaGetDevice(&index), "cudaGetDevice");
    return index;
}

std::string cuda_runtime_version() {
    int version = 0;
    if (cudaRuntimeGetVersion(&version) != cudaSuccess) return "unknown";
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace ranklab::device
