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

// Lies in lib/ next to bin/, found by the programs' rpath.
constexpr const char* kModule = "libranklab_torch_cuda.so";

struct Module {
    void* handle = nullptr;
    std::string why_not;
};

// Never closed, since LibTorch's libraries cannot be unregistered.
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
    // POSIX allows calling dlsym's result; C++ needs reinterpret_cast for that.
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
        fmt::format(
            "LibTorch's CUDA part cannot be loaded ({}); build ranklab where CMake finds it "
            "and the CUDA runtime, or compute on the CPU",
            module().why_not),
        {"device cpu", "nvtx"});
}

void load_torch_cuda() {
    open_torch_cuda();
    if (!at::globalContext().hasCUDA())
        throw base::EnvironmentError(
            "LibTorch finds no usable GPU; check CUDA_VISIBLE_DEVICES and the driver (nvidia-smi), "
            "or compute on the CPU",
            {"device cpu"});
}

device::StreamHandle compute_on_own_stream() {
    return function_named<device::StreamHandle (*)()>("ranklab_compute_on_own_stream")();
}

std::int64_t peak_gpu_bytes(const std::vector<torch::Device>& gpus) {
    std::int64_t most = 0;
    for (const auto& gpu : gpus) {
        const auto stats = c10::getDeviceAllocator(torch::kCUDA)->getDeviceStats(gpu.index());
        // Index 0 is the sum over all pools.
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
