"""Networks of torchvision, timm and transformers with random weights, in the form of own_networks.NETWORKS."""

import own_networks  # adds docs/tutorials to the path
import huggingface


def vit():
    from torchvision.models import VisionTransformer

    return VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64, num_classes=10)


def mixer():
    from timm.models.mlp_mixer import MlpMixer

    return MlpMixer(img_size=32, patch_size=8, num_blocks=2, embed_dim=32, num_classes=10)


IMAGE, TOKENS = [((3, 32, 32), 0)], [((16,), 100)]
own_networks.NETWORKS = {
    "vit": (vit, IMAGE, (), 10),
    "mixer": (mixer, IMAGE, (), 10),
    "gpt2": (huggingface.gpt2, TOKENS, (16,), 100),
    "llama": (huggingface.llama, TOKENS, (16,), 100),
    "bert": (huggingface.bert, TOKENS, (), 10),
}

if __name__ == "__main__":
    own_networks.main()
