#include "train/torch_cuda.hpp"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::train {
namespace {

// In lib/ next to bin/, where the programs' rpath leads.
constexpr const char* kModule = "libranklab_torch_cuda.so";

struct Module {
    void* handle = nullptr;
    std::string why_not;
};

// Never closed: LibTorch's parts register what they have, for good.
const Module& module() {
    static const Module opened = [] {
        Module m{.handle = dlopen(kModule, RTLD_NOW | RTLD_GLOBAL), .why_not = {}};
        const char* const why = m.handle == nullptr ? dlerror() : nullptr;
        if (why != nullptr) m.why_not = base::printable(why, 300);
        return m;
    }();
    return opened;
}

template <class Function>
Function function_named(const char* name) {
    // POSIX lets dlsym's result be a function's address; C++ has no other word for that.
    auto* const function = reinterpret_cast<Function>(dlsym(module().handle, name));
    if (function == nullptr)
        throw base::Error(
            fmt::format("internal: {} has no {}; build ranklab again", kModule, name));
    return function;
}

}  // namespace

bool has_torch_cuda() {
    return module().handle != nullptr && at::globalContext().hasCUDA();
}

void open_torch_cuda() {
    if (module().handle != nullptr) return;
    throw base::EnvironmentError(
        fmt::format("LibTorch's CUDA part could not be loaded ({}); build where LibTorch and the "
                    "CUDA runtime are found, or go without",
                    module().why_not),
        {"device cpu", "nvtx"});
}

void load_torch_cuda() {
    open_torch_cuda();
    if (!at::globalContext().hasCUDA())
        throw base::EnvironmentError(
            "LibTorch sees no GPU that it can use; look at CUDA_VISIBLE_DEVICES and the driver "
            "(nvidia-smi), or compute on the CPU",
            {"device cpu"});
}

device::StreamHandle compute_on_own_stream() {
    return function_named<device::StreamHandle (*)()>("ranklab_compute_on_own_stream")();
}

std::int64_t peak_gpu_bytes(const std::vector<torch::Device>& gpus) {
    std::int64_t most = 0;
    for (const auto& gpu : gpus) {
        const auto stats = c10::getDeviceAllocator(torch::kCUDA)->getDeviceStats(gpu.index());
        // The first kind of counter is of all pools together.
        most = std::max<std::int64_t>(most, stats.allocated_bytes[0].peak);
    }
    return most;
}

void restart_peak_gpu_bytes(const std::vector<torch::Device>& gpus) {
    for (const auto& gpu : gpus) c10::getDeviceAllocator(torch::kCUDA)->resetPeakStats(gpu.index());
}

std::unique_ptr<StepGraph> make_cuda_graph() {
    return std::unique_ptr<StepGraph>(
        function_named<StepGraph* (*)()>("ranklab_make_cuda_graph")());
}

}  // namespace ranklab::train
