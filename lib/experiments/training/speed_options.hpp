// The options of `ranklab train` for a step's number format and speed: precision, device, memory
// format, graphs.
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
    std::int64_t gpus = 1;       ///< of this rank: one, or in mode dp one a replica
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

/// Settles --device, --replicas and --backend after the mode and the sync; OptionError for
/// impossible ones.
SpeedOptions settle_speed(vocabulary::TrainingSettings& settings, int world_size,
                          const CountGpus& count_gpus = usable_gpus);

/// Settles the memory format: as asked; else as the model's document has it (`by_default`), but on
/// a GPU only in 16 bits, for its tensor cores. OptionError where it would break.
bool settle_channels_last(vocabulary::TrainingSettings& settings, const SpeedOptions& speed,
                          const nn::Outline& outline, bool by_default);

/// Collective. With a GPU: this rank's is selected, LibTorch's CUDA part is loaded, and this thread
/// computes on a stream of its own from here on. EnvironmentError on all ranks where one has none,
/// or where mode dp lacks a GPU for a replica. Without a GPU: all ranks compute on the CPU.
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

/// Prepares `model`, made for fp32 on the CPU, as the options demand: changes its type, place and
/// memory format, and puts a decorator around it for another way of computing.
std::shared_ptr<nn::Model> prepared(std::shared_ptr<nn::Model> model, const SpeedOptions& options,
                                    torch::Device device);

/// Why the rank cannot compute on `wanted` GPUs where it sees `seen`; "" where it can. `why_none`
/// says why it sees none.
std::string too_few_gpus(std::int64_t wanted, std::int64_t seen, const std::string& why_none);

/// For fp16; else null.
std::unique_ptr<train::GradScaler> make_scaler(const SpeedOptions& options);

}  // namespace ranklab::experiments
