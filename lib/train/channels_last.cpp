#include "train/channels_last.hpp"

namespace ranklab::train {

torch::Tensor channels_last(const torch::Tensor& tensor) {
    if (tensor.dim() == 4) return tensor.contiguous(torch::MemoryFormat::ChannelsLast);
    if (tensor.dim() == 5) return tensor.contiguous(torch::MemoryFormat::ChannelsLast3d);
    return tensor;
}

void use_channels_last(nn::Model& model, bool on) {
    const torch::NoGradGuard no_gradients;
    const auto laid_out = [on](torch::Tensor tensor) {
        tensor.set_data(on ? channels_last(tensor.detach()) : tensor.detach().contiguous());
    };
    for (const auto& parameter : model.parameters()) laid_out(parameter);
    for (const auto& buffer : model.buffers()) laid_out(buffer);
}

}  // namespace ranklab::train
