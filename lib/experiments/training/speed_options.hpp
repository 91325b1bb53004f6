// The options of `ranklab train` for the speed of a step: precision, device, memory format, graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "comm/communicator.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"
#include "train/precision.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

struct SpeedOptions {
    train::Precision precision = train::Precision::fp32;
    bool cuda = false;
    std::int64_t gpus = 1;       ///< of this rank; in mode dp one per replica
    bool channels_last = false;  ///< memory format, settled once the model is outlined
    nn::Ops ops = nn::Ops::ranklab;
    bool jit = false;
    bool cuda_graph = false;
    bool cudnn_benchmark = true;

    torch::DeviceType device_type() const { return cuda ? torch::kCUDA : torch::kCPU; }
    torch::Dtype parameter_type() const { return train::parameter_type(precision); }
};

/// The GPUs that this process sees and LibTorch can use.
using CountGpus = std::function<std::int64_t()>;
std::int64_t usable_gpus();

/// Settles --device, --replicas and --backend. --mode and --sync are settled before. Throws
/// OptionError for impossible ones.
SpeedOptions settle_speed(vocabulary::TrainingSettings& settings, int world_size,
                          const CountGpus& count_gpus = usable_gpus);

/// Settles the memory format: as asked, else `by_default`, the model's. On a GPU the default is
/// channels-last in 16 bits only, for tensor cores. Throws OptionError if LibTorch fails with it.
bool settle_channels_last(vocabulary::TrainingSettings& settings, const SpeedOptions& speed,
                          const nn::Outline& outline, bool by_default);

/// Collective. On a GPU: selects this rank's, loads LibTorch's CUDA part, and makes this thread
/// compute on a stream of its own. Throws EnvironmentError on all ranks if a rank has no GPU, or a
/// replica of mode dp has none. Without GPUs all ranks compute on the CPU.
class ComputeDevice {
  public:
    ComputeDevice(const SpeedOptions& options, comm::Communicator& control);
    ~ComputeDevice();

    torch::Device get() const { return device_; }

  private:
    struct Stream;
    torch::Device device_;
    std::unique_ptr<Stream> stream_;
};

/// Prepares `model`, which is fp32 on the CPU: changes its type, device and memory format, and
/// wraps it for --jit or autocast.
std::shared_ptr<nn::Model> prepared(std::shared_ptr<nn::Model> model, const SpeedOptions& options,
                                    torch::Device device);

/// Returns why a rank that sees `seen` GPUs cannot compute on `wanted`, or "". `why_none`: why it
/// sees none.
std::string too_few_gpus(std::int64_t wanted, std::int64_t seen, const std::string& why_none);

/// Returns null unless the precision is fp16.
std::unique_ptr<train::GradScaler> make_scaler(const SpeedOptions& options);

}  // namespace ranklab::experiments
