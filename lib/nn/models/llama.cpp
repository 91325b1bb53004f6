#include <ATen/ops/polar.h>
#include <ATen/ops/rms_norm.h>
#include <fmt/format.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <numbers>

#include "nn/language.hpp"

namespace ranklab::nn {
namespace {

using torch::nn::Embedding;
using torch::nn::Linear;

Linear without_bias(std::int64_t in, std::int64_t out) {
    return Linear(torch::nn::LinearOptions(in, out).bias(false));
}

struct RmsNorm : torch::nn::Module {
    explicit RmsNorm(std::int64_t wide) {
        weight = register_parameter("weight", torch::ones(wide));
    }
    torch::Tensor forward(const torch::Tensor& x) {
        return at::rms_norm(x, weight.sizes(), weight, 1e-5);
    }
    torch::Tensor weight;
};

// Rotary positions (Su et al., arXiv:2104.09864): the factors e^(i t / theta^(2 k / head)) of token
// t and pair k, [T, 1, head / 2], of the complex type that belongs to `real`.
torch::Tensor rotations(std::int64_t tokens, std::int64_t head, torch::Dtype real,
                        torch::Device device) {
    constexpr double kTheta = 500000;
    const auto options = torch::TensorOptions(torch::kDouble).device(device);
    const auto pairs = torch::arange(0, head, 2, options) / static_cast<double>(head);
    const auto angles =
        torch::outer(torch::arange(tokens, options), torch::pow(kTheta, -pairs)).unsqueeze(1);
    return at::polar(torch::ones_like(angles), angles)
        .to(real == torch::kDouble ? torch::kComplexDouble : torch::kComplexFloat);
}

// Rotates the pairs (0, 1), (2, 3) ... of each head of `x`, [N, T, heads, head].
torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& factors) {
    const auto real =
        factors.scalar_type() == torch::kComplexDouble ? torch::kDouble : torch::kFloat;
    const auto pairs = torch::view_as_complex(x.to(real).unflatten(3, {-1, 2}));
    return torch::view_as_real(pairs * factors).flatten(3).to(x.scalar_type());
}

// Attention with shared keys and SwiGLU, each after an RMSNorm, each added to its input (residual).
struct LlamaBlock : torch::nn::Module {
    LlamaBlock(const TransformerSizes& sizes, std::int64_t depth) : head(sizes.head()) {
        const auto wide = sizes.wide, keys = sizes.kv_heads * head;
        attention_norm = register_module("attention_norm", std::make_shared<RmsNorm>(wide));
        wq = register_module("wq", without_bias(wide, wide));
        wk = register_module("wk", without_bias(wide, keys));
        wv = register_module("wv", without_bias(wide, keys));
        wo = register_module("wo", without_bias(wide, wide));
        ffn_norm = register_module("ffn_norm", std::make_shared<RmsNorm>(wide));
        w1 = register_module("w1", without_bias(wide, sizes.hidden));
        w2 = register_module("w2", without_bias(sizes.hidden, wide));
        w3 = register_module("w3", without_bias(wide, sizes.hidden));
        const torch::NoGradGuard no_gradients;
        for (auto* const layer : {&wq, &wk, &wv, &w1}) (*layer)->weight.normal_(0, 0.02);
        const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(depth + 1));
        for (auto* const layer : {&wo, &w2, &w3}) (*layer)->weight.normal_(0, residual);
    }

    torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& factors) {
        const auto normed = attention_norm->forward(x);
        const auto heads_of = [&](Linear& layer) {
            return layer->forward(normed).unflatten(2, {-1, head});
        };
        const auto seen = causal_attention(rotated(heads_of(wq), factors),
                                           rotated(heads_of(wk), factors), heads_of(wv));
        const auto y = x + wo->forward(seen);
        const auto inner = ffn_norm->forward(y);
        return y + w2->forward(torch::silu(w1->forward(inner)) * w3->forward(inner));
    }

    std::int64_t head;
    std::shared_ptr<RmsNorm> attention_norm, ffn_norm;
    Linear wq{nullptr}, wk{nullptr}, wv{nullptr}, wo{nullptr};
    Linear w1{nullptr}, w2{nullptr}, w3{nullptr};
};

// Llama 3 (arXiv:2407.21783), with torchtitan's initial weights: normal, with standard deviation 1
// in the embedding, 0.02 in blocks (wo, w2 and w3: divided by sqrt(2 (depth + 1))), and 1 /
// sqrt(wide) in the head, cut at three deviations.
class Llama final : public LanguageModel {
  public:
    explicit Llama(const TransformerSizes& sizes) : head_size_(sizes.head()) {
        embedding_ = register_module("tok_embeddings", Embedding(sizes.vocabulary, sizes.wide));
        for (std::int64_t i = 0; i < sizes.layers; ++i)
            blocks_.push_back(register_module(fmt::format("layers{}", i),
                                              std::make_shared<LlamaBlock>(sizes, i)));
        norm_ = register_module("norm", std::make_shared<RmsNorm>(sizes.wide));
        if (!sizes.tied)
            output_ = register_module("output", without_bias(sizes.wide, sizes.vocabulary));
        initialise_head(1 / std::sqrt(static_cast<double>(sizes.wide)));
    }

    torch::Tensor forward(const torch::Tensor& tokens) override {
        auto x = embedding_->forward(tokens);
        const auto factors = rotations(tokens.size(1), head_size_, embedding_->weight.scalar_type(),
                                       tokens.device());
        for (auto& block : blocks_) x = block->forward(x, factors);
        return torch::linear(norm_->forward(x), head_weight()).transpose(1, 2);
    }

  private:
    torch::Tensor head_weight() { return output_ ? output_->weight : embedding_->weight; }

    // Draws from a normal distribution cut at 3 deviations, through its inverse.
    void initialise_head(double deviation) {
        const torch::NoGradGuard no_gradients;
        const double edge = std::erf(3 / std::numbers::sqrt2);
        head_weight().uniform_(-edge, edge).erfinv_().mul_(deviation * std::numbers::sqrt2);
    }

    std::int64_t head_size_;
    Embedding embedding_{nullptr};
    std::vector<std::shared_ptr<LlamaBlock>> blocks_;
    std::shared_ptr<RmsNorm> norm_;
    Linear output_{nullptr};
};

ModelEntry entry(const char* name, const char* summary, TransformerSizes sizes, double lr,
                 std::int64_t batch_size) {
    sizes.gated = true;
    return language_entry(name, summary, sizes, lr, batch_size,
                          [](const auto& some) { return std::make_shared<Llama>(some); });
}

}  // namespace

std::vector<ModelEntry> llama_entries() {
    // Layers, heads, key-value heads, channels, inner channels, tokens, vocabulary, tied.
    return {entry("llama-debug", "torchtitan's small Llama 3, 6,163,712 parameters, 2,048 tokens",
                  {6, 16, 16, 256, 768, 2048, 2048, false}, 8e-4, 8),
            entry("llama3-1b", "Llama 3.2 1B, 1,235,814,400 parameters, 8,192 tokens",
                  {16, 32, 8, 2048, 8192, 8192, 128256, true}, 3e-4, 1),
            entry("llama3-8b", "Llama 3 8B, 8,030,261,248 parameters, 8,192 tokens",
                  {32, 32, 8, 4096, 14336, 8192, 128256, false}, 3e-4, 1)};
}

}  // namespace ranklab::nn
