"""The evidence reader: finds the answer to a need in a passage and decides yes/no questions.

The eight lowest layers of MPNet (Song et al. 2020), tuned and quantized to int8, over "[CLS] question [SEP] title,
section: passage [SEP]"; see MODEL_CARD.md. A claim stands as "question = value" in place of the question. Training cuts
its examples by the same rules. Each window runs alone on one thread and several run in parallel, so a reading does not
depend on what else is read. Long passages are read in overlapping windows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from iterative_rag.builtin.networks import (
    lazy,
    load_network,
    log_odds,
    read_file,
    tokenizer,
    usable_cores,
    valid_unicode,
)
from iterative_rag.text.mentions import whole_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    Floats = npt.NDArray[np.float32]


# Number of the likeliest first tokens from which spans are searched.
_STARTS: Final = 24


def likeliest(start: Floats, end: Floats, longest: int) -> list[tuple[float, int, int]]:
    """The best spans as (probability, first token, last token), best first.

    `start` and `end` are logits of shape (tokens,). A span's probability is the product of both, normalized over all
    spans of at most `longest` tokens.
    """
    import numpy as np

    first, last = np.exp(start - start.max()), np.exp(end - end.max())
    summed = np.concatenate([[0.0], np.cumsum(last, dtype=np.float64)])
    places = np.arange(len(first))
    total = float(first @ (summed[np.minimum(places + longest, len(first))] - summed[places]))
    spans: list[tuple[float, int, int]] = []
    for token in np.argsort(-first, kind="stable")[:_STARTS]:
        reach = last[token : token + longest]
        for step in np.argsort(-reach, kind="stable")[:4]:
            spans.append((float(first[token] * reach[step] / max(total, 1e-30)), int(token), int(token + step)))
    return sorted(spans, key=lambda item: (-item[0], item[1], item[2]))


SEPARATOR: Final = " = "
# Most word pieces of the question, and of the value of a claim and of the heading each.
MAX_QUESTION, MAX_HEADING = 64, 24


def heading(title: str, section: str) -> str:
    return f"{title}, {section}:" if title and section else f"{title or section}:" if title or section else ""


def asked_ids(tokenizer: Tokenizer, question: str, value: str = "") -> list[int]:
    """The pieces of a question, or with a value those of a claim."""
    ids = _ids(tokenizer, question, MAX_QUESTION)
    return ids + _ids(tokenizer, f"{SEPARATOR}{value}", MAX_HEADING) if value else ids


def heading_ids(tokenizer: Tokenizer, title: str, section: str) -> list[int]:
    return _ids(tokenizer, heading(title, section), MAX_HEADING)


def _ids(tokenizer: Tokenizer, text: str, most: int) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return ids[:most]


NAME: Final = "builtin/mpnet-evidence@5"
# sha256 of each file, put here by `scripts.train.evidence.install`. New weights need a new NAME, by which readings are
# cached.
_NETWORK: Final = "evidence.onnx"
_SETTINGS: Final = "evidence.json"
_VOCABULARY: Final = "evidence_vocabulary.json"
WEIGHTS: Final = {
    _NETWORK: "209c22935ac66811d414940420663c65973b2b4fd99576d9dabbe4e20686849b",
    _SETTINGS: "93d1f0d2cfa0f9539e340e8cc403c9985358e7528637c7a1573e753a9c06df2a",
    _VOCABULARY: "76e2b8dd116b7c5aafadc7d5aec0a97f01bbf3d4335dbea9999a373f8f6910f6",
}
# Tokens of a window with its question, of the part that two windows share, and of an answer.
MAX_TOKENS, OVERLAP, LONGEST_ANSWER = 256, 64, 30


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage with the title of its article and its section (may be empty)."""

    title: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A possible answer, `passage[start:end] == text`, with its probability among all spans of the passage (0 to 1)."""

    start: int
    end: int
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class EvidenceReading:
    """The reading of one passage; probabilities are 0 to 1.

    `answerable`: that the passage alone answers the need, calibrated. `yes`, `no`: that it decides a yes/no question
    so; the rest is undecided. `kinds`: of each kind of answer, in the order of `KINDS`. `spans`: the best ones that do
    not overlap, best first, even if none is an answer. A passage without words has no span and nothing is answered.
    """

    answerable: float
    yes: float
    no: float
    kinds: tuple[float, ...]
    spans: tuple[AnswerSpan, ...]


KINDS: Final = ("person", "place", "date", "number", "name", "phrase", "yes/no", "")
_NOTHING: Final = EvidenceReading(0.0, 0.0, 0.0, (0.0,) * len(KINDS), ())


class EvidenceReader:
    """Reads passages for a need; thread-safe. The network is loaded at the first call.

    `threads` is the number of windows read in parallel (default: the cores that this process may use). `read` and
    `weights` raise WeightsError if the weights are missing or damaged.
    """

    def __init__(self, *, threads: int | None = None, weights: Traversable | None = None) -> None:
        self._threads = threads or usable_cores()
        self._loaded, self._fitted = lazy(EvidenceNetwork, weights), lazy(_fitted, weights)

    @property
    def name(self) -> str:
        """Identifies the weights; readings may be cached under it."""
        return NAME

    @property
    def weights(self) -> dict[str, dict[str, float]]:
        """What was fitted on questions set aside, for each kind of finding; see reading/finding_odds.py. Needs no
        network."""
        findings: dict[str, dict[str, float]] = self._fitted()["findings"]
        return findings

    @property
    def network(self) -> EvidenceNetwork:
        """The loaded network, for scripts that measure and fit."""
        return self._loaded()

    def read(self, need: str, passages: Sequence[PassageText], *, best: int = 1) -> list[EvidenceReading]:
        """One reading for each passage, in order, with up to `best` spans."""
        if not passages:
            return []
        model = self._loaded()
        asked = model.asked(need)
        windows = [model.windows(asked, passage) for passage in passages]
        looks = iter(self._each(model.look, [window for own in windows for window in own]))
        by_passage = [[next(looks) for _ in own] for own in windows]
        return [_reading(own, passage.text, best) for own, passage in zip(by_passage, passages, strict=True)]

    def _each(self, work: Any, windows: Sequence[_Window]) -> list[Any]:
        if len(windows) < 2 or self._threads == 1:
            return [work(window) for window in windows]
        # One pool per call: nothing to close, and no broken pool is inherited by a fork.
        with ThreadPoolExecutor(min(self._threads, len(windows)), "reader") as pool:
            return list(pool.map(work, windows))


def _fitted(weights: Traversable) -> dict[str, Any]:
    fitted: dict[str, Any] = json.loads(read_file(weights, _SETTINGS, WEIGHTS[_SETTINGS]))
    return fitted


@dataclass(frozen=True, slots=True)
class _Window:
    """Token ids of one input; `offsets` are those of the passage's tokens, which begin at `first`."""

    ids: list[int]
    first: int
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Look:
    """The output for one window: spans as (probability, start, end) in characters, best first, and the heads."""

    spans: list[tuple[float, int, int]]
    answerable: float
    polar: tuple[float, ...]
    kinds: tuple[float, ...]


class EvidenceNetwork:
    """The loaded tokenizer and network; threads may share them. `answerable` scales the head's logit: its weight, that
    of the log odds of the best span, and the shift (Platt 1999)."""

    def __init__(self, weights: Traversable) -> None:
        self.answerable: tuple[float, float, float] = tuple(_fitted(weights)["answerable"])
        self._network = load_network(weights, _NETWORK, WEIGHTS[_NETWORK])
        self._tokenizer = tokenizer(read_file(weights, _VOCABULARY, WEIGHTS[_VOCABULARY]))
        self._cls, self._sep = self._tokenizer.encode("[CLS][SEP]", add_special_tokens=False).ids

    def asked(self, need: str, value: str = "") -> list[int]:
        return asked_ids(self._tokenizer, valid_unicode(need), valid_unicode(value))

    def windows(self, asked: list[int], passage: PassageText) -> list[_Window]:
        """Overlapping windows of a passage, each with the question and the heading; none for one without words."""
        head = heading_ids(self._tokenizer, valid_unicode(passage.title), valid_unicode(passage.section))
        text = self._tokenizer.encode(valid_unicode(passage.text), add_special_tokens=False)
        ids, offsets = text.ids, text.offsets
        room = MAX_TOKENS - len(asked) - len(head) - 3
        firsts = [0] if ids else []
        while firsts and firsts[-1] + room < len(ids):
            firsts.append(min(firsts[-1] + room - OVERLAP, len(ids) - room))
        before = [self._cls, *asked, self._sep, *head]
        return [
            _Window([*before, *ids[at : at + room], self._sep], len(before), offsets[at : at + room]) for at in firsts
        ]

    def run(self, window: _Window) -> dict[str, Floats]:
        import numpy as np

        outputs = self._network.run({"input_ids": np.array(window.ids, np.int64)})
        return dict(zip(("span", "answerable", "polar", "kind", "claim"), outputs, strict=True))

    def look(self, window: _Window) -> _Look:
        out = self.run(window)
        ends = out["span"][window.first : window.first + len(window.offsets)]
        spans = likeliest(ends[:, 0], ends[:, 1], LONGEST_ANSWER)
        own, sure, shift = self.answerable
        odds = own * float(out["answerable"][0]) + sure * log_odds(spans[0][0]) + shift
        return _Look(
            [(p, window.offsets[first][0], window.offsets[last][1]) for p, first, last in spans],
            1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))),
            _shares(out["polar"]),
            _shares(out["kind"]),
        )


def _shares(logits: Floats) -> tuple[float, ...]:
    """Softmax."""
    raised = [math.exp(float(logit - max(logits))) for logit in logits]
    return tuple(power / sum(raised) for power in raised)


def _reading(looks: Sequence[_Look], text: str, best: int) -> EvidenceReading:
    """Merge the windows of a passage: the heads of the one that answers best, spans of all weighed by how well."""
    if not looks:
        return _NOTHING
    most = max(looks, key=lambda look: look.answerable)
    decided = min(looks, key=lambda look: look.polar[2])
    weight = sum(look.answerable for look in looks)
    # A token may be a part of a word; an answer never is.
    offered = sorted(
        {
            (-probability * look.answerable / weight, *whole_words(text, start, end))
            for look in looks
            for probability, start, end in look.spans
        }
    )
    spans: list[AnswerSpan] = []
    for share, start, end in offered:
        if len(spans) == best:
            break
        if all(end <= span.start or start >= span.end for span in spans):
            spans.append(AnswerSpan(start, end, text[start:end], -share))
    return EvidenceReading(most.answerable, decided.polar[0], decided.polar[1], most.kinds, tuple(spans))
