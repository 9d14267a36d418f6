"""Figures of an evidence reader on rows set aside, whatever runs its network."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from iterative_rag.builtin.networks import log_odds
from iterative_rag.builtin.reading.evidence_reader import likeliest
from scripts.train import scoring
from scripts.train.evidence import kinds, tokens
from scripts.train.evidence.asked import NO, YES, Shown
from scripts.train.evidence.drawing import Example
from scripts.train.evidence.tokens import Pieces

LONGEST_ANSWER, REFUSED = 30, 75.0  # tokens; per cent of the unanswerable questions that the threshold refuses
MOST_TOKENS = 320
VOCABULARY = Path("iterative_rag/builtin/weights/evidence_vocabulary.json")
Floats = npt.NDArray[np.float32]


class Reader(Protocol):
    def read(self, pieces: Sequence[Pieces]) -> list[dict[str, Floats]]:
        """For each: `span` of shape (2, tokens of the passage) and the heads' logits."""


class TorchReader:
    """Reads with the network of training, in batches of like length."""

    def __init__(self, model: Any, batch: int = 16) -> None:
        self._model, self._batch = model, batch

    def read(self, pieces: Sequence[Pieces]) -> list[dict[str, Floats]]:
        import torch

        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place].passage))
        found: dict[int, dict[str, Floats]] = {}
        for first in range(0, len(order), self._batch):
            places = order[first : first + self._batch]
            arrays = tokens.batch([pieces[place] for place in places])
            b = {name: torch.from_numpy(array).to(self._model.device) for name, array in arrays.items()}
            logits = self._model(b["ids"], b["text"].bool())
            out = {name: tensor.float().cpu().numpy() for name, tensor in logits.items() if name != "hidden"}
            for row, place in enumerate(places):
                begin = len(pieces[place].question) + len(pieces[place].heading) + 2
                span = out["span"][row][:, begin : begin + len(pieces[place].passage)]
                found[place] = {name: array[row] for name, array in out.items()} | {"span": span}
        return [found[place] for place in range(len(pieces))]


@dataclass(frozen=True, slots=True)
class Rows:
    """Examples set aside with their pieces."""

    examples: tuple[Example, ...]
    pieces: tuple[Pieces, ...]

    @classmethod
    def read(cls, path: Path, count: int = 0) -> Rows:
        """The first `count` examples of reading of a file written by `make_rows`, of other families in proportion
        (0: all)."""
        chance, taken = random.Random(0), {"": 0}
        cutter = tokens.Cutter(Tokenizer.from_file(str(VOCABULARY)), MOST_TOKENS)
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines():
            example = example_of(json.loads(line))
            name = family(example)
            taken[name] = taken.get(name, 0) + 1
            if not count or taken[name] <= _SHARES[name] * count:
                kept.append(example)
        return cls(tuple(kept), tuple(cutter.cut(example, chance) for example in kept))


_SHARES = {"reading": 1.0, "table": 0.25, "polar": 0.5, "claim": 0.5, "whole": 0.0}


def family(example: Example) -> str:
    if example.value:
        return "claim"
    if example.polar >= 0:
        return "polar"
    if "hotpot_whole" in example.source:
        return "whole"
    return "table" if example.source.endswith(("table", "infobox")) else "reading"


def example_of(row: dict[str, Any]) -> Example:
    shown = row.pop("shown")
    spans = tuple(tuple(span) for span in shown.pop("spans"))
    return Example(shown=Shown(**shown, spans=spans), **row)


@dataclass(frozen=True, slots=True)
class Look:
    """What a reader says of one example: the best span with its log odds, and the logits of the heads."""

    text: str
    sure: float
    answerable: float
    polar: int
    yes: bool
    claim: int
    kind: int
    f1: float


def looks(rows: Rows, reader: Reader) -> list[Look]:
    found = []
    for example, pieces, out in zip(rows.examples, rows.pieces, reader.read(rows.pieces), strict=True):
        text, share = "", 0.0
        if pieces.passage:
            share, first, last = likeliest(out["span"][0], out["span"][1], LONGEST_ANSWER)[0]
            text = example.shown.text[pieces.offsets[first][0] : pieces.offsets[last][1]]
        answers = [example.shown.text[start:end] for start, end in example.shown.spans]
        found.append(
            Look(
                text,
                log_odds(share),
                float(out["answerable"][0]),
                int(out["polar"].argmax()),
                bool(out["polar"][YES] > out["polar"][NO]),
                int(out["claim"].argmax()),
                int(out["kind"].argmax()),
                scoring.f1(text, answers),
            )
        )
    return found


def figures(rows: Rows, reader: Reader) -> dict[str, float]:
    """Percentages: see `spans` for reading and tables; accuracy of yes/no, claims and kinds."""
    found = looks(rows, reader)
    by: dict[str, list[tuple[Example, Look]]] = {}
    for example, look in zip(rows.examples, found, strict=True):
        by.setdefault(family(example), []).append((example, look))
    result: dict[str, float] = {}
    for name in ("reading", "table"):
        if name in by:
            suffix = "" if name == "reading" else "_table"
            result |= {f"{key}{suffix}": value for key, value in spans(by[name]).items()}
    polar = by.get("polar", [])
    result["polar"] = _share([look.polar == example.polar for example, look in polar])
    # Every passage of BoolQ decides its question, so undecided is no answer there.
    result["boolq"] = _share([k.yes == (e.polar == YES) for e, k in polar if e.source == "boolq"])
    result["claim"] = _share([look.claim == example.claim for example, look in by.get("claim", [])])
    kinded = [(e, k) for pairs in by.values() for e, k in pairs if e.kind >= 0 and not e.value]
    result["kind"] = _share([look.kind == example.kind for example, look in kinded])
    return result


def spans(pairs: Sequence[tuple[Example, Look]]) -> dict[str, float]:
    """Best span F1 of the answerable; AUC of answerable; F1 with answer where REFUSED of the others are refused; and
    the share of the answers given that cannot be of the kind asked for."""
    right = np.array([example.answerable == 1 for example, _ in pairs])
    f1 = np.array([look.f1 for _, look in pairs])
    odds = np.array([look.answerable + 0.3 * look.sure for _, look in pairs])
    threshold = np.percentile(odds[~right], REFUSED) if (~right).any() else -np.inf
    given = odds > threshold
    wrong = [
        not kinds.fits(kind, look.text)
        for (example, look), answered in zip(pairs, given, strict=True)
        if answered and (kind := kinds.asked_kind(example.question)) is not None
    ]
    return {
        "f1_best": round(100 * float(f1[right].mean()), 1),
        "f1_answered": round(100 * float((f1 * given)[right].mean()), 1),
        "auc": round(100 * scoring.area_under_curve(odds.tolist(), right.tolist()), 1),
        "wrong_kind": _share(wrong),
    }


def _share(truths: Sequence[bool]) -> float:
    return round(100 * float(np.mean(truths)), 1) if truths else 0.0
