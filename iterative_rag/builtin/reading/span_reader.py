"""The trained reader: extracts the span of a passage that answers a need, and scores whether it does.

A cross-encoder of the size of MiniLM-L6 over "[CLS] need [SEP] title: passage [SEP]" with one head for the span's start
and end, as in BERT for SQuAD (Devlin et al. 2019), and one for relevance, support and span/yes/no; see MODEL_CARD.md.
Each window runs alone on one thread and several run in parallel, so a reading does not depend on what else is read.
Long passages are read in overlapping windows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from iterative_rag.builtin.networks import (
    VOCABULARY,
    VOCABULARY_DIGEST,
    lazy,
    load_network,
    read_file,
    shared_tokenizer,
    usable_cores,
    valid_unicode,
)
from iterative_rag.builtin.reading.span_search import likeliest, log_odds
from iterative_rag.text.whole_values import whole_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

NAME: Final = "builtin/minilm-reader@1"
# sha256 of each file as printed by the training scripts. New weights need a new NAME, since readings are cached by it.
_NETWORK: Final = "reader.onnx"
_SETTINGS: Final = "reader.json"
WEIGHTS: Final = {
    _NETWORK: "3337ab9d24e0be62e80621768b32a517cd7b62dba544561a65b1eed539c2580b",
    _SETTINGS: "183c5d8bab54d23cc69b4068c2f19ab2fc608b579ae0c7b749865d3e2dd1f756",
    VOCABULARY: VOCABULARY_DIGEST,
}


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A possible answer, `passage[start:end] == text`, with its probability among all spans of the passage (0 to 1)."""

    start: int
    end: int
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class SpanReading:
    """The reading of one passage. `text` is its likeliest span, even if it is not an answer.

    `start` and `end` are character offsets, `span_score` is the span's probability. `relevance` is the calibrated
    probability that the passage alone answers the need; `support` that it is one of several passages needed for the
    answer. `kind` is "span", "yes" or "no"; `yes` is the probability of yes given that the need is a yes/no question.
    `spans` are the best spans that do not overlap, best first. A passage without words has no span and relevance 0.
    """

    start: int
    end: int
    text: str
    span_score: float
    relevance: float
    kind: str
    support: float
    yes: float
    spans: tuple[AnswerSpan, ...]


_NOTHING: Final = SpanReading(0, 0, "", 0.0, 0.0, "span", 0.0, 0.5, ())


class SpanReader:
    """Reads passages for a need; thread-safe. The network is loaded at the first call.

    `threads` is the number of windows read in parallel (default: the cores that this process may use). `read`,
    `read_pairs`, `threshold` and `max_tokens` raise WeightsError if the weights are missing or damaged.
    """

    def __init__(self, *, threads: int | None = None, weights: Traversable | None = None) -> None:
        self._threads = threads or usable_cores()
        self._loaded = lazy(_ReaderNetwork, weights)

    @property
    def name(self) -> str:
        """Identifies the weights; readings may be cached under it."""
        return NAME

    @property
    def threshold(self) -> float:
        """The relevance from which a passage counts as answering; MODEL_CARD.md gives its effect."""
        return self._loaded().settings.threshold

    @property
    def max_tokens(self) -> int:
        """Most tokens of one window, including need, title and special tokens."""
        return self._loaded().settings.max_tokens

    def read(self, need: str, title: str, passages: Sequence[str], *, best: int = 1) -> list[SpanReading]:
        """Read passages of one article: one reading for each, in order, with up to `best` spans."""
        return self.read_pairs(need, [(title, passage) for passage in passages], best=best)

    def read_pairs(self, need: str, pairs: Sequence[tuple[str, str]], *, best: int = 1) -> list[SpanReading]:
        """Read passages of several articles, given as (title, passage): one reading for each, in order."""
        if not pairs:
            return []
        model = self._loaded()
        asked = model.asked(need)
        titles = {title: model.titled(title) for title, _ in pairs}
        texts = [model.windows(len(asked) + len(titles[title]), passage) for title, passage in pairs]
        jobs = [(place, window) for place, windows in enumerate(texts) for window in windows]

        def look(job: tuple[int, _Window]) -> _Look:
            place, window = job
            return model.look(asked, titles[pairs[place][0]], window)

        if len(jobs) < 2 or self._threads == 1:
            looks = [look(job) for job in jobs]
        else:
            # One pool per call: nothing to close, and no broken pool is inherited by a fork.
            with ThreadPoolExecutor(min(self._threads, len(jobs)), "reader") as pool:
                looks = list(pool.map(look, jobs))
        grouped: list[list[_Look]] = [[] for _ in pairs]
        for (place, _), found in zip(jobs, looks, strict=True):
            grouped[place].append(found)
        return [_reading(group, passage, best) for group, (_, passage) in zip(grouped, pairs, strict=True)]


@dataclass(frozen=True, slots=True)
class _Settings:
    """The contents of `reader.json`: lengths in tokens; `relevance` and `support` are calibrations for `_probability`.

    A calibration is (weight of the logit, weight of the best span's log odds, bias).
    """

    max_tokens: int
    max_need: int
    longest_answer: int
    overlap: int
    threshold: float
    relevance: tuple[float, float, float]
    support: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Window:
    """Token ids of one window of a passage, and the character offsets of each token in the passage."""

    ids: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Look:
    """The output for one window: spans as (probability, start, end) in characters, best first; calibrated relevance
    and support; probabilities of span, yes and no."""

    spans: list[tuple[float, int, int]]
    relevance: float
    support: float
    kinds: tuple[float, float, float]


def load() -> None:
    """Load the packaged weights if they are not loaded yet. Raises WeightsError."""
    lazy(_ReaderNetwork, None)()


class _ReaderNetwork:
    """The loaded tokenizer and network. Both are read-only, so threads may share them."""

    def __init__(self, weights: Traversable) -> None:
        about = json.loads(read_file(weights, _SETTINGS, WEIGHTS[_SETTINGS]))
        self.settings = _Settings(
            about["max_tokens"],
            about["max_need_tokens"],
            about["longest_answer_tokens"],
            about["overlap_tokens"],
            about["threshold"],
            tuple(about["calibration"]["relevance"]),
            tuple(about["calibration"]["support"]),
        )
        self._network = load_network(weights, _NETWORK, WEIGHTS[_NETWORK])
        self._tokenizer = shared_tokenizer(read_file(weights, VOCABULARY, WEIGHTS[VOCABULARY]))
        self._first, self._between = self._encode("[CLS][SEP]").ids

    def asked(self, need: str) -> list[int]:
        ids: list[int] = self._encode(need).ids
        return ids[: self.settings.max_need]

    def titled(self, title: str) -> list[int]:
        return self._encode(f"{title}:").ids[: self.settings.max_need] if title else []

    def windows(self, taken: int, passage: str) -> list[_Window]:
        """Split a passage into overlapping windows that leave room for `taken` tokens of need and title.

        A passage without words has no window.
        """
        text = self._encode(passage)
        ids, offsets = text.ids, text.offsets
        room = self.settings.max_tokens - taken - 3
        firsts = [0] if ids else []
        while firsts and firsts[-1] + room < len(ids):
            firsts.append(min(firsts[-1] + room - self.settings.overlap, len(ids) - room))
        return [_Window(ids[first : first + room], offsets[first : first + room]) for first in firsts]

    def look(self, asked: list[int], title: list[int], window: _Window) -> _Look:
        import numpy as np

        ids = [self._first, *asked, self._between, *title, *window.ids, self._between]
        segments = np.zeros(len(ids), np.int64)
        segments[len(asked) + 2 :] = 1
        spans, verdict = self._network.run({"input_ids": np.array(ids, np.int64), "segments": segments})
        begin = len(asked) + len(title) + 2
        ends = spans[begin : begin + len(window.ids)]
        found = likeliest(ends[:, 0], ends[:, 1], self.settings.longest_answer)
        places = [(p, window.offsets[first][0], window.offsets[last][1]) for p, first, last in found]
        sure = log_odds(found[0][0])
        a, b, c = (math.exp(float(value - max(verdict[2:]))) for value in verdict[2:])
        return _Look(
            places,
            _probability(self.settings.relevance, float(verdict[0]), sure),
            _probability(self.settings.support, float(verdict[1]), sure),
            (a / (a + b + c), b / (a + b + c), c / (a + b + c)),
        )

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(valid_unicode(text), add_special_tokens=False)


def _probability(calibration: tuple[float, float, float], logit: float, sure: float) -> float:
    """Calibrate a logit by Platt scaling (Platt 1999), with the log odds of the best span as a second feature."""
    own, span, shift = calibration
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, own * logit + span * sure + shift))))


def _reading(looks: list[_Look], passage: str, best: int) -> SpanReading:
    """Merge the windows of a passage: relevance and kind of the most relevant, spans of all weighted by relevance."""
    if not looks:
        return _NOTHING
    most = max(looks, key=lambda look: look.relevance)
    weight = sum(look.relevance for look in looks)
    # A token may be a part of a word; an answer never is.
    offered = sorted(
        {
            (-probability * look.relevance / weight, *whole_words(passage, start, end))
            for look in looks
            for probability, start, end in look.spans
        }
    )
    spans: list[AnswerSpan] = []
    for share, start, end in offered:
        if len(spans) == max(1, best):
            break
        if all(end <= span.start or start >= span.end for span in spans):
            spans.append(AnswerSpan(start, end, passage[start:end], -share))
    kind = ("span", "yes", "no")[max(range(3), key=lambda place: most.kinds[place])]
    yes = most.kinds[1] / max(most.kinds[1] + most.kinds[2], 1e-9)
    top = spans[0]
    support = max(look.support for look in looks)
    return SpanReading(
        top.start, top.end, top.text, top.probability, most.relevance, kind, support, yes, tuple(spans[: max(0, best)])
    )
