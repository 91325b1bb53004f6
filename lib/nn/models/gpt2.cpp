#include <fmt/format.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cmath>

#include "nn/language.hpp"

namespace ranklab::nn {
namespace {

using torch::nn::LayerNorm;
using torch::nn::Linear;

LayerNorm norm_of(std::int64_t wide) {
    return LayerNorm(torch::nn::LayerNormOptions({wide}));
}

// Attention and a feed-forward part, each after a LayerNorm, each added to its input (residual).
struct Gpt2Block : torch::nn::Module {
    explicit Gpt2Block(const TransformerSizes& sizes) : heads(sizes.heads) {
        ln_1 = register_module("ln_1", norm_of(sizes.wide));
        c_attn = register_module("c_attn", Linear(sizes.wide, 3 * sizes.wide));
        c_proj = register_module("c_proj", Linear(sizes.wide, sizes.wide));
        ln_2 = register_module("ln_2", norm_of(sizes.wide));
        c_fc = register_module("c_fc", Linear(sizes.wide, sizes.hidden));
        mlp_proj = register_module("mlp_proj", Linear(sizes.hidden, sizes.wide));
    }

    torch::Tensor forward(const torch::Tensor& x) {
        const auto parts = c_attn->forward(ln_1->forward(x)).chunk(3, 2);
        const auto split = [this](const torch::Tensor& t) { return t.unflatten(2, {heads, -1}); };
        const auto seen = causal_attention(split(parts[0]), split(parts[1]), split(parts[2]));
        const auto y = x + c_proj->forward(seen);
        return y + mlp_proj->forward(torch::gelu(c_fc->forward(ln_2->forward(y)), "tanh"));
    }

    std::int64_t heads;
    LayerNorm ln_1{nullptr}, ln_2{nullptr};
    Linear c_attn{nullptr}, c_proj{nullptr}, c_fc{nullptr}, mlp_proj{nullptr};
};

// GPT-2 (Radford et al. 2019) as nanoGPT and llm.c train it: learned positions, head tied to the
// embedding, no dropout. Biases start at 0, weights at N(0, 0.02), those of the last layer of a
// residual branch at N(0, 0.02 / sqrt(2 layers)).
class Gpt2 final : public LanguageModel {
  public:
    explicit Gpt2(const TransformerSizes& sizes) {
        using torch::nn::Embedding;
        wte_ = register_module("wte", Embedding(sizes.vocabulary, sizes.wide));
        wpe_ = register_module("wpe", Embedding(sizes.tokens, sizes.wide));
        for (std::int64_t i = 0; i < sizes.layers; ++i)
            blocks_.push_back(
                register_module(fmt::format("h{}", i), std::make_shared<Gpt2Block>(sizes)));
        ln_f_ = register_module("ln_f", norm_of(sizes.wide));
        initialise(0.02 / std::sqrt(2.0 * static_cast<double>(sizes.layers)));
    }

    torch::Tensor forward(const torch::Tensor& tokens) override {
        const auto positions = wpe_->weight.narrow(0, 0, tokens.size(1));
        auto x = wte_->forward(tokens) + positions;
        for (auto& block : blocks_) x = block->forward(x);
        return torch::linear(ln_f_->forward(x), wte_->weight).transpose(1, 2);
    }

  private:
    void initialise(double residual) {
        const torch::NoGradGuard no_gradients;
        for (const auto& item : named_parameters()) {
            const auto& name = item.key();
            if (name.ends_with("bias"))
                item.value().zero_();
            else if (name.ends_with("proj.weight"))
                item.value().normal_(0, residual);
            else if (item.value().dim() == 2)
                item.value().normal_(0, 0.02);
        }
    }

    torch::nn::Embedding wte_{nullptr}, wpe_{nullptr};
    std::vector<std::shared_ptr<Gpt2Block>> blocks_;
    LayerNorm ln_f_{nullptr};
};

struct Gpt2Size {
    const char* name;
    const char* summary;
    std::int64_t layers, heads, wide;
};
constexpr Gpt2Size kGpt2Sizes[] = {
    {"gpt2-124m", "GPT-2, 124,439,808 parameters, 1,024 tokens", 12, 12, 768},
    {"gpt2-350m", "GPT-2 medium, 354,823,168 parameters, 1,024 tokens", 24, 16, 1024},
    {"gpt2-1558m", "GPT-2 XL, 1,557,611,200 parameters, 1,024 tokens", 48, 25, 1600}};

}  // namespace

std::vector<ModelEntry> gpt2_entries() {
    std::vector<ModelEntry> entries;
    for (const auto& [name, summary, layers, heads, wide] : kGpt2Sizes) {
        const TransformerSizes sizes{.layers = layers,
                                     .heads = heads,
                                     .kv_heads = heads,
                                     .wide = wide,
                                     .hidden = 4 * wide,
                                     .tokens = 1024,
                                     .vocabulary = 50257,
                                     .tied = true,
                                     .learned_positions = true};
        entries.push_back(language_entry(name, summary, sizes, 6e-4, 12, [](const auto& some) {
            return std::make_shared<Gpt2>(some);
        }));
    }
    return entries;
}

}  // namespace ranklab::nn
