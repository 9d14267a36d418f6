"""A question begins with what earlier ones found in the documents that it names, as far as that still stands there."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.decomposition_mind import Chain, DecompositionMind, Link
from fakes.in_memory import DictCache, MemoryCorpus
from iterative_rag.app.conversations import ConversationSession
from iterative_rag.app.conversations.session import earlier_of
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.evaluation.scoring.citations import verified
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.settings import Settings
from iterative_rag.types import AnalysisStep, Answer, AnsweringStep, FinalStep, Status, Step

PAGES = {
    "Velm Tower": "Velm Tower stands in Karsa. Velm Tower was designed by Oda Brenk.",
    "Oda Brenk": "Oda Brenk was born in Orra. Oda Brenk was taught by Tomas Vey.",
    "Karsa": "Karsa is a town.",
}
DESIGNED = Link("Who designed Velm Tower?", "Oda Brenk", "Velm Tower", "Velm Tower was designed by Oda Brenk.")
BORN = Link("Where was #1 born?", "Orra", "Oda Brenk", "Oda Brenk was born in Orra.")
TAUGHT = Link("Who taught #1?", "Tomas Vey", "Oda Brenk", "Oda Brenk was taught by Tomas Vey.")
FIRST = Chain("Where was the architect of Velm Tower born?", "Orra", (DESIGNED, BORN))
SECOND = Chain("Who taught the architect of Velm Tower?", "Tomas Vey", (DESIGNED, TAUGHT))
THIRD = Chain("Who was the architect of Velm Tower?", "Oda Brenk", (DESIGNED,))


class Asking:
    """One cache, and a model that counts its calls."""

    def __init__(self) -> None:
        self.mind, self.cache = DecompositionMind([FIRST, SECOND, THIRD]), DictCache()

    def steps(self, chain: Chain, pages: dict[str, str] = PAGES, **settings: Any) -> tuple[list[Step], int]:
        """The steps of a question, and how many calls it took."""
        before = self.mind.calls.total()
        return list(self.over(MemoryCorpus(pages), **settings).steps(chain.question)), self.mind.calls.total() - before

    def over(self, corpus: MemoryCorpus, **settings: Any) -> IterativeRAG:
        chosen = Settings.model_validate({"shortlist": 2, **settings})
        backend = LLMBackend(self.mind, None, self.cache, chosen)
        return IterativeRAG(chosen, corpus=corpus, backend=backend, cache=self.cache, embedder=HashingEmbedder())

    def ask(self, chain: Chain, pages: dict[str, str] = PAGES, **settings: Any) -> tuple[Answer, int]:
        steps, calls = self.steps(chain, pages, **settings)
        assert isinstance(steps[-1], FinalStep)
        return steps[-1].answer, calls


def test_a_related_question_takes_fewer_calls() -> None:
    _, alone = Asking().ask(SECOND)
    asking = Asking()
    asking.ask(FIRST)
    steps, calls = asking.steps(SECOND)
    assert (alone, calls) == (5, 3)
    assert isinstance(steps[-1], FinalStep)
    answer = steps[-1].answer
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, "Tomas Vey")
    (known, *_) = (step.known for step in steps if isinstance(step, AnalysisStep))
    assert [(fact.title, fact.quote, fact.source) for fact in known] == [
        ("Velm Tower", "Velm Tower was designed by Oda Brenk.", "Velm Tower.md"),
        ("Oda Brenk", "Oda Brenk was born in Orra.", "Oda Brenk.md"),
    ]


def test_a_conversation_remembers_facts_that_an_answer_took_over_from_earlier_questions() -> None:
    asking = Asking()
    asking.ask(FIRST)
    talk = ConversationSession(asking.over(MemoryCorpus(PAGES)))
    answer = talk.ask(THIRD.question)
    assert (answer.short_answer, answer.hops) == ("Oda Brenk", ())
    quotes = [citation.quote for citation in answer.citations]
    assert quotes == ["Velm Tower was designed by Oda Brenk."]
    assert [fact.quote for fact in earlier_of(talk.conversation, "and when?").facts] == quotes
    assert all(cited.verified for cited in verified(answer, MemoryCorpus(PAGES)))


def test_facts_of_a_named_document_about_something_else_are_left_out() -> None:
    """They were listed in the plan of every question about the town, and stayed there to its answer."""
    pages = {
        "Karsa": "Karsa was founded by Ada Holm. Velm Tower in the east was designed by Oda Brenk.",
        "Oda Brenk": "Oda Brenk was born in Orra.",
    }
    beside = Link(DESIGNED.question, "Oda Brenk", "Karsa", "Velm Tower in the east was designed by Oda Brenk.")
    founded = Link("Who founded Karsa?", "Ada Holm", "Karsa", "Karsa was founded by Ada Holm.")
    other = Chain("Where in Karsa was the architect of Velm Tower born?", "Orra", (beside, BORN))
    asking = Asking()
    asking.mind = DecompositionMind([other, Chain(founded.question, "Ada Holm", (founded,))])
    asking.ask(other, pages)
    steps, _ = asking.steps(Chain(founded.question, "Ada Holm", (founded,)), pages)
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))
    assert isinstance(steps[-1], FinalStep)
    assert steps[-1].answer.short_answer == "Ada Holm"


def test_a_repeated_question_takes_no_call() -> None:
    """It would, if it began with what it has found itself, or what was found since."""
    asking = Asking()
    for chain in (FIRST, SECOND):
        asking.ask(chain)
    assert [asking.ask(chain)[1] for chain in (FIRST, SECOND, FIRST)] == [0, 0, 0]


def test_what_a_changed_document_said_is_not_used() -> None:
    asking = Asking()
    asking.ask(FIRST)
    changed = {**PAGES, "Velm Tower": f"It is said that {PAGES['Velm Tower']}"}
    steps, calls = asking.steps(SECOND, changed)
    assert calls == 5
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))


def test_a_repeated_question_leaves_out_what_has_changed_or_gone() -> None:
    asking = Asking()
    asking.ask(FIRST)
    asking.ask(SECOND)
    changed = {**PAGES, "Velm Tower": f"{PAGES['Velm Tower']} It is high."}
    gone = {title: text for title, text in changed.items() if title != "Oda Brenk"}
    for pages, titles in ((changed, ["Oda Brenk"]), (gone, [])):
        steps, _ = asking.steps(SECOND, pages)
        (known, *_) = (step.known for step in steps if isinstance(step, AnalysisStep))
        assert [fact.title for fact in known] == titles


def test_an_answer_outlives_a_document_that_is_removed_meanwhile() -> None:
    """Only what is to be kept for other questions is looked up again."""
    asking, corpus = Asking(), MemoryCorpus(PAGES)
    asking.ask(FIRST)  # so that the second question begins with facts of both documents
    for step in asking.over(corpus).steps(SECOND.question):
        if isinstance(step, AnsweringStep):
            del corpus.documents["Oda Brenk"]
    assert isinstance(step, FinalStep)
    assert (step.answer.status, step.answer.short_answer) == (Status.ANSWERED, "Tomas Vey")
    again, _ = asking.steps(SECOND)
    (known, *_) = (step.known for step in again if isinstance(step, AnalysisStep))
    assert [fact.title for fact in known] == ["Velm Tower"]


@pytest.mark.parametrize("off", [{"reuse": "words"}, {"cache": False}])
def test_without_reuse_nothing_is_known(off: dict[str, Any]) -> None:
    asking = Asking()
    asking.ask(FIRST)
    steps, _ = asking.steps(SECOND, **off)
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))


@pytest.mark.parametrize("quote", ["Velm Tower was designed by Nobody.", "", None])
def test_a_planted_entry_is_no_fact(quote: Any) -> None:
    asking = Asking()
    asking.ask(FIRST)
    for value in asking.cache.entries.values():
        for row in value if isinstance(value, list) else ():
            if isinstance(row, dict) and "need" in row:
                row["quote"] = quote
    steps, _ = asking.steps(SECOND)
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))
    assert isinstance(steps[-1], FinalStep)
    assert steps[-1].answer.short_answer == "Tomas Vey"
