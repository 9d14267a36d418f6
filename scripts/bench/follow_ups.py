"""How follow-ups are understood: the forty of fakes/follow_up_cases.py, by the built-in rules or by an LLM.

    python -m scripts.bench.follow_ups [--llm ollama/llama3.1:8b] [--show]

Every follow-up is judged after the conversation as it should be. With an LLM the facts before it are those that the
built-in backend cites over the starter corpus, so that it can tell which questions they answer. Nothing outside this
machine is asked but the LLM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fakes.follow_up_cases import CONVERSATIONS, Case
from iterative_rag.app.conversations.values import cited_facts
from iterative_rag.app.factory import IterativeRAG, make_chat_model
from iterative_rag.app.factory.runs import understood
from iterative_rag.builtin.question.follow_ups import RuleFollowUps
from iterative_rag.engine.budget import RunBudget
from iterative_rag.errors import FollowUpUnclear
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Draft, Earlier, Exchange, Fact
from scripts.bench import harness

_EXCHANGES, _AT_ONCE = 6, 40


@dataclass(frozen=True)
class Outcome:
    """What became of a follow-up: its question ("" where it was refused), an answer from known facts, and the cost."""

    case: Case
    question: str
    draft: Draft | None = None
    calls: int = 0
    tokens: int = 0

    @property
    def right(self) -> bool:
        said = _words(self.question)
        return said in [_words(meant) for meant in self.case.meant] if self.case.meant else not said


def follow_ups(llm: str = "", show: bool = False) -> None:
    """`llm` understands them; without it the built-in rules do. `show` lists all, not only what is wrong."""
    settings = Settings(corpus="starter", cache=False, timeout=3600, max_seconds=7200)
    model = make_chat_model(llm, settings) if llm else None
    backend = LLMBackend(model, None, None, settings) if model else None

    def outcome(given: tuple[Case, Earlier]) -> Outcome:
        case, earlier = given
        budget = RunBudget(settings, Trace("", []))
        try:
            meant = understood(case.asked, earlier, backend.roles(budget).follow_up if backend else RuleFollowUps())
        except FollowUpUnclear:
            return Outcome(case, "")
        used = budget.usage()
        tokens = used.prompt_tokens + used.completion_tokens
        return Outcome(case, meant.question, meant.draft, used.llm_calls, tokens)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        outcomes = list(pool.map(outcome, cases(facts_cited() if llm else {})))
    harness.show(
        {
            "kind": kind,
            "understood as meant": harness.share([one.right for one in outcomes if kind in (one.case.kind, "all")]),
        }
        for kind in [*dict.fromkeys(one.case.kind for one in outcomes), "all"]
    )
    print(f"answered from what was cited: {sum(one.draft is not None for one in outcomes)}")
    calls, tokens = sum(one.calls for one in outcomes), sum(one.tokens for one in outcomes)
    print(f"calls: {calls}, tokens of a follow-up: {tokens / len(outcomes):,.0f}")
    for one in outcomes:
        if show or not one.right or one.draft:
            said = f" -> {one.draft.short_answer} (expected {one.case.answer})" if one.draft else ""
            print(f"  {'right' if one.right else 'WRONG'}  {one.case.asked}  =  {one.question or '(refused)'}{said}")


def cases(facts: Mapping[str, tuple[Fact, ...]]) -> Iterator[tuple[Case, Earlier]]:
    """Each follow-up with what was asked before it; `facts` are those that the answer to a question cites."""
    for conversation in CONVERSATIONS:
        exchanges = [Exchange(conversation.question, conversation.answer, conversation.answer)]
        for case in conversation.cases:
            known = dict.fromkeys(fact for one in exchanges for fact in facts.get(one.question, ()))
            yield case, Earlier(tuple(exchanges[-_EXCHANGES:]), tuple(known))
            if case.meant:
                exchanges.append(Exchange(case.meant[0], case.answer, case.answer))


def facts_cited() -> dict[str, tuple[Fact, ...]]:
    """What the built-in backend cites for every question, over the starter corpus."""
    asked = [one.question for one in CONVERSATIONS]
    asked += [case.meant[0] for one in CONVERSATIONS for case in one.cases if case.meant]
    with IterativeRAG.from_settings(Settings(llm="builtin", corpus="starter")) as rag:
        return {question: cited_facts(rag.ask(question)) for question in dict.fromkeys(asked)}


def _words(question: str) -> list[str]:
    return re.findall(r"[\w']+", re.sub(r"\bthe\b", "", question.casefold().replace("’", "'")))


if __name__ == "__main__":
    harness.run(follow_ups)
