// The options of `ranklab train` for the speed of a step: precision, device, memory format, graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "device/stream.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"
#include "train/precision.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// Returns the number of GPUs that this process sees and LibTorch can use.
using CountGpus = std::function<std::int64_t()>;
std::int64_t usable_gpus();

/// Settles --device, --replicas, --ops and --backend; --mode and --sync must be settled. Throws
/// OptionError if they conflict.
void settle_speed(vocabulary::TrainingSettings& settings, int world_size,
                  const CountGpus& count_gpus = usable_gpus);

/// Settles the memory format. If none is given, it is channels-last if the model prefers it
/// (`by_default`), LibTorch handles it, and the device is a CPU or the precision has 16 bits
/// (tensor cores). Throws OptionError if channels-last is given and LibTorch fails with it.
void settle_channels_last(vocabulary::TrainingSettings& settings, const nn::Outline& outline,
                          bool by_default);

/// Collective. On a GPU: selects this rank's, loads LibTorch's CUDA part, and makes this thread
/// compute on a stream of its own. Throws EnvironmentError on all ranks if a rank has no GPU, or a
/// replica of mode dp has none. With --device cpu all ranks compute on the CPU.
class ComputeDevice {
  public:
    ComputeDevice(const vocabulary::TrainingSettings& settings, comm::Communicator& control);

    torch::Device get() const { return device_; }

  private:
    torch::Device device_;
    std::optional<device::ComputeStream> stream_;
};

/// Prepares `model`, which is fp32 on the CPU: changes its type, device and memory format, and
/// wraps it for --jit or autocast.
std::shared_ptr<nn::Model> prepared(std::shared_ptr<nn::Model> model,
                                    const vocabulary::TrainingSettings& settings,
                                    torch::Device device);

/// Returns why a rank that sees `seen` GPUs cannot compute on `wanted`, or "". `why_none`: why it
/// sees none.
std::string too_few_gpus(std::int64_t wanted, std::int64_t seen, const std::string& why_none);

}  // namespace ranklab::experiments
