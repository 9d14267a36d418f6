"""The network that the encoder is trained with: BERT (6 layers, 12 heads, 384 channels) with the weights and names of
all-MiniLM-L6-v2; GELU in its tanh form, which the exported graph computes, too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, HIDDEN, INNER, VOCABULARY, POSITIONS = 6, 12, 384, 1536, 30522, 512
EPSILON, DROPOUT = 1e-12, 0.1
OUT = -1e4  # the logit of a token that no answer can begin or end at


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


class RowDropout(nn.Module):
    """Dropout with one mask for all tokens of a row (Gal and Ghahramani, 2016): random numbers cost a tenth of a step
    otherwise."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        kept = torch.rand(x.shape[0], 1, x.shape[2]) >= DROPOUT
        return x * (kept.to(x.dtype) / (1 - DROPOUT))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (_linear(HIDDEN, HIDDEN) for _ in range(3))
        self.mixed = _linear(HIDDEN, HIDDEN)
        self.attention_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.widened, self.narrowed = _linear(HIDDEN, INNER), _linear(INNER, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        rows, tokens, _ = x.shape
        query, key, value = (
            part(x).view(rows, tokens, HEADS, HIDDEN // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # Written out: the fused attention of torch's CPU build takes twice as long backwards.
        scores = (query * (HIDDEN // HEADS) ** -0.5) @ key.transpose(-1, -2)
        mixed = (scores + mask.to(scores.dtype)).float().softmax(-1).to(value.dtype) @ value
        x = self.attention_norm(x + self.dropout(self.mixed(mixed.transpose(1, 2).reshape(rows, tokens, HIDDEN))))
        wide = functional.gelu(self.widened(x), approximate="tanh")
        normed: Tensor = self.norm(x + self.dropout(self.narrowed(wide)))
        return normed


class Trunk(nn.Module):
    """Embeddings and layers; `train_encoder.Texts` runs them."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.segments = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))


# The names of the published weights, and ours; a layer's come after "encoder.layer.N." and "layers.N.".
_TRUNK = {
    "embeddings.word_embeddings.": "words.",
    "embeddings.position_embeddings.": "positions.",
    "embeddings.token_type_embeddings.": "segments.",
    "embeddings.LayerNorm.": "norm.",
}
_LAYER = {
    "attention.self.query.": "query.",
    "attention.self.key.": "key.",
    "attention.self.value.": "value.",
    "attention.output.dense.": "mixed.",
    "attention.output.LayerNorm.": "attention_norm.",
    "intermediate.dense.": "widened.",
    "output.dense.": "narrowed.",
    "output.LayerNorm.": "norm.",
}
_NAMES = _TRUNK | {
    f"encoder.layer.{n}.{theirs}": f"layers.{n}.{ours}" for n in range(LAYERS) for theirs, ours in _LAYER.items()
}


def load_trunk(model: Trunk, published: dict[str, Any]) -> None:
    """Put the published weights (name -> numpy array) into the trunk."""
    own = model.state_dict()
    for theirs, ours in _NAMES.items():
        for part in ("weight", "bias"):
            if ours + part in own:
                own[ours + part].copy_(torch.from_numpy(published[theirs + part]))


def published_names(model: Trunk) -> dict[str, Any]:
    """All weights as float32 numpy arrays: under the published names."""
    own = {name: tensor.detach().float().numpy() for name, tensor in model.state_dict().items()}
    back = {ours: theirs for theirs, ours in _NAMES.items()}
    named = {}
    for name, array in own.items():
        stem, part = name.rsplit(".", 1)
        named[back.get(f"{stem}.", f"{stem}.") + part] = array
    return named
