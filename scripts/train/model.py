"""The layers that all our networks are trained with, and the encoder's trunk: BERT (6 layers, 12 heads, 384 channels)
with the weights and names of all-MiniLM-L6-v2; GELU in its tanh form, which the exported graphs compute, too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, HIDDEN, INNER, VOCABULARY, POSITIONS = 6, 12, 384, 1536, 30522, 512
EPSILON, DROPOUT = 1e-12, 0.1
OUT = -1e4  # the logit of a token that no answer can begin or end at


def linear(inputs: int, outputs: int) -> nn.Linear:
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
        kept = torch.rand(x.shape[0], 1, x.shape[2], device=x.device) >= DROPOUT
        return x * (kept.to(x.dtype) / (1 - DROPOUT))


class Layer(nn.Module):
    def __init__(self, hidden: int = HIDDEN, inner: int = INNER, epsilon: float = EPSILON) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (linear(hidden, hidden) for _ in range(4))
        self.attention_norm = nn.LayerNorm(hidden, epsilon)
        self.widened, self.narrowed = linear(hidden, inner), linear(inner, hidden)
        self.norm = nn.LayerNorm(hidden, epsilon)
        self.dropout = RowDropout()

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """`bias` is added to the attention's scores: OUT for padding."""
        rows, tokens, hidden = x.shape
        size = hidden // HEADS
        query, key, value = (
            part(x).view(rows, tokens, HEADS, size).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        if x.is_cuda:
            mixed = functional.scaled_dot_product_attention(query, key, value, bias.to(query.dtype))
        else:  # Written out: the fused attention of torch's CPU build takes twice as long backwards.
            scores = (query * size**-0.5) @ key.transpose(-1, -2)
            mixed = (scores + bias.to(scores.dtype)).float().softmax(-1).to(value.dtype) @ value
        x = self.attention_norm(x + self.dropout(self.mixed(mixed.transpose(1, 2).reshape(rows, tokens, hidden))))
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


# Our names, and those of the published weights.
_EMBEDDED = {
    "words": "word_embeddings",
    "positions": "position_embeddings",
    "segments": "token_type_embeddings",
    "norm": "LayerNorm",
}
_IN_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "widened": "intermediate.dense",
    "narrowed": "output.dense",
    "norm": "output.LayerNorm",
}


def published_name(own: str) -> str:
    """The name that a weight has in the published model; the heads keep theirs."""
    stem, _, part = own.rpartition(".")
    if stem in _EMBEDDED:
        return f"embeddings.{_EMBEDDED[stem]}.{part}"
    if stem.startswith("layers."):
        _, number, name = stem.split(".")
        return f"encoder.layer.{number}.{_IN_LAYER[name]}.{part}"
    return own


def load_published(net: nn.Module, published: dict[str, Any], kept: list[int] | None = None) -> None:
    """Put the published weights (name -> numpy array) into the net; of the words those that are `kept` (None: all)."""
    for own, tensor in net.state_dict().items():
        array = published.get(published_name(own))
        if array is not None:
            rows = array[kept] if kept is not None and own == "words.weight" else array[: len(tensor)]
            tensor.copy_(torch.from_numpy(rows))


def weights_of(net: nn.Module) -> dict[str, Any]:
    """All weights as float32 arrays, under the published names where there are any."""
    return {published_name(name): tensor.detach().float().cpu().numpy() for name, tensor in net.state_dict().items()}
