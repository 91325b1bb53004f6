#include "train/input.hpp"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/generated/variable_factories.h>

#include "base/error.hpp"
#include "train/precision.hpp"

namespace ranklab::train {
namespace {

/// `bytes` [images, channels, plane] through the table of each one's channel.
template <class T>
void look_up(const torch::Tensor& table, const std::uint8_t* bytes, std::int64_t planes, std::int64_t plane,
             torch::Tensor& out) {
    const T* const values = table.const_data_ptr<T>();
    const std::int64_t channels = table.size(0);
    T* const to = out.mutable_data_ptr<T>();
    const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, plane));
    at::parallel_for(0, planes, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
            const T* const of_channel = values + p % channels * 256;
            for (std::int64_t i = p * plane; i < (p + 1) * plane; ++i) to[i] = of_channel[bytes[i]];
        }
    });
}

std::vector<std::int64_t> batch_sizes(std::int64_t count, const data::Field& field) {
    std::vector<std::int64_t> sizes{count};
    sizes.insert(sizes.end(), field.sizes.begin(), field.sizes.end());
    return sizes;
}

// To a GPU from pinned memory, put on the current stream: the host does not wait, and the GPU's next
// operations come after it. The pinned copy is LibTorch's, which does not give its memory to another before
// the transfer has ended. A loader's own memory would not do: it is filled anew with the next batch, whatever
// the GPU has read by then.
torch::Tensor moved(const torch::Tensor& tensor, torch::Device device) {
    if (device.is_cpu()) return tensor;
    const torch::Tensor pinned = tensor.is_pinned() ? tensor : tensor.pin_memory();
    return pinned.to(device, /*non_blocking=*/true);
}

torch::Tensor over(const std::shared_ptr<std::byte>& memory, const std::vector<std::int64_t>& sizes,
                   torch::Dtype dtype) {
    return torch::from_blob(memory.get(), sizes, dtype);
}

}  // namespace

InputConverter::InputConverter(data::SampleLayout layout, const std::vector<double>& mean,
                               const std::vector<double>& std, torch::Dtype dtype, Placement placement)
    : layout_(std::move(layout)), placement_(placement) {
    std::vector<torch::Tensor> tables;
    for (std::size_t c = 0; c < mean.size(); ++c) {
        tables.push_back(
            torch::arange(256, torch::TensorOptions().dtype(dtype)).div_(255).sub_(mean[c]).div_(std.at(c)));
    }
    table_ = torch::stack(tables);
    if (layout_.input.element == data::Element::u8 && table_.size(0) > 1 &&
        table_.size(0) != layout_.input.sizes.front())
        throw base::Error("a normalisation has one mean for each channel, or one for all");
}

TensorBatch InputConverter::operator()(const data::Batch& batch) const {
    const auto input = moved(input_of(batch), placement_.device);
    return {placement_.channels_last ? channels_last(input) : input,
            moved(targets_of(batch), placement_.device)};
}

torch::Tensor InputConverter::input_of(const data::Batch& batch) const {
    const auto sizes = batch_sizes(batch.count, layout_.input);
    if (layout_.input.element == data::Element::f32)
        return over(batch.input, sizes, torch::kFloat).to(table_.scalar_type());
    // For a GPU pinned at once, so that it need not be copied to be.
    torch::Tensor input = torch::empty(sizes, table_.options().pinned_memory(!placement_.device.is_cpu()));
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(batch.input.get());
    const std::int64_t channels = layout_.input.sizes.front();
    const std::int64_t plane = layout_.input.elements() / channels;
    if (table_.scalar_type() == torch::kDouble) {
        look_up<double>(table_, bytes, batch.count * channels, plane, input);
    } else {
        look_up<float>(table_, bytes, batch.count * channels, plane, input);
    }
    return input;
}

torch::Tensor InputConverter::targets_of(const data::Batch& batch) const {
    const auto sizes = batch_sizes(batch.count, layout_.target);
    if (layout_.target.element == data::Element::f32)
        return over(batch.target, sizes, torch::kFloat).to(table_.scalar_type());
    return over(batch.target, sizes, torch::kLong).clone();
}

}  // namespace ranklab::train
