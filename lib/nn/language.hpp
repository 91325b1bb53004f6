// What the language models share: their configuration's sizes, causal attention and the loss.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "nn/model.hpp"

namespace ranklab::nn {

/// A decoder-only transformer over tokens. forward() maps tokens [N, T], int64, to scores
/// [N, vocabulary, T], a view of [N, T, vocabulary].
class LanguageModel : public Model {
  public:
    /// The mean cross-entropy over all tokens, in nats.
    torch::Tensor loss(const torch::Tensor& scores, const torch::Tensor& tokens) const final;
};

/// Sizes of a transformer. ModelConfig::width divides heads, key-value heads, `wide` and `hidden`;
/// the size of a head stays.
struct TransformerSizes {
    std::int64_t layers = 0, heads = 0, kv_heads = 0;
    std::int64_t wide = 0;    ///< channels of a token
    std::int64_t hidden = 0;  ///< inner channels of the feed-forward part
    std::int64_t tokens = 0;  ///< of a sample
    std::int64_t vocabulary = 0;
    bool tied = false;               ///< the head's weights are the embedding's
    bool learned_positions = false;  ///< a parameter per position and channel
    bool gated = false;              ///< a third matrix in the feed-forward part

    /// Forward FLOPs by the shapes, with all T x T pairs of tokens. Training FLOPs: 6 N + 12 layers
    /// heads head T, N the `parameters` without those of embeddings (a tied head counts): PaLM
    /// (arXiv:2204.02311), appendix B. Both count the pairs that a kernel may skip.
    TokenFlops flops(std::int64_t parameters) const;

    std::int64_t head() const { return wide / heads; }
    /// Throws OptionError unless `width` divides `heads`, `kv_heads` and `hidden` of `model`.
    TransformerSizes divided(std::int64_t width, const std::string& model) const;
};

/// An entry whose sample is `sizes.tokens` tokens and, as target, the token after each.
ModelEntry language_entry(
    const std::string& name, const std::string& summary, const TransformerSizes& sizes, double lr,
    std::int64_t batch_size,
    const std::function<std::shared_ptr<Model>(const TransformerSizes& sizes)>& make);

/// softmax(q k^T / sqrt(head)) v, in which a token attends to itself and earlier tokens. `q` is
/// [N, T, heads, head], `k` and `v` are [N, T, kv_heads, head]; returns [N, T, heads * head].
torch::Tensor causal_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v);

}  // namespace ranklab::nn
