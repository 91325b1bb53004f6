"""Networks of torchvision, timm and transformers with random weights, in the form of own_networks.NETWORKS."""

import own_networks
from torch import nn


class Scores(nn.Module):
    """The logits of a network of transformers: of a sentence [N, classes], of each next token [N, tokens, places]."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, tokens):
        logits = self.inner(input_ids=tokens).logits
        return logits.transpose(1, 2) if logits.dim() == 3 else logits


def vit():
    from torchvision.models import VisionTransformer

    return VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64, num_classes=10)


def mixer():
    from timm.models.mlp_mixer import MlpMixer

    return MlpMixer(img_size=32, patch_size=8, num_blocks=2, embed_dim=32, num_classes=10)


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return Scores(GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=16, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)))


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    return Scores(LlamaForCausalLM(LlamaConfig(vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=16)))


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=16,
                        hidden_dropout_prob=0, attention_probs_dropout_prob=0, num_labels=10)
    return Scores(BertForSequenceClassification(config))


IMAGE, TOKENS = [((3, 32, 32), 0)], [((16,), 100)]
own_networks.NETWORKS = {
    "vit": (vit, IMAGE, (), 10),
    "mixer": (mixer, IMAGE, (), 10),
    "gpt2": (gpt2, TOKENS, (16,), 100),
    "llama": (llama, TOKENS, (16,), 100),
    "bert": (bert, TOKENS, (), 10),
}

if __name__ == "__main__":
    own_networks.main()
