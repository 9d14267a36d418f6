"""A mind of which three of ten replies break a rule costs some answers, and never a crash or an unproved answer."""

from __future__ import annotations

import pytest

from fakes import correction_cases
from fakes.correction_cases import cases
from fakes.script_mind import ScriptMind
from fakes.weak_model import RULES, WeakModel
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.factory.corpus_actions import index_paths
from iterative_rag.protocols import ChatModel
from iterative_rag.settings import Settings, load_settings
from iterative_rag.types import Status

# Every sixth case: all of them are asked by scripts/bench/corrections.py.
SAMPLE = cases()[::6]
POINTS_THAT_MAY_BE_LOST = 15


def points(model: ChatModel, mind: ScriptMind, settings: Settings, strategy: str) -> float:
    """The share of right outcomes in percent. No answer is unproved."""
    rag = IterativeRAG.from_settings(settings, llm=model)
    right = 0
    for case in SAMPLE:
        mind.scripts = (case.script,)
        answer = rag.ask(case.question, strategy=strategy)
        right += correction_cases.right(case, answer, web=False)
        assert answer.status is not Status.ANSWERED or not correction_cases.unproved_answer(answer), case.id
    rag.close()
    return 100 * right / len(SAMPLE)


@pytest.mark.parametrize("strategy", ["iterative", pytest.param("agent", marks=pytest.mark.nightly)])
def test_a_weak_model_loses_few_answers_and_proves_all_it_gives(strategy: str) -> None:
    settings = load_settings({**correction_cases.SETTINGS, "llm": "builtin"})
    index_paths([correction_cases.CORPUS], settings=settings, corpus=correction_cases.NAME)
    mind = ScriptMind()
    weak = WeakModel(mind.llm, share=0.3, seed=3)
    good = points(mind.llm, mind, settings, strategy)
    assert good - points(weak, mind, settings, strategy) <= POINTS_THAT_MAY_BE_LOST
    assert sum(weak.broken.values()) > 0.25 * weak.calls
    assert {"own knowledge", "stops early", "cut off", "field missing"} <= weak.broken.keys() <= RULES.keys()
