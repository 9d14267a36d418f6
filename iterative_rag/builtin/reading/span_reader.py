"""The trained reader: which words of a passage answer a need, and whether they do.

A cross-encoder of MiniLM-L6's size over (need, title: passage), see MODEL_CARD.md. One pair is read at a time, on
one thread, several at once: a reading never depends on what else is read. Long passages are read in overlapping
windows.
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

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

NAME: Final = "builtin/minilm-reader@1"
# sha256 of each file as the scripts printed it. Other weights need another NAME: what was read is cached under it.
_NETWORK: Final = "reader.onnx"
_SETTINGS: Final = "reader.json"
WEIGHTS: Final = {
    _NETWORK: "3337ab9d24e0be62e80621768b32a517cd7b62dba544561a65b1eed539c2580b",
    _SETTINGS: "183c5d8bab54d23cc69b4068c2f19ab2fc608b579ae0c7b749865d3e2dd1f756",
    VOCABULARY: VOCABULARY_DIGEST,
}
# Answers are looked for among so many of the likeliest first tokens.
_STARTS: Final = 24


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """A possible answer: `passage[start:end] == text`, and the share of all spans' probability that it has."""

    start: int
    end: int
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class SpanReading:
    """What was read in one passage. `text` is its likeliest answer, whether or not it is one.

    `relevance` is the calibrated probability that the passage answers the need by itself; `support` that it holds a
    part of the way to the answer of a question that needs several passages. `kind` is "span", "yes" or "no";
    `yes` is the probability of yes where yes or no is asked. `spans` are the likeliest answers that do not
    overlap, best first. A passage without words has no span and no relevance.
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
    """Reads passages for a need. Costs nothing until the first of them.

    `threads` is how many windows are read at a time (default: the cores this process may use). One instance may
    be called from several threads. `read` and the properties raise `WeightsError` where the weights are missing
    or damaged.
    """

    def __init__(self, *, threads: int | None = None, weights: Traversable | None = None) -> None:
        self._threads = threads or usable_cores()
        self._loaded = lazy(_ReaderNetwork, weights)

    @property
    def name(self) -> str:
        """Identifies the weights; what one reading says may be kept under it."""
        return NAME

    @property
    def threshold(self) -> float:
        """The relevance from which on a passage counts as answering; see MODEL_CARD.md for what it costs."""
        return self._loaded().settings.threshold

    @property
    def max_tokens(self) -> int:
        """Tokens of one window, need and title included."""
        return self._loaded().settings.max_tokens

    def read(self, need: str, title: str, passages: Sequence[str], *, best: int = 1) -> list[SpanReading]:
        """One reading a passage, in their order, with up to `best` spans each. All passages are of one article."""
        return self.read_pairs(need, [(title, passage) for passage in passages], best=best)

    def read_pairs(self, need: str, pairs: Sequence[tuple[str, str]], *, best: int = 1) -> list[SpanReading]:
        """The same over passages of several articles: pairs of title and passage."""
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
            # A pool a call: nothing to close, and nothing that a fork of this process could inherit broken.
            with ThreadPoolExecutor(min(self._threads, len(jobs)), "reader") as pool:
                looks = list(pool.map(look, jobs))
        grouped: list[list[_Look]] = [[] for _ in pairs]
        for (place, _), found in zip(jobs, looks, strict=True):
            grouped[place].append(found)
        return [_reading(group, passage, best) for group, (_, passage) in zip(grouped, pairs, strict=True)]


@dataclass(frozen=True, slots=True)
class _Settings:
    """`reader.json`. `relevance` and `support` are (weight, weight of the best span's log odds, shift)."""

    max_tokens: int
    max_need: int
    longest_answer: int
    overlap: int
    threshold: float
    relevance: tuple[float, float, float]
    support: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Window:
    """Tokens of a passage that are read in one go, and where each of them stands in it."""

    ids: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Look:
    """What one window holds: spans as (probability, start, end), best first; probabilities; kinds' probabilities."""

    spans: list[tuple[float, int, int]]
    relevance: float
    support: float
    kinds: tuple[float, float, float]


def load() -> None:
    """Load the package's weights, unless that was done. Raises WeightsError."""
    lazy(_ReaderNetwork, None)()


class _ReaderNetwork:
    """The loaded tokenizer and network. Both only read their state, so threads may share them."""

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
        """The passage's tokens in windows beside `taken` tokens of need and title; none for one without words."""
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


def likeliest(start: Floats, end: Floats, longest: int) -> list[tuple[float, int, int]]:
    """(probability, first token, last token), best first: start and end taken as independent, over all spans of at
    most `longest` tokens."""
    import numpy as np

    first, last = np.exp(start - start.max()), np.exp(end - end.max())
    summed = np.concatenate([[0.0], np.cumsum(last, dtype=np.float64)])
    places = np.arange(len(first))
    total = float(first @ (summed[np.minimum(places + longest, len(first))] - summed[places]))
    found: list[tuple[float, int, int]] = []
    for place in np.argsort(-first, kind="stable")[:_STARTS]:
        reach = last[place : place + longest]
        for step in np.argsort(-reach, kind="stable")[:4]:
            found.append((float(first[place] * reach[step] / max(total, 1e-30)), int(place), int(place + step)))
    return sorted(found, key=lambda item: (-item[0], item[1], item[2]))


def log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


def _probability(calibration: tuple[float, float, float], logit: float, sure: float) -> float:
    """Platt scaling of a logit together with the log odds of the best span."""
    own, span, shift = calibration
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, own * logit + span * sure + shift))))


def _reading(looks: list[_Look], passage: str, best: int) -> SpanReading:
    """One reading from the windows of a passage: the most relevant decides, spans of all are weighed by relevance."""
    if not looks:
        return _NOTHING
    most = max(looks, key=lambda look: look.relevance)
    weight = sum(look.relevance for look in looks)
    offered = sorted(
        {
            (-probability * look.relevance / weight, start, end)
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
