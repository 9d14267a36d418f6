"""An edited run: what was found before the edit stays, and only what follows is worked out again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from fakes.running_server import PlayingLLM
from fakes.sample_answers import check_schema
from fakes.two_article_corpus import QUESTION
from iterative_rag import IterativeRAG
from iterative_rag.errors import UsageError
from iterative_rag.settings import Settings
from iterative_rag.storage.output import answer_to_json
from iterative_rag.storage.past_runs import past_runs
from iterative_rag.types import Answer, Edit, EditKind, FactEdit, FinalStep, NeedEdit, Revision, ShortlistStep, Status

CORRECT, PIN, STRIKE = EditKind.CORRECT, EditKind.PIN, EditKind.STRIKE


class Edited:
    """A corpus, a model that plays for it, and the answer of one run."""

    def __init__(self, settings: Settings) -> None:
        self.llm = PlayingLLM()
        self.rag = IterativeRAG.from_settings(settings, llm=self.llm)
        self.answer = self.rag.ask(QUESTION)

    def revised(self, edit: Edit, before: Answer | None = None) -> tuple[Answer, list[ShortlistStep], list[str]]:
        """The answer, the searches, and the roles that were asked."""
        self.llm.requests.clear()
        steps = list(self.rag.revised_steps(Revision(before or self.answer, edit)))
        assert isinstance(steps[-1], FinalStep)
        searches = [step for step in steps if isinstance(step, ShortlistStep)]
        return steps[-1].answer, searches, [request.role for request in self.llm.requests]


@pytest.fixture
def edited(towns: Settings) -> Iterator[Edited]:
    made = Edited(towns.model_copy(update={"cache": True}))
    yield made
    made.rag.close()


def test_only_what_follows_a_pinned_fact_is_searched_again_and_the_cache_answers(edited: Edited) -> None:
    answer, searches, asked = edited.revised(FactEdit(1, 0, PIN))
    assert answer.short_answer == "Edda Holm"
    assert [search.hop for search in searches] == [2]
    assert answer.hops[0].facts[0].score == 1.0
    assert "extract" not in asked  # the second hop's reading comes from the cache


def test_a_struck_fact_is_not_found_again(edited: Edited) -> None:
    answer, searches, _ = edited.revised(FactEdit(2, 0, STRIKE))
    assert searches  # its need is looked for once more
    quotes = [fact.quote for hop in answer.hops for fact in hop.facts]
    assert "Its mayor is Edda Holm." not in quotes
    assert answer.hops[0] == edited.answer.hops[0]


def test_a_corrected_value_has_to_stand_in_a_quote_of_the_article(edited: Edited) -> None:
    with pytest.raises(UsageError, match="does not say 'Nowhere'"):
        edited.revised(FactEdit(1, 0, CORRECT, "Nowhere"))
    with pytest.raises(UsageError, match="does not hold this quote"):
        edited.revised(FactEdit(1, 0, CORRECT, "Wend", "The bridge crosses the Rhine."))
    answer, _, _ = edited.revised(FactEdit(1, 0, CORRECT, "Wend", "the oldest crossing of the river Wend"))
    fact = answer.hops[0].facts[0]
    document = edited.rag.corpus.document(fact.document_id)
    assert (fact.value, document.text[fact.start : fact.end]) == ("Wend", "the oldest crossing of the river Wend")


def test_a_corrected_need_is_looked_up_instead(edited: Edited) -> None:
    answer, searches, _ = edited.revised(NeedEdit(2, 0, CORRECT, "Who leads the council of Aldermere?"))
    assert searches[0].need.question == "Who leads the council of Aldermere?"
    assert answer.status is Status.ANSWERED
    assert [hop.needs for hop in answer.hops][1] == ("Who leads the council of Aldermere?",)


def test_a_struck_need_is_not_asked_again(edited: Edited) -> None:
    answer, searches, _ = edited.revised(NeedEdit(1, 0, STRIKE))
    assert "In which town does the Sunday bridge stand?" not in [search.need.question for search in searches]
    assert "In which town does the Sunday bridge stand?" not in [need for hop in answer.hops for need in hop.needs]


def test_a_pinned_need_keeps_its_wording_and_its_facts_when_an_earlier_hop_is_edited(edited: Edited) -> None:
    pinned, searches, asked = edited.revised(NeedEdit(2, 0, PIN))
    need = edited.answer.hops[1].needs[0]
    assert (searches, "extract" in asked, pinned.short_answer) == ([], False, "Edda Holm")
    assert [hop.pinned for hop in pinned.hops] == [(), (need,)]
    told = json.loads(json.dumps(answer_to_json(pinned, version="0")))
    check_schema(told)
    assert told["hops"][1]["pinned"] == [need]

    correction = FactEdit(1, 0, CORRECT, "Wend", "the oldest crossing of the river Wend")
    again, searches, _ = edited.revised(correction, pinned)
    assert need not in [search.need.question for search in searches]
    assert again.hops[0].facts[0].value == "Wend"
    assert (again.hops[1].needs, again.hops[1].facts) == ((need,), pinned.hops[1].facts)
    assert again.hops[1].pinned == (need,)


def test_a_pinned_fact_stays_when_an_earlier_hop_is_edited_and_goes_when_it_is_struck(edited: Edited) -> None:
    pinned, _, _ = edited.revised(FactEdit(2, 0, PIN))
    need = edited.answer.hops[1].needs[0]
    assert pinned.hops[1].pinned == (need,)
    again, _, _ = edited.revised(NeedEdit(1, 0, STRIKE), pinned)
    assert (again.hops[0].n, again.hops[0].pinned) == (1, (need,))
    assert again.hops[0].facts == pinned.hops[1].facts
    struck, searches, _ = edited.revised(FactEdit(2, 0, STRIKE), pinned)
    assert need in [search.need.question for search in searches]
    assert not any(hop.pinned for hop in struck.hops)


@pytest.mark.parametrize(
    "edit",
    [
        FactEdit(9, 0, PIN),
        FactEdit(1, 7, STRIKE),
        FactEdit(1, 0, CORRECT),
        NeedEdit(1, 0, CORRECT, "  "),
        NeedEdit(1, 5, STRIKE),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused(edited: Edited, edit: Edit) -> None:
    with pytest.raises(UsageError):
        edited.rag.revise(edited.answer, edit)


@pytest.mark.parametrize(
    "held", ["Aldermere", '{"title": "Aldermere"}', '[{"where": 5}]', '[{"title": []}]', "[" * 100_000]
)
def test_an_answer_that_does_not_tell_its_part_is_not_asked_of_the_whole_corpus(edited: Edited, held: str) -> None:
    answer = replace(edited.answer, settings={**edited.answer.settings, "within": held})
    with pytest.raises(UsageError, match="to which part of the corpus"):
        edited.rag.revise(answer, FactEdit(1, 0, PIN))


def test_both_versions_stay_in_the_history(edited: Edited) -> None:
    answer = edited.rag.revise(edited.answer, FactEdit(1, 0, PIN))
    newest, first = past_runs()
    assert {newest.run_id, first.run_id} == {answer.run_id, edited.answer.run_id}
    told = newest.first["revises"] if newest.run_id == answer.run_id else first.first["revises"]
    assert told == {"run_id": edited.answer.run_id, "change": "pinned a fact of hop 1."}
