"""The evidence reader's network: a body of MiniLM's or MPNet's kind, and five heads.

The text it sees is `[CLS] question [SEP] title, section: passage [SEP]`; a claim stands as "question = value" in place
of the question. Both bodies use BERT's uncased word pieces; MPNet counts them from four on, has its own special tokens,
no segments, and adds one bias for each distance between two tokens to the attention of all layers (Song et al. 2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from scripts.train.evidence.tokens import OUT

Weights = dict[str, npt.NDArray[np.float32]]
DROPOUT = 0.1
BUCKETS, FARTHEST = 32, 128  # of MPNet's distances between tokens
# Width of each head on the first token: answerable; yes, no, undecided; kinds of answer; the verdicts on a claim.
HEADS = {"answerable": 1, "polar": 3, "kind": 8, "claim": 3}


@dataclass(frozen=True, slots=True)
class Body:
    """The measures of a body, and the ids of its special tokens. `shift` is added to the ids of BERT's vocabulary."""

    name: str
    layers: int
    hidden: int
    inner: int
    vocabulary: int
    positions: int
    epsilon: float
    relative: bool
    shift: int
    cls: int
    sep: int
    pad: int
    first_position: int
    heads: int = 12


MINILM = Body("minilm", 6, 384, 1536, 30522, 512, 1e-12, False, 0, 101, 102, 0, 0)
MPNET = Body("mpnet", 12, 768, 3072, 30527, 514, 1e-5, True, 4, 0, 2, 1, 2)
BODIES = {body.name: body for body in (MINILM, MPNET)}


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
    def __init__(self, body: Body) -> None:
        super().__init__()
        self.heads, hidden = body.heads, body.hidden
        self.query, self.key, self.value, self.mixed = (_linear(hidden, hidden) for _ in range(4))
        self.attention_norm = nn.LayerNorm(hidden, body.epsilon)
        self.widened, self.narrowed = _linear(hidden, body.inner), _linear(body.inner, hidden)
        self.norm = nn.LayerNorm(hidden, body.epsilon)
        self.dropout = RowDropout()

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        rows, tokens, hidden = x.shape
        size = hidden // self.heads
        query, key, value = (
            part(x).view(rows, tokens, self.heads, size).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        # Written out: the fused attention of torch's CPU build takes twice as long backwards.
        scores = (query * size**-0.5) @ key.transpose(-1, -2)
        mixed = (scores + bias.to(scores.dtype)).float().softmax(-1).to(value.dtype) @ value
        x = self.attention_norm(x + self.dropout(self.mixed(mixed.transpose(1, 2).reshape(rows, tokens, hidden))))
        wide = functional.gelu(self.widened(x), approximate="tanh")
        normed: Tensor = self.norm(x + self.dropout(self.narrowed(wide)))
        return normed


class EvidenceReader(nn.Module):
    """Forward takes ids, segments and the mask of passage tokens, shape (pairs, tokens) each.

    `layers` keeps the lowest layers only; the lowest `frozen` of them and the embeddings are not trained.
    """

    def __init__(self, body: Body, layers: int, frozen: int) -> None:
        super().__init__()
        self.body, self.frozen = body, frozen
        self.words = nn.Embedding(body.vocabulary, body.hidden)
        self.positions = nn.Embedding(body.positions, body.hidden)
        if body.relative:
            self.distances = nn.Embedding(BUCKETS, body.heads)
        else:
            self.segments = nn.Embedding(2, body.hidden)
        self.norm = nn.LayerNorm(body.hidden, body.epsilon)
        self.dropout = RowDropout()
        self.layers = nn.ModuleList(Layer(body) for _ in range(layers))
        self.span = _linear(body.hidden, 2)
        self.heads = nn.ModuleDict({name: _linear(body.hidden, width) for name, width in HEADS.items()})
        self.pooled = _linear(body.hidden, body.hidden)
        for part in self.untrained():
            part.requires_grad_(False)

    def untrained(self) -> list[nn.Module]:
        """What training leaves alone. Word vectors always: rare words keep their meaning, and steps are faster."""
        embeddings = [self.positions, self.norm, self.distances if self.body.relative else self.segments]
        return [self.words, *(embeddings if self.frozen else []), *self.layers[: self.frozen]]

    def train(self, mode: bool = True) -> EvidenceReader:
        super().train(mode)
        if self.frozen:
            for part in (self.dropout, *self.layers[: self.frozen]):
                part.eval()
        return self

    def forward(self, ids: Tensor, segments: Tensor, text: Tensor) -> dict[str, Tensor]:
        """float32 logits: `span` of shape (pairs, 2, tokens), and one of shape (pairs, width) for each of HEADS."""
        bias = self.attention_bias(ids)
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            x = self.embed(ids, segments)
            for layer in self.layers[: self.frozen]:
                x = layer(x, bias)
        for layer in self.layers[self.frozen :]:
            x = layer(x, bias)
        spans = self.span(x).float().transpose(1, 2).masked_fill(~text[:, None, :], OUT)
        first = torch.tanh(self.pooled(x[:, 0]))
        return {"span": spans, **{name: head(first).float() for name, head in self.heads.items()}}

    def embed(self, ids: Tensor, segments: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device) + self.body.first_position
        x = self.words(ids) + self.positions(places)
        if not self.body.relative:
            x = x + self.segments(segments)
        return self.dropout(self.norm(x))

    def attention_bias(self, ids: Tensor) -> Tensor:
        """What is added to the attention's scores: OUT for padding, and MPNet's bias of the distance."""
        mask = torch.where(ids != self.body.pad, 0.0, OUT)[:, None, None, :]
        if not self.body.relative:
            return mask
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
    "embeddings.token_type_embeddings.": "segments.",
    "encoder.relative_attention_bias.": "distances.",
    "embeddings.LayerNorm.": "norm.",
}
_LAYER = {
    "minilm": {
        "attention.self.query.": "query.",
        "attention.self.key.": "key.",
        "attention.self.value.": "value.",
        "attention.output.dense.": "mixed.",
        "attention.output.LayerNorm.": "attention_norm.",
    },
    "mpnet": {
        "attention.attn.q.": "query.",
        "attention.attn.k.": "key.",
        "attention.attn.v.": "value.",
        "attention.attn.o.": "mixed.",
        "attention.LayerNorm.": "attention_norm.",
    },
}
_FEED_FORWARD = {"intermediate.dense.": "widened.", "output.dense.": "narrowed.", "output.LayerNorm.": "norm."}


def published_names(body: Body, layers: int) -> dict[str, str]:
    """Published stem -> ours, for the parts of the body."""
    parts = _LAYER[body.name] | _FEED_FORWARD
    return _EMBEDDINGS | {
        f"encoder.layer.{n}.{theirs}": f"layers.{n}.{ours}" for n in range(layers) for theirs, ours in parts.items()
    }


def load_body(model: EvidenceReader, published: Weights) -> None:
    """Put published weights (name -> numpy array) into the body; the heads keep their first values.

    Raises KeyError where a weight of the body is not among them.
    """
    own = model.state_dict()
    with torch.no_grad():
        for theirs, ours in published_names(model.body, len(model.layers)).items():
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
