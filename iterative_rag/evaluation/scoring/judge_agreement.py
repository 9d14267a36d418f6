"""How far the judge agrees with verdicts that were given by others (people, another judge): Cohen's kappa."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.records import JudgeVerdict, QuestionRecord
from iterative_rag.system.files import readable

_WORDS = {
    **dict.fromkeys(("true", "yes", "1", "correct", "right"), True),
    **dict.fromkeys(("false", "no", "0", "incorrect", "wrong"), False),
}
_HINT = 'Write one verdict a line: {"id": "q1", "correct": true}, or a CSV file with the columns id and correct.'


@dataclass(frozen=True, slots=True)
class Agreement:
    """`raw` is the share of equal verdicts; both figures are None without anything to compare.

    `kappa` (Cohen 1960), between the ends of its 95 % interval, takes off what chance would agree on; it is None where
    all verdicts of both sides are the same one, for there chance explains everything. The four counts are answers:
    `only_judge` were correct to the judge alone, `only_given` to the given verdicts alone. `unjudged` answers have no
    verdict of the judge, `ungiven` none in the file; `unknown` counts ids of the file that the run does not have.
    """

    n: int
    raw: float | None
    kappa: float | None
    interval: tuple[float, float] | None
    both_correct: int
    both_incorrect: int
    only_judge: int
    only_given: int
    unjudged: int
    ungiven: int
    unknown: int


def agreement(records: Sequence[QuestionRecord], given: Mapping[str, bool]) -> Agreement:
    """Compare the judge's verdicts in `records` with `given` ones by question id; each repeat counts."""
    ungiven = sum(record.id not in given for record in records)
    compared = [(record.scores.judge, given[record.id]) for record in records if record.id in given]
    counts = Counter((judge is JudgeVerdict.CORRECT, other) for judge, other in compared if judge in _JUDGED)
    n = counts.total()
    kappa, interval = _kappa(counts)
    return Agreement(
        n=n,
        raw=(counts[True, True] + counts[False, False]) / n if n else None,
        kappa=kappa,
        interval=interval,
        both_correct=counts[True, True],
        both_incorrect=counts[False, False],
        only_judge=counts[True, False],
        only_given=counts[False, True],
        unjudged=len(compared) - n,
        ungiven=ungiven,
        unknown=len(given.keys() - {record.id for record in records}),
    )


_JUDGED = (JudgeVerdict.CORRECT, JudgeVerdict.INCORRECT)


def _kappa(counts: Counter[tuple[bool, bool]]) -> tuple[float | None, tuple[float, float] | None]:
    """Cohen's kappa; None (0/0) if both sides give one and the same verdict throughout."""
    if set(counts) in (set(), {(True, True)}, {(False, False)}):
        return None, None
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    table = [[counts[judge, other] for other in (True, False)] for judge in (True, False)]
    with np.errstate(invalid="ignore", divide="ignore"):  # statsmodels also runs a test that divides by zero
        found = cohens_kappa(table)
    low, high = float(found.kappa_low), float(found.kappa_upp)
    interval = None if math.isnan(low) or math.isnan(high) else (max(-1.0, low), min(1.0, high))
    return float(found.kappa), interval


# --- the file ----------------------------------------------------------------------------------


def read_verdicts(path: Path) -> dict[str, bool]:
    """Question id -> correct, from JSON Lines or CSV with the fields `id` and `correct`.

    Raises UsageError, naming the line, for anything else and for an id with two verdicts.
    """
    try:
        text = readable(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", hint="Give a file of verdicts as text.") from error
    found: dict[str, bool] = {}
    for line, row in _rows(text, path):
        question, correct = _verdict(row, f"{path}, line {line}")
        if found.setdefault(question, correct) != correct:
            raise UsageError(f"{path}, line {line}: {question!r} has two different verdicts.", hint="Keep one of them.")
    if not found:
        raise UsageError(f"{path} holds no verdict.", hint=_HINT)
    return found


def _rows(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if not first.lstrip().startswith("{"):
        reader = csv.DictReader(lines)
        yield from ((reader.line_num, row) for row in reader)
        return
    for number, line in _filled(lines):
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise UsageError(f"{path}, line {number} is not JSON: {error}.", hint=_HINT) from error


def _filled(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _verdict(row: Any, where: str) -> tuple[str, bool]:
    if not isinstance(row, dict) or row.get("id") in (None, "") or row.get("correct") is None:
        raise UsageError(f"{where} lacks the field id or correct.", hint=_HINT)
    correct = _WORDS.get(str(row["correct"]).strip().casefold())
    if correct is None:
        raise UsageError(f"{where}: {row['correct']!r} is not a verdict.", hint="Write true or false.")
    return str(row["id"]), correct
