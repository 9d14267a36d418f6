from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fakes.evaluation_records import abstention, folder, record, store
from iterative_rag.cli.evaluate import evaluate_app
from iterative_rag.errors import UsageError
from iterative_rag.evaluation.metrics.run_comparison import compare, unique_names
from iterative_rag.evaluation.questions import Answerability
from iterative_rag.evaluation.records import JudgeVerdict, Outcome
from iterative_rag.evaluation.report.comparison_report import comparison
from iterative_rag.evaluation.running.run_folder import RunFolder


def answers(right: str, name: str, **manifest: Any) -> RunFolder:
    """Questions 0, 1, 2 ... answered rightly where the text has a 1."""
    return folder([record(str(n), hit == "1") for n, hit in enumerate(right)], name, **manifest)


def test_it_counts_what_the_second_won_and_lost() -> None:
    found = compare([answers("1110000000", "old"), answers("0111111100", "new")])
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["n"]) == ("old", "new", 10)
    assert pair["won"] == ["3", "4", "5", "6", "7"]
    assert pair["lost"] == ["0"]
    assert (pair["both"], pair["neither"]) == (2, 2)
    assert pair["right"]["difference"] == 0.4
    assert pair["right"]["p"] == pytest.approx(2 * (1 + 6) / 64)
    assert pair["right"]["interval"][0] < 0.4 < pair["right"]["interval"][1]
    assert pair["f1"]["difference"] == 0.4
    assert [run["right"] for run in found["runs"]] == [0.3, 0.7]


def test_pairs_go_by_id_and_not_by_place() -> None:
    one = answers("110", "one")
    other = folder(list(reversed(answers("110", "other").records)), "other")
    (pair,) = compare([one, other])["pairs"]
    assert pair["won"] == pair["lost"] == []
    assert pair["right"]["p"] == 1.0
    assert pair["right"]["interval"][0] < 0 < pair["right"]["interval"][1]  # three questions prove nothing


def test_what_either_judge_could_not_judge_and_what_has_no_answer_is_left_out() -> None:
    first = folder(
        [
            record("a"),
            record("b", judge=JudgeVerdict.UNJUDGED),
            record("c", False),
            abstention("d", Answerability.NOT_IN_CORPUS),
        ]
    )
    second = folder([record("a", False), record("b"), record("c", outcome=Outcome.FAULT), record("e")], "second")
    (pair,) = compare([first, second])["pairs"]
    assert (pair["n"], pair["won"], pair["lost"]) == (2, [], ["a"])


def test_repeats_are_one_question_each() -> None:
    """Twice right of three is more than once right of three, and still one question."""
    thrice = [record("a", repeat < 3, repeat=repeat) for repeat in (1, 2, 3)]
    once = [record("a", repeat < 2, repeat=repeat) for repeat in (1, 2, 3)]
    (pair,) = compare([folder(once, "once"), folder(thrice, "thrice")])["pairs"]
    assert (pair["n"], pair["won"]) == (1, ["a"])
    assert pair["right"]["difference"] == pytest.approx(1 / 3, abs=1e-6)


def test_costs_are_ratios_over_the_common_questions() -> None:
    first = folder([record("a", spent=(2, 100, 0, 4.0)), record("x", spent=(90, 9, 9, 9.0))], "first", price=[1.0, 2.0])
    second = folder([record("a", spent=(5, 100, 50, 2.0))], "second", price=[1.0, 2.0])
    (pair,) = compare([first, second])["pairs"]
    assert pair["ratios"] == {"calls": 2.5, "tokens": 1.5, "seconds": 0.5, "cost": 2.0}
    free = folder([record("a")], "free")
    (pair,) = compare([free, first])["pairs"]
    assert pair["ratios"] == {"calls": None, "tokens": None, "seconds": None, "cost": None}


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
        ({"self_judged": True}, "judged its own answers"),
        ({"questions": 9}, "not finished"),
    ],
)
def test_what_makes_runs_incomparable_is_a_warning(manifest: dict[str, object], said: str) -> None:
    warnings = compare([answers("10", "one"), answers("10", "other", **manifest)])["warnings"]
    assert len(warnings) == 1
    assert said in warnings[0]


def test_equal_conditions_need_no_warning_and_other_questions_do() -> None:
    assert compare([answers("10", "one"), answers("01", "other")])["warnings"] == []
    (warning,) = compare([answers("10", "one"), answers("0111", "other")])["warnings"]
    assert "(2, 4); 2 are common" in warning


def test_it_says_which_settings_differ() -> None:
    one = answers("10", "one", settings={"max_hops": 6, "seed": 1, "llm": "builtin"}, seed=5)
    other = answers("10", "other", settings={"max_hops": 3, "seed": 2, "llm": "builtin"}, seed=5, mode="naive")
    differing = [run["differs"] for run in compare([one, other])["runs"]]
    assert differing == [
        {"mode": "iterative", "max_hops": 6, "settings.seed": 1},
        {"mode": "naive", "max_hops": 3, "settings.seed": 2},
    ]


def test_names_are_as_short_as_they_are_unique() -> None:
    paths = [Path("a/first/run"), Path("a/second/run")]
    assert unique_names(paths) == ["first/run", "second/run"]
    with pytest.raises(UsageError, match="twice"):
        unique_names([paths[0], paths[0]])


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        compare([answers("1", "one")])
    with pytest.raises(UsageError, match="no question in common"):
        compare([answers("1", "one"), folder([record("other")], "two")])


def test_one_pair_without_common_questions_does_not_hide_the_others() -> None:
    elsewhere = folder([record("x")], "elsewhere")
    found = compare([answers("10", "one"), answers("11", "two"), elsewhere])
    assert [(pair["first"], pair["second"]) for pair in found["pairs"]] == [("one", "two")]
    assert "elsewhere" in comparison(found)


def test_markdown_shows_every_run_and_escapes_names() -> None:
    runs = [answers("1100", "a|b"), answers("0111", "<i>"), answers("1111", "third")]
    text = comparison(compare(runs))
    assert r"a\|b" in text
    assert "<i>" not in text
    assert "→" in text
    assert "corrected for 3 pairs" in text
    assert "won: 2, 3" in text


def test_the_command_compares_folders(tmp_path: Path) -> None:
    paths = [store(answers(right, name), tmp_path / name) for right, name in (("1100", "old"), ("1110", "new"))]
    found = CliRunner().invoke(evaluate_app, ["compare", *map(str, paths), "--json"])
    assert json.loads(found.stdout)["pairs"][0]["won"] == ["2"]
    assert "| new" in CliRunner().invoke(evaluate_app, ["compare", *map(str, paths)]).stdout


def test_a_fault_does_not_change_with_its_best_answer_so_far() -> None:
    """A fault is wrong even where the answer so far would have been right."""
    broken = dataclasses.replace(record("0"), outcome=Outcome.FAULT)
    (pair,) = compare([answers("1", "one"), folder([broken], "other")])["pairs"]
    assert pair["lost"] == ["0"]


def dear(run: RunFolder) -> RunFolder:
    """The same run with nine calls more for each answer."""
    spent = (dataclasses.replace(one.spent, calls=one.spent.calls + 9) for one in run.records)
    records = (dataclasses.replace(one, spent=cost) for one, cost in zip(run.records, spent, strict=True))
    return dataclasses.replace(run, records=tuple(records))


def test_it_says_which_run_is_best_and_which_costs_less_for_as_much() -> None:
    poor, cheap = answers("0" * 80, "poor"), answers("1" * 78 + "00", "cheap")
    found = compare([poor, cheap, dear(answers("1" * 80, "dear"))])
    (best,) = found["best"]
    assert best["runs"] == ["poor", "cheap", "dear"]
    assert (best["run"], best["right"]) == ("dear", 1.0)
    assert (best["cheapest"], best["cheapest_right"]) == ("cheap", 0.975)
    assert best["calls"] == best["cheapest_calls"] + 9
    said = comparison(found)
    assert "Best: dear, 100" in said
    assert "not surely worse: cheap, 97" in said
    assert "Too few" not in said


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        ("11100000", "11111100", "Too few questions to tell (8) whether low is as good: 75 points worse to "),
        ("1110", "1110", "Too few questions to tell (4) whether high is as good: "),
        ("1" * 20 + "0" * 10, "1" * 23 + "0" * 7, "Too few questions to tell (30) whether low is as good: "),
        ("0" * 8, "1" * 8, "none that is cheaper comes near it."),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_few_questions_make_no_run_as_good_as_another(low: str, high: str, told: str, turned: bool) -> None:
    runs = [answers(low, "low"), dear(answers(high, "high"))]
    said = comparison(compare(runs[::-1] if turned else runs))
    assert ("Most right: " if "Too few" in told else "Best: ") in said
    assert told in said
    assert "not surely worse" not in said


def test_a_bound_is_never_best() -> None:
    many = 80
    runs = [
        answers("1" * many, "gold", mode="oracle"),
        answers("1" * 40 + "0" * 40, "loop"),
        answers("0" * many, "one"),
    ]
    runs.append(answers("1" * many, "by-heart", mode="closed-book"))
    found = compare(runs)
    (best,) = found["best"]
    assert (best["runs"], best["run"], best["cheapest"]) == (["loop", "one"], "loop", "loop")
    said = comparison(found)
    assert "| gold (upper bound)" in said
    assert "| by-heart (lower bound)" in said
    assert compare(runs[:2])["best"] == []  # one run and a bound


def test_each_set_of_questions_has_its_own_best() -> None:
    one, other = answers("10", "one"), answers("11", "other")
    shifted = [
        dataclasses.replace(
            run,
            path=run.path.with_name(f"{run.name}-b"),
            records=tuple(dataclasses.replace(record, id=f"b{record.id}") for record in run.records),
        )
        for run in (one, other)
    ]
    assert [entry["run"] for entry in compare([one, other, *shifted])["best"]] == ["other", "other-b"]
