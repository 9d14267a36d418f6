"""The evidence reader's network: MPNet's lower layers as its body, and five heads.

The text it sees is `[CLS] question [SEP] title, section: passage [SEP]`; a claim stands as "question = value" in place
of the question. MPNet uses BERT's uncased word pieces, counts them from four on, has its own special tokens and no
segments, and adds one bias for each distance between two tokens to the attention of all layers (Song et al. 2020).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from scripts.train.evidence.tokens import OUT, PAD

Weights = dict[str, npt.NDArray[np.float32]]
DROPOUT = 0.1
BUCKETS, FARTHEST = 32, 128  # of MPNet's distances between tokens
# Width of each head on the first token: answerable; yes, no, undecided; kinds of answer; the verdicts on a claim.
HEADS = {"answerable": 1, "polar": 3, "kind": 8, "claim": 3}
# The measures of all-mpnet-base-v2.
HIDDEN, INNER, ATTENTION_HEADS, VOCABULARY, POSITIONS, EPSILON = 768, 3072, 12, 30_527, 514, 1e-5
FIRST_POSITION = 2


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


class RowDropout(nn.Module):
    """Dropout with one mask for all tokens of a row (Gal and Ghahramani 2016), which needs fewer random numbers."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        kept = torch.rand(x.shape[0], 1, x.shape[2], device=x.device) >= DROPOUT
        return x * (kept.to(x.dtype) / (1 - DROPOUT))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mixed = (_linear(HIDDEN, HIDDEN) for _ in range(4))
        self.attention_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.widened, self.narrowed = _linear(HIDDEN, INNER), _linear(INNER, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        rows, tokens, hidden = x.shape
        size = hidden // ATTENTION_HEADS
        query, key, value = (
            part(x).view(rows, tokens, ATTENTION_HEADS, size).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        # Written out: the fused attention of torch's CPU build takes twice as long backwards.
        scores = (query * size**-0.5) @ key.transpose(-1, -2)
        mixed = (scores + bias.to(scores.dtype)).float().softmax(-1).to(value.dtype) @ value
        x = self.attention_norm(x + self.dropout(self.mixed(mixed.transpose(1, 2).reshape(rows, tokens, hidden))))
        wide = functional.gelu(self.widened(x), approximate="tanh")
        normed: Tensor = self.norm(x + self.dropout(self.narrowed(wide)))
        return normed


class EvidenceReader(nn.Module):
    """Forward takes ids and the mask of passage tokens, shape (pairs, tokens) each.

    `layers` keeps the lowest layers only; the lowest `frozen` of them and the embeddings are not trained.
    """

    def __init__(self, layers: int, frozen: int) -> None:
        super().__init__()
        self.frozen = frozen
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.distances = nn.Embedding(BUCKETS, ATTENTION_HEADS)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.span = _linear(HIDDEN, 2)
        self.heads = nn.ModuleDict({name: _linear(HIDDEN, width) for name, width in HEADS.items()})
        self.pooled = _linear(HIDDEN, HIDDEN)
        for part in self.untrained():
            part.requires_grad_(False)

    def untrained(self) -> list[nn.Module]:
        """What training leaves alone. Word vectors always: rare words keep their meaning, and steps are faster."""
        embeddings = [self.positions, self.norm, self.distances]
        return [self.words, *(embeddings if self.frozen else []), *self.layers[: self.frozen]]

    def train(self, mode: bool = True) -> EvidenceReader:
        super().train(mode)
        if self.frozen:
            for part in (self.dropout, *self.layers[: self.frozen]):
                part.eval()
        return self

    def forward(self, ids: Tensor, text: Tensor) -> dict[str, Tensor]:
        """float32 logits: `span` of shape (pairs, 2, tokens), and one of shape (pairs, width) for each of HEADS."""
        bias = self.attention_bias(ids)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            x = self.embed(ids)
            for layer in self.layers[: self.frozen]:
                x = layer(x, bias)
        for layer in self.layers[self.frozen :]:
            x = layer(x, bias)
        spans = self.span(x).float().transpose(1, 2).masked_fill(~text[:, None, :], OUT)
        first = torch.tanh(self.pooled(x[:, 0]))
        return {"span": spans, **{name: head(first).float() for name, head in self.heads.items()}}

    def embed(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device) + FIRST_POSITION
        embedded: Tensor = self.dropout(self.norm(self.words(ids) + self.positions(places)))
        return embedded

    def attention_bias(self, ids: Tensor) -> Tensor:
        """What is added to the attention's scores: OUT for padding, and the bias of the distance."""
        mask = torch.where(ids != PAD, 0.0, OUT)[:, None, None, :]
        places = torch.arange(ids.shape[1], device=ids.device)
        found: Tensor = self.distances(bucket(places[None, :] - places[:, None]))
        return mask + found.permute(2, 0, 1)[None]


def bucket(distance: Tensor) -> Tensor:
    """The bucket of each distance (key's place less the query's), as in T5: exact near by, then logarithmic."""
    half = BUCKETS // 2
    exact = half // 2
    size = distance.abs()
    far = exact + (size.clamp(min=1).float() / exact).log() / math.log(FARTHEST / exact) * (half - exact)
    return (distance > 0).long() * half + torch.where(size < exact, size, far.long().clamp(max=half - 1))


# Published names and ours. A layer's stand after "encoder.layer.N." and "layers.N.".
_EMBEDDINGS = {
    "embeddings.word_embeddings.": "words.",
    "embeddings.position_embeddings.": "positions.",
    "encoder.relative_attention_bias.": "distances.",
    "embeddings.LayerNorm.": "norm.",
}
_LAYER = {
    "attention.attn.q.": "query.",
    "attention.attn.k.": "key.",
    "attention.attn.v.": "value.",
    "attention.attn.o.": "mixed.",
    "attention.LayerNorm.": "attention_norm.",
    "intermediate.dense.": "widened.",
    "output.dense.": "narrowed.",
    "output.LayerNorm.": "norm.",
}


def published_names(layers: int) -> dict[str, str]:
    """Published stem -> ours, for the parts of the body."""
    return _EMBEDDINGS | {
        f"encoder.layer.{n}.{theirs}": f"layers.{n}.{ours}" for n in range(layers) for theirs, ours in _LAYER.items()
    }


def load_body(model: EvidenceReader, published: Weights) -> None:
    """Put published weights (name -> numpy array) into the body; the heads keep their first values.

    Raises KeyError where a weight of the body is not among them.
    """
    own = model.state_dict()
    with torch.no_grad():
        for theirs, ours in published_names(len(model.layers)).items():
            for part in ("weight", "bias"):
                if ours + part in own:
                    own[ours + part].copy_(torch.from_numpy(published[theirs + part]))


def loss(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> Tensor:
    """The sum of what each head is taught; a target below 0 teaches nothing."""
    total = found["answerable"].new_zeros(())
    spanned = wanted["start"] >= 0
    if spanned.any():
        for place, end in enumerate(("start", "end")):
            total = total + functional.cross_entropy(found["span"][spanned, place], wanted[end][spanned]) / 2
    judged = wanted["answerable"] >= 0
    if judged.any():
        errors = functional.binary_cross_entropy_with_logits(
            found["answerable"][judged, 0], wanted["answerable"][judged].float()
        )
        total = total + errors
    for name, weight in (("polar", 1.0), ("claim", 1.0), ("kind", 0.2)):
        known = wanted[name] >= 0
        if known.any():
            # By the share of the batch that knows it, so that one row of a kind does not count as much as thirty.
            share = known.float().mean().clamp(min=0.1).sqrt()
            total = total + weight * share * functional.cross_entropy(found[name][known], wanted[name][known])
    return total
