"""Questions written for a passage: asked with its title, read from JSON or plain lines, cached by its text."""

from __future__ import annotations

from dataclasses import replace

from fakes.counting_budget import CountingBudget
from fakes.in_memory import DictCache
from iterative_rag.llm.providers.scripted import Scripted, ScriptedLLM
from iterative_rag.llm.replies.forms import QuestionsReply
from iterative_rag.llm.roles.query_writer import LONGEST_QUESTION, LLMQuestionWriter
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.protocols import Cache
from iterative_rag.types import Passage

PASSAGE = Passage("t", 0, 0, 40, "It was drawn up by Jan Orsk.", "Velm Tower > History")


def writer(llm: ScriptedLLM, cache: Cache | None = None) -> LLMQuestionWriter:
    return LLMQuestionWriter(RoleCall("questions", QuestionsReply, llm, CountingBudget(), cache, 1024))


def written(*replies: Scripted, count: int = 2) -> tuple[str, ...]:
    with ScriptedLLM({"questions": replies}) as llm:
        return writer(llm).write(PASSAGE, count)


def test_the_passage_stands_in_a_fence_with_its_title() -> None:
    with ScriptedLLM({"questions": [{"questions": ["Who designed Velm Tower?"]}]}) as llm:
        assert writer(llm).write(PASSAGE, 2) == ("Who designed Velm Tower?",)
    [request] = llm.requests
    assert "Velm Tower > History\nIt was drawn up by Jan Orsk.\n</passage " in request.user
    assert "up to 2 questions" in request.system


def test_questions_are_single_lines_without_repeats_and_no_more_than_wanted() -> None:
    reply = {"questions": ["Who\nbuilt it?", "who built it?", "", "x" * 999, "When?"]}
    assert written(reply, count=2) == ("Who built it?", "x" * LONGEST_QUESTION)
    assert written({"questions": []}) == ()


def test_a_model_without_json_is_asked_for_plain_lines() -> None:
    lines = "question: Who designed Velm Tower?\nquestion: When did Velm Tower burn?\nend"
    assert written("no", "no", lines) == ("Who designed Velm Tower?", "When did Velm Tower burn?")


def test_the_same_passage_is_asked_about_once_and_another_anew() -> None:
    cache = DictCache()
    with ScriptedLLM({"questions": [{"questions": ["A?"]}, {"questions": ["B?"]}, {"questions": ["C?"]}]}) as llm:
        moved = replace(PASSAGE, document_id="elsewhere", start=7, end=47, ordinal=3)
        assert writer(llm, cache).write(PASSAGE, 1) == writer(llm, cache).write(moved, 1) == ("A?",)
        assert writer(llm, cache).write(replace(PASSAGE, text="It fell."), 1) == ("B?",)
        assert writer(llm, cache).write(PASSAGE, 2) == ("C?",)
