"""The reader's network: MiniLM over `[CLS] need [SEP] title: passage [SEP]` with four heads.

The trunk is BERT (6 layers, 12 heads, 384 channels) with the weights and names of all-MiniLM-L6-v2; GELU in its
tanh form, which the exported graph computes, too. Start and end of the answer are read from the passage's tokens;
relevance, support and kind from [CLS].
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


class Reader(nn.Module):
    """Forward takes ids, segments and the mask of passage tokens, shape (pairs, tokens) each."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.segments = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.span = _linear(HIDDEN, 2)
        self.verdict = _linear(HIDDEN, 5)  # relevance, support, three kinds

    def forward(self, ids: Tensor, segments: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of start and end, shape (pairs, 2, tokens), and the verdict, shape (pairs, 5); float32."""
        places = torch.arange(ids.shape[1])
        x = self.dropout(self.norm(self.words(ids) + self.positions(places) + self.segments(segments)))
        mask = torch.where(ids != 0, 0.0, OUT)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        spans = self.span(x).float().transpose(1, 2).masked_fill(~text[:, None, :], OUT)
        return spans, self.verdict(x[:, 0]).float()


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


def load_trunk(model: Reader, published: dict[str, Any]) -> None:
    """Put the published weights (name -> numpy array) into the trunk; the heads keep their first values."""
    own = model.state_dict()
    for theirs, ours in _NAMES.items():
        for part in ("weight", "bias"):
            if ours + part in own:
                own[ours + part].copy_(torch.from_numpy(published[theirs + part]))


def published_names(model: Reader) -> dict[str, Any]:
    """All weights as float32 numpy arrays: the trunk's under the published names, the heads' under their own."""
    own = {name: tensor.detach().float().numpy() for name, tensor in model.state_dict().items()}
    back = {ours: theirs for theirs, ours in _NAMES.items()}
    named = {}
    for name, array in own.items():
        stem, part = name.rsplit(".", 1)
        named[back.get(f"{stem}.", f"{stem}.") + part] = array
    return named


def loss(spans: Tensor, verdict: Tensor, start: Tensor, end: Tensor, judged: Tensor, kind: Tensor) -> Tensor:
    """The sum of what each head is taught; `judged` (pairs, 2) holds relevance and support. Below 0 teaches nothing."""
    total = verdict.new_zeros(())
    answered = start >= 0
    if answered.any():
        total = total + functional.cross_entropy(spans[answered, 0], start[answered]) / 2
        total = total + functional.cross_entropy(spans[answered, 1], end[answered]) / 2
    for column, weight in ((0, 1.0), (1, 0.5)):
        known = judged[:, column] >= 0
        if known.any():
            errors = functional.binary_cross_entropy_with_logits(verdict[known, column], judged[known, column])
            total = total + weight * errors
    sorted_kinds = kind >= 0
    if sorted_kinds.any():
        total = total + 0.3 * functional.cross_entropy(verdict[sorted_kinds, 2:], kind[sorted_kinds])
    return total
