#include "train/channels_last.hpp"

namespace ranklab::train {

torch::Tensor channels_last(const torch::Tensor& tensor) {
    if (tensor.dim() == 4) return tensor.contiguous(torch::MemoryFormat::ChannelsLast);
    if (tensor.dim() == 5) return tensor.contiguous(torch::MemoryFormat::ChannelsLast3d);
    return tensor;
}

void use_channels_last(nn::Model& model) {
    const torch::NoGradGuard no_gradients;
    for (auto& parameter : model.parameters()) parameter.set_data(channels_last(parameter.detach()));
    for (auto& buffer : model.buffers()) buffer.set_data(channels_last(buffer.detach()));
}

}  // namespace ranklab::train
