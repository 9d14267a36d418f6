"""How runs with an LLM end: last attempts, needs that were never searched, other values and caveats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

from fakes.in_memory import MemoryCorpus
from fakes.llm_loop import outcome, run_loop
from fakes.sample_answers import check_schema
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.cli.answer_view import show_answer
from iterative_rag.cli.console import Printer
from iterative_rag.errors import LLMTimeout
from iterative_rag.storage.output import answer_to_json
from iterative_rag.types import Answer, Hit, ReasonCode, Status

CORPUS = MemoryCorpus(
    {
        "Velm Tower": "Velm Tower was begun in 1900. The work took eleven years.",
        "Karsa library": "The library of Karsa was planned in 1890. It was opened in 1898.",
        "Orra Bridge": "The Orra Bridge was finished in 1911.",
    }
)
QUESTION = "Who was the teacher of the architect of Velm Tower?"
NEED = {"status": "needs", "needs": ["When was Velm Tower begun?"]}
BEGUN = {"facts": [{"statement": "It was begun in 1900.", "quote": "Velm Tower was begun in 1900.", "value": "1900"}]}
NOTHING: dict[str, Any] = {"facts": []}
STUCK = {"question": QUESTION, "status": "stuck", "reason": "nothing left"}
REFUSED = {"status": "not_in_facts", "missing": "who designed it"}


def answering(text: str = "It was 1900 [1].", short: str = "1900", **fields: Any) -> dict[str, Any]:
    return {"status": "answered", "answer": text, "short_answer": short, "confidence": 0.9, **fields}


def asked(llm: ScriptedLLM, **settings: Any) -> Answer:
    with llm:
        return outcome(run_loop(CORPUS, llm, QUESTION, **settings))


def scripted(**replies: Any) -> ScriptedLLM:
    return ScriptedLLM({"analyse": [NEED], "extract": [BEGUN], "rephrase_and_analyse": [STUCK], **replies})


def shown(answer: Answer) -> str:
    out = StringIO()
    show_answer(answer, Printer(out))
    return out.getvalue()


# --- the last attempt ------------------------------------------------------------------------


@pytest.mark.parametrize("doubt", [{"caveats": ["The teacher is not stated."]}, {"confidence": 0.4}])
def test_after_stuck_the_first_call_is_the_last_attempt_and_marked_where_it_is_in_doubt(doubt: dict[str, Any]) -> None:
    """It was refused and then asked again in words that allow what is likely: two calls, or an answer less."""
    llm = scripted(answer=[answering(**doubt)])
    answer = asked(llm)
    assert (answer.status, answer.short_answer, answer.reason) == (Status.ANSWERED, "1900", "")
    assert answer.last_attempt
    assert answer.confidence == min(0.45, doubt.get("confidence", 1))
    assert [("last attempt" in request.user) for request in llm.asked("answer")] == [True]
    assert "Last attempt: nothing more was found" in shown(answer)


def test_a_refusal_after_known_is_followed_by_a_last_attempt_that_is_marked() -> None:
    llm = scripted(rephrase_and_analyse=[{**STUCK, "status": "known"}], answer=[REFUSED, answering()])
    answer = asked(llm)
    assert (answer.status, answer.short_answer, answer.last_attempt) == (Status.ANSWERED, "1900", True)
    assert [("last attempt" in request.user) for request in llm.asked("answer")] == [False, True]


def test_a_last_attempt_that_names_nothing_is_an_abstention() -> None:
    answer = asked(scripted(answer=[REFUSED]))
    assert (answer.status, answer.reason, answer.last_attempt) == (Status.ABSTAINED, "who designed it", False)


def test_a_false_premise_needs_no_last_attempt() -> None:
    untrue = {"status": "false_premise", "missing": "It has no architect."}
    answer = asked(scripted(answer=[untrue]))
    assert answer.status is Status.ABSTAINED
    assert answer.reason == "The question assumes something untrue: It has no architect."


def test_a_need_that_lost_a_window_gets_no_last_attempt() -> None:
    both = {"status": "needs", "needs": ["When was Velm Tower begun?", "When was the library of Karsa opened?"]}

    def extract(request: Any) -> Any:
        return LLMTimeout("slow") if "[Karsa library]" in request.user else BEGUN

    llm = ScriptedLLM(
        {"analyse": lambda request: both if "1900" not in request.user else STUCK}
        | {"rephrase_and_analyse": lambda request: STUCK, "extract": extract, "answer": lambda request: REFUSED}
    )
    answer = outcome(run_loop(CORPUS, llm, QUESTION))
    assert answer.status is Status.INCOMPLETE
    assert answer.reason.startswith("1 document could not be read: Karsa library (slow).")
    assert not any("last attempt" in request.user for request in llm.asked("answer"))


# --- needs that were never searched ----------------------------------------------------------


def test_barren_hops_do_not_end_the_run_before_another_thing_was_searched() -> None:
    """Two hops brought nothing about the tower; the bridge, which is all that the answer needs, was never searched."""
    needs = ["Who ordered Velm Tower?", "Which person ordered Velm Tower?", "When was the Orra Bridge finished?"]
    finished = {"statement": "", "quote": "The Orra Bridge was finished in 1911.", "value": "1911"}
    llm = ScriptedLLM(
        {
            "analyse": [{"status": "needs", "needs": [need]} for need in needs],
            "extract": [NOTHING, {"facts": [finished]}],
            "rephrase_and_analyse": [{"question": QUESTION, "status": "known"}],
            "answer": [answering("It was finished in 1911 [1].", "1911")],
        }
    )
    answer = asked(llm)
    assert (answer.status, answer.short_answer, len(answer.hops)) == (Status.ANSWERED, "1911", 3)
    assert 'Article exhausted, nothing of it is left to show: "Velm Tower"' in llm.asked("analyse")[2].user


class LeadCorpus(MemoryCorpus):
    """Its hits are the beginnings of documents."""

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return [[replace(hit, end=20) for hit in hits] for hits in super().search(queries, limit)]


def test_what_was_not_read_of_an_article_is_not_told_as_nothing_found() -> None:
    """The planner gave the article up, or asked the same again, for which nothing was read."""
    financed = "Its walls were financed by the guild of Karsa."
    text = "\n\n".join(["Velm Tower is high.", *["It is painted anew."] * 200, financed, "It is old."])
    needs = ["When was Velm Tower opened?", "Which guild financed the walls of Velm Tower?"]
    llm = ScriptedLLM(
        {
            "analyse": [{"status": "needs", "needs": needs[:1]}, {"status": "needs", "needs": needs[1:2]}],
            "extract": [NOTHING, {"facts": [{"statement": "", "quote": financed, "value": "guild of Karsa"}]}],
            "rephrase_and_analyse": [{"question": QUESTION, "status": "known"}],
            "answer": [answering("It was the guild of Karsa [1].", "guild of Karsa")],
        }
    )
    with llm:
        run_loop(LeadCorpus({"Velm Tower": text}), llm, QUESTION)
    rest = '; the rest of "Velm Tower" was not read: ask in other words, which it may use'
    assert f"- {needs[0]} -> nothing found{rest}" in llm.asked("analyse")[1].user
    assert f"- {needs[0]} -> nothing found\n- {needs[1]} -> [1]" in llm.asked("rephrase_and_analyse")[0].user


# --- rows that the corpus lacks --------------------------------------------------------------


def test_rows_that_the_corpus_lacks_are_told_to_the_reader_the_planner_and_the_user() -> None:
    need = "Which films did Oda Brenk direct?"
    corpus = MemoryCorpus(
        {"Oda Brenk": "# Oda Brenk\n\nShe made films.\n\n## Filmography\n\n### Film\n\n## Life\n\nLong."}
    )
    analyses: list[dict[str, Any]] = [{"status": "needs", "needs": [need]}, {"status": "stuck", "reason": "no rows"}]
    llm = ScriptedLLM({"analyse": analyses, "extract": [NOTHING]})
    with llm:
        answer = outcome(run_loop(corpus, llm, need))
    assert (answer.status, answer.reason_code) == (Status.ABSTAINED, ReasonCode.ROWS_LOST)
    assert answer.reason.endswith('This corpus does not have the rows of "Filmography" in the article "Oda Brenk".')
    (read,), (_, planned, *_) = llm.asked("extract"), llm.asked("analyse")
    assert "This corpus does not have the rows of: Filmography · Film" in read.user
    assert "LISTS WITHOUT ROWS (this corpus has their headings alone: look in another article, or" in planned.user


@pytest.mark.parametrize(
    ("title", "section", "need"),
    [
        ("List of towers of Karsa", "Towers", 'What ranks third in the land? (see "List of towers of Karsa")'),
        ("List of towers of Karsa", "List of the highest", "Which towers of Karsa rank third?"),
        ("Orra Award for Best Play", "Winners", "Which plays were nominated for best play at the 2nd Orra Awards?"),
    ],
)
def test_lists_without_rows_are_told_whatever_the_words_of_the_need(title: str, section: str, need: str) -> None:
    corpus = MemoryCorpus({title: f"It is of Karsa, and one of the Orra Awards.\n\n{section}\nSee also\nTarn"})
    analyses: list[dict[str, Any]] = [{"status": "needs", "needs": [need]}, {"status": "stuck", "reason": "no rows"}]
    llm = ScriptedLLM({"analyse": analyses, "extract": [NOTHING]})
    outcome(run_loop(corpus, llm, QUESTION))
    assert f'- the rows of "{section}" in the article "{title}"' in llm.asked("analyse")[1].user


# --- other values and caveats ----------------------------------------------------------------

DATES = [
    {"statement": "", "quote": "The library of Karsa was planned in 1890.", "value": "1890"},
    {"statement": "", "quote": "It was opened in 1898.", "value": "1898"},
]
LIBRARY = {"status": "needs", "needs": ["When was the library of Karsa opened?"], "last": True}


def of_the_library(**fields: Any) -> Answer:
    reply = answering("The library of Karsa was opened in 1898 [2].", "1898", **fields)
    llm = ScriptedLLM({"analyse": [LIBRARY], "extract": [{"facts": DATES}], "answer": [reply]})
    return asked(llm)


def test_other_values_and_caveats_of_an_answer_are_kept_and_shown() -> None:
    """They stood in "missing", which nobody saw once the question was answered."""
    rows = "The rows of the list are not in the text."
    answer = of_the_library(also=["1890, when it was planned [1]"], caveats=[rows])
    assert answer.status is Status.ANSWERED
    assert answer.also == ("1890, when it was planned [2]",)
    assert answer.citations[1].quote == DATES[0]["quote"]
    assert answer.caveats == (rows,)
    made = answer_to_json(answer, version="1")
    check_schema(made)
    assert (made["also"], made["caveats"], made["last_attempt"]) == (list(answer.also), list(answer.caveats), False)
    assert "also  1890, when it was planned [2]" in shown(answer)
    assert f"caveat  {rows}" in shown(answer)


@pytest.mark.parametrize(
    "also",
    ["1890", "1897, by the inscription [1]", "1898 [2]", "1890, as Per Holm says [1]", "none", "", None, [], [{}]],
)
def test_another_value_counts_only_with_a_fact_that_states_it(also: Any) -> None:
    assert of_the_library(also=also).also == ()


# --- derived values --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("working", "year"),
    [
        ("1900 [1] + 11 = 1911", "1911"),  # the quote says "eleven"
        ("1900 [1] + 11 = 1911; 1911 + 11 = 1922", "1922"),
    ],
)
def test_a_derived_year_is_proved_by_the_sum_that_leads_to_it(working: str, year: str) -> None:
    """The year stands in no fact, so the answer was refused."""
    took = {"statement": "", "quote": "The work took eleven years.", "value": "eleven years"}
    reply = answering(f"The work ended in {year} [1][2].", year, working=working)
    llm = scripted(
        analyse=[{**NEED, "last": True}],
        extract=[{"facts": [*BEGUN["facts"], took]}],
        answer=[reply],
        rephrase_and_analyse=[],
    )
    answer = asked(llm)
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, year)
    assert answer.computations[-1].result == year
