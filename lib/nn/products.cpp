#include "nn/outline.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <string_view>

namespace ranklab::nn {
namespace {

std::int64_t elements_behind_first(const at::Tensor& t) {
    std::int64_t product = 1;
    for (std::int64_t d = 1; d < t.dim(); ++d) product *= t.size(d);
    return product;
}

// Each element of a convolution's output, or of a transposed convolution's input, takes one
// multiply-accumulate for each weight of its channel, weight[channel].
std::unique_ptr<Products> of_convolution(c10::ArrayRef<const c10::IValue> inputs) {
    const auto& input = inputs[0].toTensor();
    const bool transposed = inputs[6].toBool();
    return std::make_unique<Products>(
        Products{.macs = elements_behind_first(inputs[1].toTensor()) *
                         (transposed ? elements_behind_first(input) : 1),
                 .times_the_output = !transposed,
                 .rows = input.size(0)});
}

// Operations that take `macs` for each row of `left`.
std::unique_ptr<Products> of_rows(const at::Tensor& left, std::int64_t macs) {
    const std::int64_t width = std::max<std::int64_t>(1, left.size(-1));
    return std::make_unique<Products>(Products{.macs = macs, .rows = left.numel() / width});
}

std::unique_ptr<Products> of_matrices(const at::Tensor& left, const at::Tensor& right) {
    return of_rows(left, right.size(-2) * right.size(-1));
}

// Each query is multiplied with each key, and its softmax with each value.
std::unique_ptr<Products> of_attention(const at::Tensor& queries, const at::Tensor& keys,
                                       const at::Tensor& values) {
    return of_rows(queries, keys.size(-2) * (keys.size(-1) + values.size(-1)));
}

}  // namespace

std::int64_t Products::macs_of_row(const at::RecordFunction& function) const {
    return macs *
           (times_the_output ? elements_behind_first(function.outputs().back().toTensor()) : 1);
}

c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& function) {
    const auto stack = function.inputs();
    const auto own = std::min(stack.size(), function.num_inputs());
    return stack.slice(stack.size() - own);
}

bool is_attention(const at::RecordFunction& function) {
    return std::string_view(function.name()).find("scaled_dot_product_") != std::string_view::npos;
}

std::unique_ptr<Products> products_of(const at::RecordFunction& function) {
    const std::string_view name = function.name();
    const auto inputs = inputs_of(function);
    if (name == "aten::convolution" || name == "aten::_convolution") return of_convolution(inputs);
    if (name == "aten::addmm" || name == "aten::baddbmm")
        return of_matrices(inputs[1].toTensor(), inputs[2].toTensor());
    if (name == "aten::mm" || name == "aten::bmm")
        return of_matrices(inputs[0].toTensor(), inputs[1].toTensor());
    if (name.starts_with("aten::_scaled_dot_product_"))
        return of_attention(inputs[0].toTensor(), inputs[1].toTensor(), inputs[2].toTensor());
    if (name == "aten::mkldnn_rnn_layer")  // an LSTM's layer with its weights of input and state
        return of_rows(inputs[0].toTensor(),
                       inputs[1].toTensor().numel() + inputs[2].toTensor().numel());
    return nullptr;
}

}  // namespace ranklab::nn
