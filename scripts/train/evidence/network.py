"""The evidence reader's network: layers of MPNet as its body, and five heads.

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
from scripts.train.model import HEADS as ATTENTION_HEADS
from scripts.train.model import Layer, RowDropout, linear, load_published

Weights = dict[str, npt.NDArray[np.float32]]
BUCKETS, FARTHEST = 32, 128  # of MPNet's distances between tokens
# Width of each head on the first token: answerable; yes, no, undecided; kinds of answer; the verdicts on a claim.
HEADS = {"answerable": 1, "polar": 3, "kind": 8, "claim": 3}
# The measures of all-mpnet-base-v2.
LAYERS, STUDENT_LAYERS = 12, 8
HIDDEN, INNER, VOCABULARY, POSITIONS, EPSILON = 768, 3072, 30_527, 514, 1e-5
FIRST_POSITION = 2


class EvidenceReader(nn.Module):
    """Forward takes ids and the mask of passage tokens, shape (pairs, tokens) each.

    `layers` is how many there are. Word vectors are never trained: rare words keep their meaning. Nor are the
    biases of the distances, which fused attention learns slowly.
    """

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, HIDDEN)
        self.positions = nn.Embedding(POSITIONS, HIDDEN)
        self.distances = nn.Embedding(BUCKETS, ATTENTION_HEADS)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()
        self.layers = nn.ModuleList(Layer(HIDDEN, INNER, EPSILON) for _ in range(layers))
        self.span = linear(HIDDEN, 2)
        self.heads = nn.ModuleDict({name: linear(HIDDEN, width) for name, width in HEADS.items()})
        self.pooled = linear(HIDDEN, HIDDEN)
        self.words.requires_grad_(False)
        self.distances.requires_grad_(False)

    @property
    def device(self) -> str:
        return self.words.weight.device.type

    def forward(self, ids: Tensor, text: Tensor) -> dict[str, Tensor]:
        """float32 logits: `span` of shape (pairs, 2, tokens), and one of shape (pairs, width) for each of HEADS; and
        the `hidden` states of shape (pairs, tokens, HIDDEN)."""
        bias = self.attention_bias(ids)
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, bias)
        spans = self.span(x).float().transpose(1, 2).masked_fill(~text[:, None, :], OUT)
        first = torch.tanh(self.pooled(x[:, 0]))
        return {"span": spans, "hidden": x, **{name: head(first).float() for name, head in self.heads.items()}}

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


# What MPNet calls otherwise than BERT does.
_AS_BERT = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
    "encoder.relative_attention_bias.": "distances.",
}


def load_body(model: EvidenceReader, published: Weights) -> None:
    """Put published weights (name -> numpy array) into the body; the heads keep their first values."""
    named = {}
    for name, array in published.items():
        for theirs, berts in _AS_BERT.items():
            name = name.replace(theirs, berts)
        named[name] = array
    load_published(model, named)


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
