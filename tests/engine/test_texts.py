"""Questions that ask for a text: every sentence cited and checked, whatever the model writes."""

from __future__ import annotations

import re

import pytest

from fakes.harbour_articles import CAUSE, COMPARE, COURSE, WHY, Author, cited, extraction, fenced, numbered, text_reply
from fakes.scripted_llm import Scripted
from iterative_rag.protocols import ChatRequest
from iterative_rag.text.sentences import sentences
from iterative_rag.types import AnswerForm, FinalStep, ReasonCode, Status

LAMP, SPARKS, HOUSES = "left a lamp", "carried sparks", "destroyed 212"


def explained(request: ChatRequest) -> Scripted:
    return text_reply(f"{cited(request, LAMP, SPARKS)}\n\n{cited(request, HOUSES)}")


def every_sentence_is_cited(text: str) -> bool:
    said = [one for line in text.splitlines() if not line.startswith("#") for one in sentences(line)]
    return bool(said) and all(re.search(r"\[\d+\]", one) for one in said)


def test_a_why_question_is_answered_by_cited_sentences() -> None:
    author = Author(explained)
    answer = author.rag().ask(WHY)
    assert (answer.status, answer.form, answer.short_answer) == (Status.ANSWERED, AnswerForm.EXPLANATION, "")
    assert answer.text == (
        "A watchman had left a lamp burning in the tar store [1]. The wind carried sparks to the timber yards [2].\n\n"
        "The fire destroyed 212 houses and killed 14 people [3]."
    )
    assert [citation.title for citation in answer.citations] == ["Fire of Karsa"] * 3
    assert [claim.grounded for claim in answer.claims] == [True] * 3
    assert answer.caveats == ()
    assert author.calls == {"analyse": 1, "extract": 1, "write": 1}
    assert "note every sentence that tells of it" in author.llm.asked("extract")[0].user


@pytest.mark.parametrize(
    ("question", "said", "form"),
    [
        (WHY, "value", AnswerForm.EXPLANATION),
        (WHY, "", AnswerForm.EXPLANATION),
        ("Warum brannte der Hafen von Karsa?", "value", AnswerForm.EXPLANATION),
        ("Please summarise the Fire of Karsa.", "value", AnswerForm.SUMMARY),
        ("What was the Fire of Karsa like?", "nonsense", AnswerForm.EXPLANATION),
        ("How did the harbour of Karsa burn?", "", AnswerForm.EXPLANATION),
        ("Tell me about the Fire of Karsa", "summary", AnswerForm.SUMMARY),
        ("The Fire of Karsa and its causes", "explanation", AnswerForm.EXPLANATION),
    ],
)
def test_the_form_is_recognised_and_never_a_value_for_a_why(question: str, said: str, form: AnswerForm) -> None:
    plan = {"form": said, "status": "needs", "needs": [CAUSE, COURSE], "last": True}
    answer = Author(explained, analyse=lambda request: plan).rag().ask(question)
    assert (answer.form, answer.short_answer) == (form, "")
    assert every_sentence_is_cited(answer.text)


def test_what_no_fact_proves_is_taken_out_and_told() -> None:
    def wrong(request: ChatRequest) -> Scripted:
        lamp = numbered(request)["A watchman had left a lamp burning in the tar store."]
        return text_reply(
            f"{cited(request, LAMP)} It killed 41 people [{lamp}]. The mayor Edda Holm fled [{lamp}]. "
            f"Nobody was ever punished for it. {cited(request, SPARKS)} The flames were beautiful [99]."
        )

    steps = list(Author(wrong).rag().steps(WHY))
    assert isinstance(steps[-1], FinalStep)
    answer = steps[-1].answer
    assert answer.text == (
        "A watchman had left a lamp burning in the tar store [1]. The wind carried sparks to the timber yards [2]."
    )
    assert answer.caveats == ("Left out, because no quoted fact proves it: 4 sentences.",)
    assert all("41" not in claim.text for claim in answer.claims)


@pytest.mark.parametrize("kind", ["fenced", "in parts", "escaped twice", "thinking"])
def test_replies_as_models_write_them(kind: str) -> None:
    def write(request: ChatRequest) -> Scripted:
        text = f"{cited(request, LAMP)}\n\n{cited(request, HOUSES)}"
        replies: dict[str, Scripted] = {
            "fenced": fenced(text_reply(text)),
            "in parts": text_reply("") | {"answer": text.split("\n\n")},
            "escaped twice": text_reply(text.replace("\n", "\\n")),
            "thinking": f"<think>Which facts? [7]</think>{fenced(text_reply(text))}",
        }
        return replies[kind]

    answer = Author(write).rag().ask(WHY)
    assert answer.text == (
        "A watchman had left a lamp burning in the tar store [1].\n\n"
        "The fire destroyed 212 houses and killed 14 people [2]."
    )


def test_a_text_of_which_nothing_is_proved_is_written_again_and_then_the_facts_are_quoted() -> None:
    author = Author(lambda request: text_reply("Lightning struck the roof of Velm Tower [1]."))
    answer = author.rag().ask(WHY)
    assert author.calls["write"] == 2
    assert (answer.status, answer.form) == (Status.EXTRACT, AnswerForm.EXTRACT)
    assert "Velm" not in answer.text
    assert {citation.quote for citation in answer.citations} >= {"The town rebuilt the harbour in stone by 1911."}


def test_a_comparison_is_a_table_with_a_citation_in_every_cell() -> None:
    needs = [
        f"{asked} {bridge}{end}"
        for bridge in ("the Orra Bridge", "the Sunday Bridge")
        for asked, end in (("How long is", "?"), ("When was", " opened?"))
    ]

    def table(request: ChatRequest) -> Scripted:
        facts = numbered(request)
        n = {part: next(n for text, n in facts.items() if part in text) for part in ("40 m", "98 m", "1921", "1310")}
        return text_reply(
            "Here is the table.\n\n| | Length | Opened | Architect |\n|---|---|---|---|\n"
            f"| Orra Bridge | 40 m [{n['40 m']}] | 1921 [{n['1921']}] | Oda Brenk [1] |\n"
            f"| Sunday Bridge | 98 m [{n['98 m']}] | 1310 | - |"
        )

    plan = {"form": "table", "status": "needs", "needs": needs, "last": True}
    answer = Author(table, analyse=[plan]).rag().ask(COMPARE)
    assert answer.form is AnswerForm.TABLE
    assert answer.text.splitlines() == [
        "|  | Length | Opened | Architect |",
        "| --- | --- | --- | --- |",
        "| Orra Bridge | 40 m [1] | 1921 [2] | – |",
        "| Sunday Bridge | 98 m [3] | 1310 [4] | – |",
    ]
    assert any("2 cells" in caveat for caveat in answer.caveats)


def test_the_text_is_streamed_while_it_is_written() -> None:
    def write(request: ChatRequest) -> Scripted:
        reply = f'{{"status": "answered", "answer": "{cited(request, SPARKS, LAMP)}", "confidence": 0.9}}'
        assert request.written is not None
        for end in (60, len(reply)):
            request.written(reply[:end])
        return reply

    told: list[str] = []
    list(Author(write).rag().steps(WHY, written=told.append))
    assert told[-1].startswith("The wind carried sparks to the timber yards [1].")
    assert len(told) == 2


DENIED = "the fire was never put out by the navy"


def test_a_why_of_which_the_writer_finds_the_premise_untrue_is_a_false_premise() -> None:
    reply = {"status": "false_premise", "answer": "It is untrue [2].", "missing": f"{DENIED} [2]", "confidence": 0.9}
    answer = Author([reply]).rag().ask(WHY)
    assert (answer.status, answer.reason_code) == (Status.ABSTAINED, ReasonCode.FALSE_PREMISE)
    assert answer.reason == f"The question assumes something untrue: {DENIED} [1]"
    assert len(answer.citations) == 1


BEGAN = "When did the Fire of Karsa begin?"


def dated(request: ChatRequest) -> dict[str, object]:
    """The date as a fact of a need of its own, beside what tells of the cause."""
    facts = extraction(request)["facts"]
    for number in re.findall(rf"^QUESTION (\d+): {re.escape(BEGAN[:-1])}", request.user, re.MULTILINE):
        quote = "The Fire of Karsa began on 3 May 1904 in the tar store of the harbour."
        facts.append({"statement": quote, "quote": quote, "need": [int(number)], "value": "3 May 1904"})
    return {"facts": facts}


@pytest.mark.parametrize(
    ("question", "given", "short"),
    [
        ("What caused the Fire of Karsa, and when did it begin?", "3 May 1904", "3 May 1904"),
        ("What caused the Fire of Karsa, and when did it begin?", "9 June 1910", "3 May 1904"),  # not in the text
        ("What is the name of the place where the Fire of Karsa began, and why?", "the tar store", "the tar store"),
        ("Why did the harbour of Karsa burn?", "a lamp", ""),
    ],
)
@pytest.mark.parametrize("length", ["short", "paragraph"])
def test_a_value_that_is_asked_for_beside_a_text_is_the_short_answer(
    length: str, question: str, given: str, short: str
) -> None:
    """It was empty, which every scorer counts as no answer."""
    plan = {"form": "explanation", "status": "needs", "needs": [BEGAN, CAUSE], "last": True}
    author = Author(
        lambda request: text_reply(cited(request, "began on", LAMP), short_answer=given),
        analyse=lambda request: plan,
        extract=dated,
    )
    answer = author.rag(length=length).ask(question)
    assert (answer.form, answer.short_answer) == (AnswerForm.EXPLANATION, short)
    assert LAMP in answer.text
