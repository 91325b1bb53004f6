// The options for the speed of a step: precision, device, memory format, graphs.
#include "experiments/training/options.hpp"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "device/gpus.hpp"
#include "train/gradient_sync.hpp"
#include "train/torch_cuda.hpp"
#include "train/traced_model.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::settle;
using vocabulary::TrainingSettings;

// Returns why this run cannot use a GPU on any machine, or "".
std::string why_not_cuda(const TrainingSettings& settings, int world_size) {
    const auto syncs = train::gradient_syncs();
    const auto sync = std::ranges::find(syncs, settings.sync.value_or(""), &train::SyncEntry::name);
    if (sync != syncs.end() && sync->host_memory)
        return fmt::format("--sync {} reduces in host memory; use --sync bucketed, or --device cpu",
                           sync->name);
    const bool reduces = world_size > 1 || vocabulary::mode_of(settings).several_ranks;
    if (reduces && settings.backend &&
        entry_of(comm::backends(), *settings.backend).memory == comm::Memory::host)
        return fmt::format("--backend {} carries host memory; use --backend nccl, or --device cpu",
                           *settings.backend);
    return {};
}

// Mode dp needs one GPU per replica. The default chooses GPUs only if they would not be refused.
bool choose_cuda(const TrainingSettings& settings, int world_size, const CountGpus& count_gpus) {
    const std::string& asked = settings.device;
    const std::string why_not = why_not_cuda(settings, world_size);
    if (asked == "cuda" && !why_not.empty()) throw base::OptionError("--device cuda: " + why_not);
    if (asked == "cpu") return false;
    // Counts before the model is made: making it lets LibTorch look for GPUs, see has_torch_cuda().
    const std::int64_t gpus = why_not.empty() ? count_gpus() : 0;
    return asked == "cuda" || (gpus > 0 && settings.replicas.value_or(1) <= gpus);
}

int select_own_gpu(const comm::Communicator& control, std::int64_t wanted) {
    const auto list = device::list_gpus();
    const auto seen = static_cast<int>(list.gpus.size());
    if (const auto why = too_few_gpus(wanted, seen, list.why_none); !why.empty())
        throw base::EnvironmentError(why);
    const int gpu = device::gpu_of(control.local_rank(), seen);
    device::select_gpu(gpu);
    return gpu;
}

}  // namespace

std::int64_t usable_gpus() {
    const auto gpus = static_cast<std::int64_t>(device::list_gpus().gpus.size());
    return gpus > 0 && train::has_torch_cuda() ? gpus : 0;
}

std::string too_few_gpus(std::int64_t wanted, std::int64_t seen, const std::string& why_none) {
    if (seen == 0)
        return fmt::format(
            "--device cuda needs a GPU, and {}; start where there is one, or use --device cpu",
            why_none);
    if (wanted <= seen) return {};
    return fmt::format(
        "{} replicas need a GPU each, and this process sees {}; use --replicas {}, or --device cpu",
        wanted, seen, seen);
}

void settle_speed(TrainingSettings& settings, int world_size, const CountGpus& count_gpus) {
    const bool cuda = choose_cuda(settings, world_size, count_gpus);
    settings.device = cuda ? "cuda" : "cpu";
    // The default is all GPUs, as in PyTorch's DataParallel; on the CPU two replicas.
    const std::int64_t gpus = cuda ? count_gpus() : 0;
    if (vocabulary::mode_of(settings).has_replicas) settle(settings.replicas, gpus > 0 ? gpus : 2);
    settle(settings.ops, cuda ? "libtorch" : "ranklab");
    const bool reduces = world_size > 1 || vocabulary::mode_of(settings).several_ranks;
    settle(settings.backend,
           comm::default_backend(cuda && reduces ? comm::Memory::device : comm::Memory::host).name);
    if (settings.precision == "tf32" && !cuda)
        throw base::OptionError("tf32 needs NVIDIA's tensor cores; use a GPU, or another precision",
                                {"precision fp32", "precision bf16", "device cuda"});
}

void settle_channels_last(TrainingSettings& settings, const nn::Outline& outline, bool by_default) {
    constexpr const char* kAsked = "channels-last";
    const bool cuda = settings.device == "cuda";
    const bool breaks = outline.breaks_channels_last && !cuda && settings.precision != "fp64";
    if (settings.channels_last == "true") settings.memory_format = kAsked;
    if (settings.memory_format == kAsked && breaks)
        throw base::OptionError(
            "LibTorch's channels-last convolutions of 1 x 1 and fewer than 8 channels write beyond "
            "their memory; use a wider model, or contiguous memory",
            {"width", "memory-format"});
    const bool suits = !cuda || settings.precision == "bf16" || settings.precision == "fp16";
    const bool by_model = by_default && suits && !breaks;
    const bool on =
        settings.memory_format == kAsked || (settings.memory_format == "auto" && by_model);
    settings.channels_last = on ? "true" : "false";
}

ComputeDevice::ComputeDevice(const TrainingSettings& settings, comm::Communicator& control)
    : device_(torch::kCPU) {
    const bool cuda = settings.device == "cuda";
    std::int64_t kinds[] = {cuda ? 1 : 0, cuda ? 0 : 1};
    control.allreduce(comm::view(std::span(kinds)), comm::ReduceOp::max);
    comm::all_or_throw(control, [&] {
        if (kinds[0] + kinds[1] > 1)
            throw base::EnvironmentError(
                "some ranks see a GPU and others none; give --device cpu, or give every rank a "
                "GPU");
        if (!cuda) return;
        const int gpu = select_own_gpu(control, settings.replicas.value_or(1));
        train::load_torch_cuda();
        device_ = torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(gpu));
        stream_.emplace(train::compute_on_own_stream());
    });
    // By default LibTorch uses TF32 for convolutions, but not for matrix products.
    at::globalContext().setAllowTF32CuDNN(settings.precision == "tf32");
    at::globalContext().setAllowTF32CuBLAS(settings.precision == "tf32");
    at::globalContext().setBenchmarkCuDNN(cuda && settings.cudnn_benchmark == "on");
}

std::shared_ptr<nn::Model> prepared(std::shared_ptr<nn::Model> model,
                                    const TrainingSettings& settings, torch::Device device) {
    const auto precision =
        base::named<train::Precision>(train::kPrecisions, settings.precision).value();
    // A single to(device, type) would make integers (BatchNorm's counts) floating-point.
    model->to(train::parameter_type(precision));
    if (!device.is_cpu()) model->to(device);
    if (settings.channels_last == "true") train::use_channels_last(*model);
    // Autocast wraps the traced model, so that tracing records autocast's casts.
    if (settings.jit) model = std::make_shared<train::TracedModel>(std::move(model));
    return train::in_precision(std::move(model), precision, device.type());
}

}  // namespace ranklab::experiments
