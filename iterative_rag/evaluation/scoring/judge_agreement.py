"""How far the judge agrees with verdicts that were given by others (people, another judge): Cohen's kappa."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iterative_rag.evaluation.datasets.question_files import Row, read_bytes, rows
from iterative_rag.evaluation.records import JudgeVerdict, QuestionRecord

_WORDS = {
    **dict.fromkeys(("true", "yes", "1", "correct", "right"), True),
    **dict.fromkeys(("false", "no", "0", "incorrect", "wrong"), False),
}
_HINT = 'Write one verdict a line: {"id": "q1", "correct": true}, or a CSV file with the columns id and correct.'


def agreement(records: Sequence[QuestionRecord], given: Mapping[str, bool]) -> dict[str, Any]:
    """Compare the judge's verdicts in `records` with `given` ones by question id; each repeat counts.

    `raw` is the share of equal verdicts among the `n` compared; both figures are None without anything to compare.
    `kappa` (Cohen 1960), between the ends of its 95 % `interval`, takes off what chance would agree on; it is None
    where all verdicts of both sides are the same one, for there chance explains everything. Four counts of answers:
    `only_judge` were correct to the judge alone, `only_given` to the given verdicts alone. `unjudged` answers have no
    verdict of the judge, `ungiven` none in the file; `unknown` counts ids of the file that the run does not have.
    """
    compared = [(record.scores.judge, given[record.id]) for record in records if record.id in given]
    counts = Counter((judge is JudgeVerdict.CORRECT, other) for judge, other in compared if judge in _JUDGED)
    n = counts.total()
    kappa, interval = _kappa(counts)
    return {
        "n": n,
        "raw": (counts[True, True] + counts[False, False]) / n if n else None,
        "kappa": kappa,
        "interval": interval,
        "both_correct": counts[True, True],
        "both_incorrect": counts[False, False],
        "only_judge": counts[True, False],
        "only_given": counts[False, True],
        "unjudged": len(compared) - n,
        "ungiven": len(records) - len(compared),
        "unknown": len(given.keys() - {record.id for record in records}),
    }


_JUDGED = (JudgeVerdict.CORRECT, JudgeVerdict.INCORRECT)


def _kappa(counts: Counter[tuple[bool, bool]]) -> tuple[float | None, tuple[float, float] | None]:
    """Cohen's kappa; None (0/0) if both sides give one and the same verdict throughout."""
    if set(counts) in (set(), {(True, True)}, {(False, False)}):
        return None, None
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    table = [[counts[judge, other] for other in (True, False)] for judge in (True, False)]
    with np.errstate(invalid="ignore", divide="ignore"):  # statsmodels also runs a test that divides by zero
        kappa = cohens_kappa(table)
    low, high = float(kappa.kappa_low), float(kappa.kappa_upp)
    interval = None if math.isnan(low) or math.isnan(high) else (max(-1.0, low), min(1.0, high))
    return float(kappa.kappa), interval


# --- the file ----------------------------------------------------------------------------------


def read_verdicts(path: Path) -> dict[str, bool]:
    """Question id -> correct, from JSON Lines or CSV with the fields `id` and `correct`.

    Raises UsageError, naming the line, for anything else and for an id with two verdicts.
    """
    verdicts: dict[str, bool] = {}
    for row in rows(path, read_bytes(path)):
        question, correct = _verdict(row)
        if verdicts.setdefault(question, correct) != correct:
            raise row.fault(f"gives {question!r} a second, different verdict", hint="Keep one of them.")
    return verdicts


def _verdict(row: Row) -> tuple[str, bool]:
    question, correct = row.fields.get("id"), row.fields.get("correct")
    if question in (None, "") or correct is None:
        raise row.fault("lacks the field id or correct", hint=_HINT)
    if (verdict := _WORDS.get(str(correct).strip().casefold())) is None:
        raise row.fault(f"has {correct!r} as its verdict", hint="Write true or false.")
    return str(question), verdict
