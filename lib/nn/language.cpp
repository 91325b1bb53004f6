#include "nn/language.hpp"

#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/functional/loss.h>

#include <numeric>

namespace ranklab::nn {

torch::Tensor LanguageModel::loss(const torch::Tensor& scores, const torch::Tensor& tokens) const {
    const auto rows = scores.transpose(1, 2).flatten(0, 1);
    return torch::nn::functional::cross_entropy(rows, tokens.flatten());
}

TransformerSizes TransformerSizes::divided(std::int64_t width, const std::string& model) const {
    require_width(width, std::gcd(std::gcd(heads, kv_heads), hidden), model);
    auto sizes = *this;
    for (auto* const size : {&sizes.heads, &sizes.kv_heads, &sizes.wide, &sizes.hidden})
        *size /= width;
    return sizes;
}

TokenFlops TransformerSizes::flops(std::int64_t parameters) const {
    const auto attention = 2 * wide * (wide + kv_heads * head());
    const auto matrices =
        layers * (attention + (gated ? 3 : 2) * wide * hidden) + vocabulary * wide;
    const auto embeddings =
        (tied ? 0 : vocabulary * wide) + (learned_positions ? tokens * wide : 0);
    return {2 * tokens * matrices + 4 * layers * wide * tokens * tokens,
            static_cast<double>(6 * (parameters - embeddings) + 12 * layers * wide * tokens)};
}

ModelEntry language_entry(
    const std::string& name, const std::string& summary, const TransformerSizes& sizes, double lr,
    std::int64_t batch_size,
    const std::function<std::shared_ptr<Model>(const TransformerSizes& sizes)>& make) {
    const base::Field tokens{base::Element::i64, {sizes.tokens}};
    const auto wanted = [name, sizes](const ModelConfig& config) {
        auto some = sizes.divided(config.width, name);
        some.tokens = config.input.usual_size();
        return some;
    };
    return {.name = name,
            .summary = summary,
            .input = {.classes = sizes.vocabulary, .own = {tokens}, .own_target = tokens},
            .defaults = {.data = "synthetic",
                         .optimizer = "adamw",
                         .lr = lr,
                         .lr_schedule = "cosine",
                         .batch_size = batch_size},
            .make = [=](const ModelConfig& config) { return make(wanted(config)); },
            .flops = [=](const ModelConfig& config,
                         std::int64_t parameters) { return wanted(config).flops(parameters); }};
}

torch::Tensor causal_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v) {
    const bool shares_keys = q.size(2) != k.size(2);
    return at::scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2),
                                            {}, 0.0, /*is_causal=*/true, std::nullopt, shares_keys)
        .transpose(1, 2)
        .flatten(2);
}

}  // namespace ranklab::nn
