"""The LLM backend as a whole: which model plays which role, and which replies are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.counting_budget import CountingBudget
from fakes.in_memory import DictCache
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import DiskCache
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Inquiry, Known
from tests.llm.inquiries import FINISHED, INQUIRY, TRIED, WINDOW, answer, roles


def test_two_models_are_counted_apart() -> None:
    main = ScriptedLLM({"analyse": [{"status": "known"}]}, name="main")
    fast = ScriptedLLM({"extract": [{"facts": []}], "grade": [{"grades": [{"n": 1, "label": "Good"}]}]}, name="fast")
    budget = RunBudget(Settings(), Trace("test", []))
    with main, fast:
        backend = LLMBackend(main, fast, None, Settings()).roles(budget)
        backend.analyst.analyse(INQUIRY)
        backend.extractor.extract([TRIED], [WINDOW], INQUIRY.original)
        backend.grader.grade(TRIED, [("Velm Tower", "It was designed by Oda Brenk.")])
    used = budget.usage()
    assert [(model.model, model.llm_calls) for model in used.models] == [("main", 1), ("fast", 2)]
    assert sum(model.prompt_tokens for model in used.models) == used.prompt_tokens


def test_replies_are_kept_and_a_hit_is_no_call(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    replies = {"analyse": [{"status": "known"}], "rephrase": [{"question": "R?"}], "answer": [answer(answer="37 [1]")]}
    budget = CountingBudget()
    with ScriptedLLM(replies) as llm:
        for _ in range(2):
            backend = LLMBackend(llm, None, cache, Settings()).roles(budget)
            assert backend.analyst.analyse(INQUIRY) == Known()
            assert backend.rephraser.rephrase(INQUIRY, [FINISHED]) == "R?"
            assert backend.answerer.answer(INQUIRY).short_answer == "37"
    assert budget.events == ["before", "after"] * 3 + ["hit analyse", "hit rephrase", "hit answer"]


def test_a_kept_reply_that_repeats_its_instructions_is_asked_for_again() -> None:
    cache = DictCache()
    with ScriptedLLM({"rephrase": [{"question": "R?"}] * 2}) as llm:
        assert roles(llm, cache).rephraser.rephrase(INQUIRY, [FINISHED]) == "R?"
        (key,) = cache.entries
        cache.entries[key] = {"question": llm.requests[0].system}
        assert roles(llm, cache).rephraser.rephrase(INQUIRY, [FINISHED]) == "R?"
        assert len(llm.requests) == 2


def test_extractions_are_kept_elsewhere(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    with ScriptedLLM({"extract": [{"facts": []}] * 2}) as llm:
        for _ in range(2):
            roles(llm, cache).extractor.extract([TRIED], [WINDOW], INQUIRY.original)
    assert cache.size()[0] == 0


@pytest.mark.parametrize("other", ["model", "question", "tokens"])
def test_another_model_question_or_limit_misses(tmp_path: Path, other: str) -> None:
    cache = DiskCache(tmp_path / "cache", 10)
    with ScriptedLLM({"analyse": [{"status": "known"}]}, name="one") as llm:
        roles(llm, cache).analyst.analyse(INQUIRY)
    second = ScriptedLLM({"analyse": [{"status": "known"}]}, name="two" if other == "model" else "one")
    inquiry = Inquiry("Another?", "Another?", INQUIRY.facts) if other == "question" else INQUIRY
    with second:
        roles(second, cache, reply_tokens=77 if other == "tokens" else 1024).analyst.analyse(inquiry)
    assert len(second.requests) == 1
