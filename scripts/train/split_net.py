"""The splitter's network: the first layers of MiniLM over a question's word pieces, a score for each stretch of pieces.

A stretch is a pair (first piece, last piece). Each channel scores all pairs by a product of two projections (biaffine
span scoring, Yu et al. 2020): three channels say that a stretch is a phrase, a clause or a part of a comparison, five
say what it asks for, one that it is a name. The kind of the question and the classes of plain facts (`wording`) are
read from [CLS]. Capitals and quotes, which the uncased word pieces do not show, come in as a shape of each piece.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from iterative_rag.builtin.question.span_decoding import CONTINUED
from iterative_rag.builtin.question.splitter import MAX_PIECES, SHAPES, shapes_of
from iterative_rag.builtin.question.wording import HEADS, Act
from scripts.train.model import EPSILON, HIDDEN, OUT, Layer, RowDropout
from scripts.train.split_data import ASKS, Example, Target, mark_asks
from scripts.train.split_marks import KINDS, LABELS, UNKNOWN

WIDTH = 32  # of a channel's projections
NAME = len(LABELS) + len(ASKS)  # the channel of names
CHANNELS = NAME + 1
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def cut_tokenizer(published: str, asked: Iterable[str], first: int, seen: int) -> tuple[str, list[int]]:
    """The tokenizer with fewer word pieces, and the rows of the embeddings that it keeps.

    Kept are letters and signs of European scripts, the `first` pieces of the published order (which is about that of
    their frequency), and those that stand at least `seen` times in the questions asked. What is left out is read as
    smaller pieces; a word with letters of other scripts as one unknown piece.
    """
    spec = json.loads(published)
    pieces: dict[str, int] = spec["model"]["vocab"]
    whole = Tokenizer.from_str(published)
    counted = Counter(number for question in asked for number in whole.encode(question, add_special_tokens=False).ids)
    kept = [
        (number, piece)
        for piece, number in pieces.items()
        if piece in SPECIAL
        or _letter(piece.removeprefix(CONTINUED))
        or (number < first and not piece.startswith("[unused") and _european(piece))
        or counted[number] >= seen
    ]
    kept.sort()
    numbers = {piece: place for place, (_, piece) in enumerate(kept)}
    spec["model"]["vocab"] = numbers
    spec["added_tokens"] = [
        {**token, "id": numbers[token["content"]]} for token in spec["added_tokens"] if token["content"] in numbers
    ]
    for token in spec["post_processor"]["special_tokens"].values():
        token["ids"] = [numbers[piece] for piece in token["tokens"]]
    return json.dumps(spec, ensure_ascii=False), [number for number, _ in kept]


def _european(piece: str) -> bool:
    return all(ord(character) < 0x590 or 0x2010 <= ord(character) <= 0x20BF for character in piece)


def _letter(piece: str) -> bool:
    return len(piece) == 1 and _european(piece)


@dataclass(frozen=True, slots=True)
class Row:
    """An example as pieces; `spans` are (first, last, label, asks) by piece, `told` the class of each head."""

    ids: list[int]
    shapes: list[int]
    begins: list[bool]
    ends: list[bool]
    kind: int
    spans: list[tuple[int, int, int, int]] | None
    told: tuple[int, ...] | None = None
    names: tuple[tuple[int, int], ...] = ()


def row_of(tokenizer: Tokenizer, example: Example) -> Row:
    encoding = tokenizer.encode(example.question)
    ids, shapes = encoding.ids[:MAX_PIECES], shapes_of(example.question, encoding.offsets)[:MAX_PIECES]
    continued = [token.startswith(CONTINUED) for token in encoding.tokens[:MAX_PIECES]] + [False]
    special = [bool(flag) for flag in encoding.special_tokens_mask[:MAX_PIECES]]
    begins = [not continued[place] and not special[place] for place in range(len(ids))]
    ends = [not continued[place + 1] and not special[place] for place in range(len(ids))]
    first = {start: place for place, (start, _) in enumerate(encoding.offsets[: len(ids)]) if begins[place]}
    last = {end: place for place, (_, end) in enumerate(encoding.offsets[: len(ids)]) if ends[place]}
    spans: list[tuple[int, int, int, int]] | None = None
    if example.marks is not None:
        spans = [
            (first[mark.start], last[mark.end], mark.label, mark_asks(example.question, mark))
            for mark in example.marks
            if mark.start in first and mark.end in last
        ]
        if len(spans) < len(example.marks):
            spans = None
    told, names = _plain_fact(example.target, first, last)
    return Row(ids, shapes, begins, ends, example.kind, spans, told, names)


def _plain_fact(
    target: Target | None, first: dict[int, int], last: dict[int, int]
) -> tuple[tuple[int, ...] | None, tuple[tuple[int, int], ...]]:
    """The class of each head (-1 where it does not matter) and the names by piece; nothing where a name is cut off."""
    if target is None or not all(a in first and b in last for a, b in target.names):
        return None, ()
    said = (target.act.value, target.attribute, target.relation, target.further)
    classes = [head.index(one) if one in head else -1 for head, one in zip(HEADS, said, strict=True)]
    if target.act is Act.OTHER:
        classes[1:] = [-1] * (len(HEADS) - 1)
    return tuple(classes), tuple((first[a], last[b]) for a, b in target.names)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one length class, padded: ids, shapes, allowed stretches, kinds, and what the stretches are."""

    ids: Tensor
    shapes: Tensor
    allowed: Tensor
    kinds: Tensor
    targets: Tensor
    known: Tensor
    asked: Tensor
    told: Tensor
    names: Tensor
    named: Tensor


def batch_of(rows: list[Row]) -> Batch:
    count, longest = len(rows), max(len(row.ids) for row in rows)
    ids, shapes = np.zeros((count, longest), np.int64), np.zeros((count, longest), np.int64)
    allowed = np.zeros((count, longest, longest), bool)
    targets = np.zeros((count, len(LABELS), longest, longest), np.float32)
    asked: list[tuple[int, int, int, int]] = []
    names = np.zeros((count, longest, longest), np.float32)
    for place, row in enumerate(rows):
        size = len(row.ids)
        ids[place, :size], shapes[place, :size] = row.ids, row.shapes
        allowed[place, :size, :size] = np.triu(np.outer(row.begins, row.ends))
        for first, last, label, asks in row.spans or ():
            targets[place, label, first, last] = 1
            if asks >= 0:
                asked.append((place, first, last, asks))
        for first, last in row.names:
            names[place, first, last] = 1
    return Batch(
        torch.from_numpy(ids),
        torch.from_numpy(shapes),
        torch.from_numpy(allowed),
        torch.tensor([row.kind for row in rows]),
        torch.from_numpy(targets),
        torch.tensor([row.spans is not None for row in rows]),
        torch.tensor(asked, dtype=torch.int64).reshape(-1, 4),
        torch.tensor([row.told or (-1,) * len(HEADS) for row in rows]),
        torch.from_numpy(names),
        torch.tensor([bool(row.names) for row in rows]),
    )


class SplitterNet(nn.Module):
    """Forward takes ids and shapes, (questions, pieces) each."""

    def __init__(self, vocabulary: int, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, HIDDEN)
        self.positions = nn.Embedding(MAX_PIECES, HIDDEN)
        self.segments = nn.Embedding(2, HIDDEN)
        self.shapes = nn.Embedding(SHAPES, HIDDEN)
        nn.init.zeros_(self.shapes.weight)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.dropout = RowDropout()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.first, self.last = nn.Linear(HIDDEN, CHANNELS * WIDTH), nn.Linear(HIDDEN, CHANNELS * WIDTH)
        self.kind = nn.Linear(HIDDEN, len(KINDS))
        self.wording = nn.Linear(HIDDEN, sum(len(head) for head in HEADS))
        self.bias = nn.Parameter(torch.full((CHANNELS,), -4.0))

    def forward(self, ids: Tensor, shapes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores of stretches, (questions, channels, first, last), of kinds and of the wording's classes, float32."""
        places = torch.arange(ids.shape[1])
        x = self.words(ids) + self.positions(places) + self.segments.weight[0] + self.shapes(shapes)
        x = self.dropout(self.norm(x))
        mask = torch.where(ids != 0, 0.0, OUT)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        rows, pieces, _ = x.shape
        first, last = (
            part(x).view(rows, pieces, CHANNELS, WIDTH).transpose(1, 2).float() for part in (self.first, self.last)
        )
        scores = first @ last.transpose(-1, -2) * WIDTH**-0.5 + self.bias[:, None, None]
        return scores, self.kind(x[:, 0]).float(), self.wording(x[:, 0]).float()


def loss(scores: Tensor, kinds: Tensor, wordings: Tensor, batch: Batch) -> Tensor:
    """Kind by cross entropy; stretches and names by binary cross entropy summed over a question; the
    classes of plain facts, and what stretches ask, where known."""
    total = kinds.new_zeros(())
    told = batch.kinds != UNKNOWN
    if told.any():
        total = total + functional.cross_entropy(kinds[told], batch.kinds[told])
    if batch.known.any():
        labels = scores[batch.known, : len(LABELS)]
        errors = functional.binary_cross_entropy_with_logits(labels, batch.targets[batch.known], reduction="none")
        total = total + (errors * batch.allowed[batch.known][:, None]).sum((1, 2, 3)).mean()
    if len(batch.asked):
        place, first, last, asks = batch.asked.T
        total = total + 0.3 * functional.cross_entropy(scores[place, len(LABELS) : NAME, first, last], asks)
    at = 0
    for number, head in enumerate(HEADS):
        wanted = batch.told[:, number]
        if (wanted >= 0).any():
            total = total + functional.cross_entropy(wordings[:, at : at + len(head)], wanted, ignore_index=-1)
        at += len(head)
    if batch.named.any():
        errors = functional.binary_cross_entropy_with_logits(
            scores[batch.named, NAME], batch.names[batch.named], reduction="none"
        )
        total = total + (errors * batch.allowed[batch.named]).sum((1, 2)).mean()
    return total
