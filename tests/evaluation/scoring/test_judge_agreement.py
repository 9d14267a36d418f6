"""Cohen's kappa against given verdicts, checked against a table worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.evaluation_records import record
from iterative_rag.errors import UsageError
from iterative_rag.evaluation.records import JudgeVerdict, QuestionRecord
from iterative_rag.evaluation.scoring.judge_agreement import agreement, read_verdicts


def records(verdicts: str) -> list[QuestionRecord]:
    """One record a letter, q0 and on: c(orrect), i(ncorrect), u(njudged), - (never asked)."""
    of = {"c": JudgeVerdict.CORRECT, "i": JudgeVerdict.INCORRECT, "u": JudgeVerdict.UNJUDGED, "-": None}
    return [record(f"q{n}", judge=of[letter]) for n, letter in enumerate(verdicts)]


def given(verdicts: str) -> dict[str, bool]:
    return {f"q{n}": letter == "c" for n, letter in enumerate(verdicts)}


def test_kappa_of_a_known_table() -> None:
    # 20 both correct, 5 only the judge, 10 only given, 15 both incorrect: po 0.7, pe 0.5, kappa 0.4.
    found = agreement(records("c" * 25 + "i" * 25), given("c" * 20 + "i" * 5 + "c" * 10 + "i" * 15))
    assert (found["both_correct"], found["only_judge"], found["only_given"], found["both_incorrect"]) == (20, 5, 10, 15)
    assert found["n"] == 50
    assert found["raw"] == pytest.approx(0.7)
    assert found["kappa"] == pytest.approx(0.4)
    assert found["interval"] is not None
    assert -1 <= found["interval"][0] < 0.4 < found["interval"][1] <= 1


@pytest.mark.parametrize(
    ("judge", "others", "raw", "kappa"),
    [
        ("ccii", "ccii", 1.0, 1.0),
        ("ccii", "iicc", 0.0, -1.0),
        ("cccc", "cccc", 1.0, None),  # chance explains all of it
        ("iiii", "iiii", 1.0, None),
        ("cccc", "iiii", 0.0, 0.0),
        ("cccc", "ccii", 0.5, 0.0),
        ("uu", "ci", None, None),
        ("", "", None, None),
    ],
)
def test_edges(judge: str, others: str, raw: float | None, kappa: float | None) -> None:
    found = agreement(records(judge), given(others))
    assert found["raw"] == raw
    assert found["kappa"] == (None if kappa is None else pytest.approx(kappa))


def test_what_cannot_be_compared_is_counted() -> None:
    found = agreement(records("cu-ic"), given("ccci") | {"elsewhere": True})
    assert (found["n"], found["unjudged"], found["ungiven"], found["unknown"]) == (2, 2, 1, 1)
    assert found["raw"] == 1.0


def test_every_repeat_counts() -> None:
    twice = [
        record("q0", repeat=n, judge=judge) for n, judge in ((1, JudgeVerdict.CORRECT), (2, JudgeVerdict.INCORRECT))
    ]
    found = agreement(twice, {"q0": True})
    assert (found["n"], found["both_correct"], found["only_given"]) == (2, 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "q0", "correct": true}\n\n{"id": "q1", "correct": "no", "by": "Edda"}\n{"id": 2, "correct": 1}\n',
        '\ufeffid,correct,by\nq0,TRUE,Edda\nq1,incorrect,"Holm, O."\n2,1,\n',
    ],
)
def test_verdicts_are_read_from_json_lines_and_csv(tmp_path: Path, text: str) -> None:
    file = tmp_path / "verdicts"
    file.write_text(text, encoding="utf-8")
    assert read_verdicts(file) == {"q0": True, "q1": False, "2": True}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("id,correct\n", "no rows"),
        ('{"id": "q0", "correct": true}\n{"id": "q1"}\n', "line 2 lacks"),
        ("question,verdict\nq0,true\n", "line 2 lacks"),
        ("id,correct\nq0,maybe\n", "line 2 has 'maybe'"),
        ('{"id": "q0", "correct": true\n{"id": "q1", "correct": true}\n', "line 1 is not JSON"),
        ('{"id": "q0", "correct": true}\n[]\n', "line 2 is not a JSON object"),
        ("id,correct\nq0,true\nq0,false\n", "line 3 gives 'q0' a second"),
    ],
)
def test_a_wrong_file_says_where(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "verdicts"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said) as refused:
        read_verdicts(file)
    assert refused.value.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no file"):
        read_verdicts(tmp_path / "none.csv")
