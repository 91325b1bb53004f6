#include "train/torch_cuda.hpp"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/program.hpp"

namespace ranklab::train {
namespace {

const base::Plugin& module() {
    static const base::Plugin opened("libranklab_torch_cuda.so");
    return opened;
}

}  // namespace

bool has_torch_cuda() {
    return module().is_open() && at::globalContext().hasCUDA();
}

void open_torch_cuda() {
    if (module().is_open()) return;
    throw base::EnvironmentError(
        fmt::format(
            "LibTorch's CUDA part cannot be loaded ({}); build ranklab where CMake finds it "
            "and the CUDA runtime, or compute on the CPU",
            module().why_not()),
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
    return module().function<device::StreamHandle (*)()>("ranklab_compute_on_own_stream")();
}

std::int64_t peak_gpu_bytes(const std::vector<torch::Device>& gpus) {
    using Peak = std::int64_t (*)(int);
    std::int64_t most = 0;
    for (const auto& gpu : gpus)
        most = std::max(most, module().function<Peak>("ranklab_peak_gpu_bytes")(gpu.index()));
    return most;
}

void restart_peak_gpu_bytes(const std::vector<torch::Device>& gpus) {
    using Restart = void (*)(int);
    for (const auto& gpu : gpus)
        module().function<Restart>("ranklab_restart_peak_gpu_bytes")(gpu.index());
}

std::unique_ptr<StepGraph> make_cuda_graph() {
    return std::unique_ptr<StepGraph>(
        module().function<StepGraph* (*)()>("ranklab_make_cuda_graph")());
}

}  // namespace ranklab::train
