#include "train/placement.hpp"

#include "train/channels_last.hpp"

namespace ranklab::train {
namespace {

torch::Tensor moved(const torch::Tensor& tensor, torch::Device device) {
    const torch::Tensor pinned = tensor.is_pinned() ? tensor : tensor.pin_memory();
    return pinned.to(device, /*non_blocking=*/true);
}

}  // namespace

TensorBatch BatchPlacement::operator()(TensorBatch batch) const {
    if (!device_.is_cpu()) {
        batch.images = moved(batch.images, device_);
        batch.targets = moved(batch.targets, device_);
    }
    if (channels_last_) batch.images = channels_last(batch.images);
    return batch;
}

}  // namespace ranklab::train
