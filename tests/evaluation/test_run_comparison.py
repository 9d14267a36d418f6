from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fakes.evaluation_records import folder, record, store
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.errors import UsageError
from iterative_rag.evaluation.markdown_report import comparison
from iterative_rag.evaluation.run_comparison import compare
from iterative_rag.evaluation.run_folder import RunFolder


def answers(right: str, name: str, **manifest: Any) -> RunFolder:
    """Questions 0, 1, 2 ... answered rightly where the text has a 1."""
    return folder([record(str(n), hit == "1") for n, hit in enumerate(right)], name, **manifest)


def test_it_counts_what_the_second_won_and_lost() -> None:
    found = compare([answers("1110000000", "old"), answers("0111111100", "new")])
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["n"]) == ("old", "new", 10)
    assert pair["won"] == ["3", "4", "5", "6", "7"]
    assert pair["lost"] == ["0"]
    assert pair["right"]["difference"] == 0.4
    assert pair["right"]["p"] == pytest.approx(2 * (1 + 6) / 64)
    assert pair["right"]["interval"][0] < 0.4 < pair["right"]["interval"][1]
    assert pair["f1"]["difference"] == 0.4
    assert [run["right"] for run in found["runs"]] == [0.3, 0.7]


def test_several_runs_are_all_paired_and_corrected_by_holm() -> None:
    runs = [answers("0" * 10, "none"), answers("1" * 8 + "00", "most"), answers("1" * 9 + "0", "nearly")]
    pairs = {(pair["first"], pair["second"]): pair["right"] for pair in compare(runs)["pairs"]}
    assert list(pairs) == [("none", "most"), ("none", "nearly"), ("most", "nearly")]
    assert pairs["none", "nearly"]["p"] == pytest.approx(2 / 512, abs=1e-6)
    assert pairs["none", "nearly"]["p_holm"] == pytest.approx(3 * 2 / 512, abs=1e-6)
    assert pairs["none", "most"]["p_holm"] == pytest.approx(2 * 2 / 256, abs=1e-6)
    assert pairs["most", "nearly"]["p_holm"] == 1.0


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"judge": "model, judge 2"}, "different judges: none, model, judge 2"),
        ({"dataset": {"name": "towns", "form": "plain", "digest": "e" * 64}}, "different datasets"),
        ({"corpus": {"name": "towns", "fingerprint": "g" * 64}}, "different corpora"),
        ({"questions": 9}, "not finished"),
    ],
)
def test_what_makes_runs_incomparable_is_a_warning(manifest: dict[str, object], said: str) -> None:
    warnings = compare([answers("10", "one"), answers("10", "other", **manifest)])["warnings"]
    assert len(warnings) == 1
    assert said in warnings[0]


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        compare([answers("1", "one")])
    with pytest.raises(UsageError, match="no question in common"):
        compare([answers("1", "one"), folder([record("other")], "two")])


def test_markdown_shows_every_run_and_escapes_names() -> None:
    runs = [answers("1100", "a|b"), answers("0111", "<i>"), answers("1111", "third")]
    text = comparison(compare(runs))
    assert r"a\|b" in text
    assert "<i>" not in text
    assert "→" in text
    assert "corrected by Holm for 3 pairs" in text
    assert "third, won: 2, 3" in text


def test_the_command_compares_folders(tmp_path: Path) -> None:
    paths = [store(answers(right, name), tmp_path / name) for right, name in (("1100", "old"), ("1110", "new"))]
    found = CliRunner().invoke(evaluate_app, ["compare", *map(str, paths), "--json"])
    assert json.loads(found.stdout)["pairs"][0]["won"] == ["2"]
    assert "| new" in CliRunner().invoke(evaluate_app, ["compare", *map(str, paths)]).stdout


def dear(run: RunFolder) -> RunFolder:
    """The same run with nine calls more for each answer."""
    spent = (dataclasses.replace(one.spent, calls=one.spent.calls + 9) for one in run.records)
    records = (dataclasses.replace(one, spent=cost) for one, cost in zip(run.records, spent, strict=True))
    return dataclasses.replace(run, records=tuple(records))


def test_it_says_which_run_is_best_and_from_which_few_questions_cannot_tell_it() -> None:
    poor, cheap = answers("0" * 80, "poor"), answers("1" * 78 + "00", "cheap")
    found = compare([poor, cheap, dear(answers("1" * 80, "dear"))])
    (best,) = found["best"]
    assert (best["run"], best["right"], [run["run"] for run in best["level"]]) == ("dear", 1.0, ["cheap"])
    assert best["calls"] == best["level"][0]["calls"] + 9
    said = comparison(found)
    assert "Best: dear, 100" in said
    assert "Too few questions to tell it from cheap, 97" in said
    assert "from poor" not in said


def test_a_bound_is_never_best() -> None:
    runs = [answers("1" * 80, "gold", mode="oracle"), answers("1" * 40 + "0" * 40, "loop"), answers("0" * 80, "one")]
    found = compare([*runs, answers("1" * 80, "by-heart", mode="closed-book")])
    (best,) = found["best"]
    assert (best["run"], best["level"]) == ("loop", [])
    said = comparison(found)
    assert "| gold (upper bound)" in said
    assert "| by-heart (lower bound)" in said
    assert compare(runs[:2])["best"] == []  # one run and a bound
