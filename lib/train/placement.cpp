#include "train/placement.hpp"

#include "train/channels_last.hpp"

namespace ranklab::train {
namespace {

// The pinned copy is LibTorch's, which does not give its memory to another before the transfer has ended. A
// loader's own memory would not do: it is filled anew with the next batch, whatever the GPU has read by then.
torch::Tensor moved(const torch::Tensor& tensor, torch::Device device) {
    const torch::Tensor pinned = tensor.is_pinned() ? tensor : tensor.pin_memory();
    return pinned.to(device, /*non_blocking=*/true);
}

}  // namespace

TensorBatch placed(TensorBatch batch, const Placement& placement) {
    if (!placement.device.is_cpu()) {
        batch.input = moved(batch.input, placement.device);
        batch.targets = moved(batch.targets, placement.device);
    }
    if (placement.channels_last) batch.input = channels_last(batch.input);
    return batch;
}

}  // namespace ranklab::train
