"""GPT-2 and Llama 3 in PyTorch, written from their publications: the twins of lib/nn/models, in plain operations until fast() is called."""

import torch
from torch import nn
from torch.nn import functional as F


def attention(q, k, v):
    """[N, T, heads, head] each; keys and values may have fewer heads."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    repeats = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    tokens = q.shape[2]
    scores = scores.masked_fill(torch.ones(tokens, tokens).triu(1).bool(), float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


def fast(tokens=0, head=0):
    """Makes attention, and Llama's norms and rotations of `tokens` tokens in heads of that size, PyTorch's fused operations."""
    global attention, rotated
    angles = torch.arange(tokens)[:, None] * 500000.0 ** -(torch.arange(0, head, 2) / max(1, head))
    factors = torch.polar(torch.ones_like(angles), angles)[:, None]

    def attention(q, k, v):
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)

    def rotated(x):
        return torch.view_as_real(torch.view_as_complex(x.unflatten(3, (-1, 2))) * factors).flatten(3)

    RmsNorm.forward = lambda self, x: F.rms_norm(x, self.weight.shape, self.weight, 1e-5)


class Gpt2Block(nn.Module):
    def __init__(self, wide, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.c_attn, self.c_proj = nn.LayerNorm(wide), nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
        self.ln_2, self.c_fc, self.mlp_proj = nn.LayerNorm(wide), nn.Linear(wide, 4 * wide), nn.Linear(4 * wide, wide)

    def forward(self, x):
        parts = [t.unflatten(2, (self.heads, -1)) for t in self.c_attn(self.ln_1(x)).chunk(3, 2)]
        x = x + self.c_proj(attention(*parts))
        return x + self.mlp_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers, heads, wide, tokens, vocabulary=50257):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, wide), nn.Embedding(tokens, wide)
        self.depth = layers
        for i in range(layers):
            self.add_module(f"h{i}", Gpt2Block(wide, heads))
        self.ln_f = nn.LayerNorm(wide)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for i in range(self.depth):
            x = getattr(self, f"h{i}")(x)
        return self.ln_f(x) @ self.wte.weight.T


def rotated(x):
    """Pairs (0, 1), (2, 3) ... of each head, turned by t / 500000^(2 k / head)."""
    tokens, head = x.shape[1], x.shape[3]
    angles = torch.arange(tokens, dtype=torch.float64)[:, None] * 500000.0 ** -(torch.arange(0, head, 2, dtype=torch.float64) / head)
    sine, cosine = angles.sin().to(x.dtype)[:, None], angles.cos().to(x.dtype)[:, None]
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(3)


class RmsNorm(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(wide))

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, wide, heads, kv_heads, hidden):
        super().__init__()
        self.head = wide // heads
        keys = kv_heads * self.head
        linear = lambda i, o: nn.Linear(i, o, bias=False)  # noqa: E731
        self.attention_norm, self.ffn_norm = RmsNorm(wide), RmsNorm(wide)
        self.wq, self.wk, self.wv, self.wo = linear(wide, wide), linear(wide, keys), linear(wide, keys), linear(wide, wide)
        self.w1, self.w2, self.w3 = linear(wide, hidden), linear(hidden, wide), linear(wide, hidden)

    def forward(self, x):
        y = self.attention_norm(x)
        q, k, v = (layer(y).unflatten(2, (-1, self.head)) for layer in (self.wq, self.wk, self.wv))
        x = x + self.wo(attention(rotated(q), rotated(k), v))
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, layers, heads, kv_heads, wide, hidden, vocabulary, tied=False):
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocabulary, wide)
        self.depth = layers
        for i in range(layers):
            self.add_module(f"layers{i}", LlamaBlock(wide, heads, kv_heads, hidden))
        self.norm = RmsNorm(wide)
        if not tied:
            self.output = nn.Linear(wide, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.tok_embeddings(tokens)
        for i in range(self.depth):
            x = getattr(self, f"layers{i}")(x)
        return self.norm(x) @ getattr(self, "output", self.tok_embeddings).weight.T


# Names of ranklab's catalogue, --width and the twin at a length.
TWINS = {
    "gpt2-124m": (12, lambda tokens: Gpt2(12, 1, 64, tokens)),
    "llama-debug": (1, lambda tokens: Llama(6, 16, 16, 256, 768, 2048)),
    "llama3-1b": (8, lambda tokens: Llama(16, 4, 1, 256, 1024, 128256, tied=True)),
}


def adamw(parameters, lr, **more):
    """Decay of matrices only."""
    parameters = list(parameters)
    matrices = [p for p in parameters if p.dim() >= 2]
    others = [p for p in parameters if p.dim() < 2]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}], lr=lr, betas=(0.9, 0.95), eps=1e-8, **more)
