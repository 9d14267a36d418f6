from __future__ import annotations

import pytest

from fakes.evaluation_records import abstention, hop, record
from iterative_rag.evaluation.records import Answerability, Cause, JudgeVerdict, Outcome, Spent
from iterative_rag.evaluation.summary import summarise

# --- scores ----------------------------------------------------------------------------------


def test_scores_are_means_over_the_answerable_questions() -> None:
    found = summarise(
        [record("a"), record("b", False, f1=0.5), record("c", False), abstention("d", Answerability.FALSE_PREMISE)]
    )
    assert (found["n"], found["answerable"], found["answers"]) == (4, 3, 4)
    assert found["em"] == found["right"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["f1"] == pytest.approx(0.5)
    assert found["judge"] is None
    low, high = found["intervals"]["right"]
    assert low < found["right"] < high
    assert "judge" not in found["intervals"]


def test_the_judge_decides_and_what_it_could_not_judge_is_left_out() -> None:
    found = summarise(
        [
            record("a", False, judge=JudgeVerdict.CORRECT),
            record("b", True, judge=JudgeVerdict.INCORRECT),
            record("c", True, judge=JudgeVerdict.UNJUDGED),
            abstention("d"),
        ]
    )
    assert found["right"] == found["judge"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["unjudged"] == 1
    assert found["em"] == 0.5  # the rules know all four


def test_a_fault_is_wrong_and_counted() -> None:
    broken = record("b", True, outcome=Outcome.FAULT, fault="LLMTimeout: no reply", cause=Cause.FAULT)
    found = summarise([record("a"), broken, abstention("c"), record("d", False, outcome=Outcome.INCOMPLETE)])
    assert (found["answered"], found["faults"], found["abstained"], found["incomplete"]) == (1, 1, 1, 1)
    assert found["right"] == 0.25
    assert found["by_cause"] == {"fault": 1}


def test_repeats_count_once_per_question() -> None:
    """Three answers to a hard question and one to an easy one: half of the questions, not a quarter of the answers."""
    hard = [record("hard", False, repeat=repeat) for repeat in (1, 2, 3)]
    found = summarise([*hard, record("easy")])
    assert (found["n"], found["answers"], found["right"]) == (2, 4, 0.5)


# --- cost ------------------------------------------------------------------------------------


def test_cost_in_calls_tokens_and_seconds() -> None:
    records = [
        record("a", spent=(2, 1_000_000, 0, 1.0), judging=Spent(1, 10, 5, 0, 0.5)),
        record("b", False, spent=(4, 0, 500_000, 3.0)),
    ]
    found = summarise(records)
    assert found["calls"] == {"total": 6, "mean": 3.0}
    assert found["tokens"] == {"total": 1_500_000, "mean": 750_000}
    assert found["seconds"] == {"total": 4.0, "mean": 2.0, "median": 2.0}
    assert found["judging"] == {"calls": 1, "tokens": 15}
    assert found["intervals"]["calls"] == [2.0, 4.0]


# --- evidence --------------------------------------------------------------------------------


def test_retrieval_follows_the_needed_articles_over_all_hops() -> None:
    hops = (hop(1, listed="ax", read="a", facts="a"), hop(2, listed="bc", read="b", facts=""))
    found = summarise([record("q", gold=("a", "b", "c", "d"), missing_gold=("Lost",), hops=hops), record("none")])
    retrieval = found["retrieval"]
    assert (retrieval["n"], retrieval["missing"]) == (1, 1)
    assert retrieval["listed"] == {"recall": 0.75, "all_found": 0.0}
    assert retrieval["read"] == {"recall": 0.5, "all_found": 0.0}
    assert retrieval["facts"] == {"recall": 0.25, "all_found": 0.0}


def test_abstention_is_measured_where_questions_cannot_be_answered() -> None:
    records = [
        abstention("a"),
        abstention("b", Answerability.NOT_IN_CORPUS),
        record("c", kind=Answerability.FALSE_PREMISE),
        record("fault", False, kind=Answerability.NOT_IN_CORPUS, outcome=Outcome.FAULT),
        record("cap", False, kind=Answerability.NOT_IN_CORPUS, outcome=Outcome.INCOMPLETE),
    ]
    assert summarise(records)["abstention"] == {"precision": 0.5, "recall": 0.25, "unanswerable": 4}
    assert summarise(records[:1])["abstention"] == {"precision": None, "recall": None, "unanswerable": 0}
    assert summarise(records[2:3])["abstention"] == {"precision": None, "recall": 0.0, "unanswerable": 1}


def test_calibration_looks_at_answers_that_were_given_and_judged() -> None:
    found = summarise(
        [
            record("a", confidence=0.95),
            record("b", False, confidence=0.95),
            record("c", kind=Answerability.FALSE_PREMISE, confidence=0.95),  # answered what cannot be answered: wrong
            record("d", confidence=0.15, judge=JudgeVerdict.UNJUDGED),
            abstention("e", confidence=0.99),
            record("f", outcome=Outcome.FAULT, confidence=0.99),
        ]
    )["calibration"]
    assert found["n"] == 3
    assert found["bins"] == [
        {"low": 0.9, "high": 1.0, "n": 3, "confidence": 0.95, "right": pytest.approx(1 / 3, abs=1e-6)}
    ]
    assert found["ece"] == pytest.approx(0.95 - 1 / 3, abs=1e-6)
    assert summarise([abstention("a")])["calibration"] is None
