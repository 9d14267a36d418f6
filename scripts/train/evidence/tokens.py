"""Examples as arrays of word pieces, in batches of like length, in files that training reads one after another."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from iterative_rag.builtin.reading.evidence_reader import asked_ids, heading_ids
from scripts.train.evidence.drawing import NOTHING, Example

MAX_TOKENS, WIDTH_STEP = 256, 32
BATCH, SORTED = 32_768, 20_000  # tokens of a batch; examples that are sorted by length together
TARGETS = ("start", "end", "answerable", "polar", "kind", "claim")
SHIFT, CLS, SEP, PAD = 4, 0, 2, 1  # of MPNet: what is added to the ids of BERT's vocabulary, and its special tokens
Ints = npt.NDArray[np.int64]
OUT = -1e4  # the logit of a token where no answer can begin or end
Ids = Sequence[int] | npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Word pieces of BERT's vocabulary without special tokens: the question, heading and passage, the character offsets
    of the passage's pieces, and the targets in the order of TARGETS (places count in the passage)."""

    question: Ids
    heading: Ids
    passage: Ids
    offsets: tuple[tuple[int, int], ...]
    targets: tuple[int, ...]


def length(pieces: Pieces) -> int:
    return len(pieces.question) + len(pieces.heading) + len(pieces.passage)


def padded(pieces: Pieces) -> int:
    """Tokens with the special ones, rounded up to a multiple of WIDTH_STEP."""
    return -(-(length(pieces) + 3) // WIDTH_STEP) * WIDTH_STEP


class Cutter:
    """Makes pieces of at most MAX_TOKENS with their special tokens; longer passages are cut around the answer."""

    def __init__(self, tokenizer: Tokenizer, most: int = MAX_TOKENS) -> None:
        self._tokenizer, self._most = tokenizer, most

    def cut(self, example: Example, chance: random.Random) -> Pieces:
        shown = example.shown
        question = asked_ids(self._tokenizer, example.question, example.value)
        head = heading_ids(self._tokenizer, shown.title, shown.section)
        text = self._tokenizer.encode(shown.text, add_special_tokens=False)
        room = self._most - len(question) - len(head) - 3
        span = chance.choice(shown.spans) if shown.spans and not example.value else None
        places = token_span(text.offsets, span) if span else None
        first = 0
        if len(text.ids) > room:
            target = places[0] if places else self._told(example, text.offsets, chance)
            first = max(0, min(target - chance.randrange(room), len(text.ids) - room))
        ids, offsets = text.ids[first : first + room], text.offsets[first : first + room]
        if places and places[1] - first >= len(ids):
            places = None
        start, end = (places[0] - first, places[1] - first) if places else (NOTHING, NOTHING)
        targets = (start, end, example.answerable, example.polar, example.kind, example.claim)
        return Pieces(tuple(question), tuple(head), tuple(ids), tuple(offsets), targets)

    def _told(self, example: Example, offsets: Sequence[tuple[int, int]], chance: random.Random) -> int:
        """Where a passage is cut around that has no span to learn: a claim's evidence, or anywhere."""
        if example.shown.spans:
            places = token_span(offsets, example.shown.spans[0])
            return places[0] if places else 0
        return 0 if example.polar >= 0 else chance.randrange(len(offsets))


def save(path: Path, pieces: Sequence[Pieces], sources: Sequence[str]) -> None:
    """One file of examples, in order; ids as 16-bit numbers, one after another."""
    lengths = np.array([[len(p.question), len(p.heading), len(p.passage)] for p in pieces], np.int16)
    ids = np.concatenate([np.array([*p.question, *p.heading, *p.passage], np.uint16) for p in pieces])
    targets = np.array([p.targets for p in pieces], np.int16)
    arrays: dict[str, Any] = {"lengths": lengths, "ids": ids, "targets": targets, "sources": np.array(sources)}
    part = path.with_suffix(".part.npz")
    np.savez(part, **arrays)
    part.replace(path)


def load(path: Path) -> list[Pieces]:
    """The examples of a file, without offsets; their ids are views of one array, which holds them in little memory."""
    with np.load(path, allow_pickle=False) as found:
        lengths, ids, targets = found["lengths"], found["ids"].astype(np.int32), found["targets"].tolist()
    pieces, at = [], 0
    for (question, head, passage), target in zip(lengths.tolist(), targets, strict=True):
        one, two, end = at + question, at + question + head, at + question + head + passage
        pieces.append(Pieces(ids[at:one], ids[one:two], ids[two:end], (), tuple(target)))
        at = end
    return pieces


def batch(pieces: Sequence[Pieces]) -> dict[str, Ints]:
    """Arrays of shape (pairs, tokens) padded to a multiple of WIDTH_STEP, and targets of shape (pairs,)."""
    width = max(map(padded, pieces))
    ids = np.full((len(pieces), width), PAD, np.int64)
    text = np.zeros_like(ids)
    targets = np.array([p.targets for p in pieces], np.int64)
    for row, p in enumerate(pieces):
        second = len(p.question) + 2
        begin = second + len(p.heading)
        end = begin + len(p.passage)
        ids[row, 1 : second - 1] = p.question
        ids[row, second:begin] = p.heading
        ids[row, begin:end] = p.passage
        ids[row, :end] += SHIFT
        ids[row, [0, second - 1, end]] = CLS, SEP, SEP
        text[row, begin:end] = 1
        targets[row, :2] += np.where(targets[row, :2] >= 0, begin, 0)
    return {"ids": ids, "text": text} | {name: targets[:, n] for n, name in enumerate(TARGETS)}


def groups(pieces: Sequence[Pieces], chance: random.Random) -> Iterator[list[Pieces]]:
    """Examples for batches of like length, BATCH tokens each with their padding, in mixed order: examples are sorted
    within blocks of SORTED."""
    mixed = list(pieces)
    chance.shuffle(mixed)
    found: list[list[Pieces]] = []
    for first in range(0, len(mixed), SORTED):
        group: list[Pieces] = []
        for one in sorted(mixed[first : first + SORTED], key=length):
            if group and padded(one) * (len(group) + 1) > BATCH:
                found.append(group)
                group = []
            group.append(one)
        found.append(group)
    chance.shuffle(found)
    yield from found


def token_span(offsets: Sequence[tuple[int, int]], span: tuple[int, int]) -> tuple[int, int] | None:
    """The first and the last token that touch a span of characters."""
    inside = [place for place, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]
    return (inside[0], inside[-1]) if inside else None
