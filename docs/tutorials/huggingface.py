"""Networks of Hugging Face's transformers with random weights: `ranklab train --model huggingface.py:gpt2`"""

from torch import nn

inputs, classes = "64:int64", 100  # gpt2 and llama also need --target-shape same, bert --classes 10


class Scores(nn.Module):
    """The logits of a network: of a sentence [N, classes], of each next token [N, classes, tokens]."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, tokens):
        logits = self.inner(input_ids=tokens).logits
        return logits.transpose(1, 2) if logits.dim() == 3 else logits


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return Scores(GPT2LMHeadModel(GPT2Config(vocab_size=classes, n_positions=64, n_embd=32, n_layer=2, n_head=4,
                                             resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)))


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    return Scores(LlamaForCausalLM(LlamaConfig(vocab_size=classes, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                               num_attention_heads=4, max_position_embeddings=64)))


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    return Scores(BertForSequenceClassification(BertConfig(
        vocab_size=classes, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=10,
        max_position_embeddings=64, hidden_dropout_prob=0, attention_probs_dropout_prob=0)))
