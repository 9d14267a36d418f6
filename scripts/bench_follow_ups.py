#!/usr/bin/env python3
"""How follow-ups are understood: the forty of fakes/follow_up_cases.py, by the built-in rules or by an LLM.

    scripts/bench_follow_ups.py [--show]
    scripts/bench_follow_ups.py --llm ollama/llama3.1:8b [--anew] [--show]
    scripts/bench_follow_ups.py --llm scripted --anew

`scripted` is fakes/follow_up_mind.py, which needs no server: it compares the tokens of two versions of this package.

Every follow-up is judged after the conversation as it should be. With an LLM the facts before it are those that the
built-in backend cites over the starter corpus, so that it can tell which questions they answer. `--anew` asks every
question by itself first, takes the facts before a follow-up from those answers, and then answers every follow-up, to
compare answers and tokens. Nothing outside this machine is asked but the LLM.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fakes.follow_up_cases import CONVERSATIONS, Case
from fakes.follow_up_mind import FollowUpMind
from iterative_rag.app.conversations.understanding import understood
from iterative_rag.app.conversations.values import cited_facts as cited_facts_of
from iterative_rag.app.factory import IterativeRAG, make_chat_model
from iterative_rag.builtin.question.follow_ups import RuleFollowUps
from iterative_rag.engine.budget import RunBudget
from iterative_rag.errors import FollowUpUnclear
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import Backend, ChatModel, FollowUpReader
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import NoCache
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Answer, Draft, Earlier, Exchange, Fact, FinalStep

# So many follow-ups are asked at once.
_AT_ONCE = 40
_EXCHANGES = 6


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
        return said in [_words(one) for one in self.case.meant] if self.case.meant else not said


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--llm", default="", help="the LLM that understands; without it the built-in rules do")
    parser.add_argument("--anew", action="store_true", help="answer them, and the same questions by themselves")
    parser.add_argument("--show", action="store_true", help="list all, not only what is wrong")
    options = parser.parse_args()
    if not options.llm:
        report([_outcome(case, earlier, RuleFollowUps()) for case, earlier in cases({})], show=options.show)
        return
    settings = Settings(corpus="starter", cache=False, timeout=3600, max_seconds=7200)
    backend = LLMBackend(_model(options.llm, settings), None, None, settings)
    if options.anew:
        compare(backend, settings, show=options.show)
        return

    def by_llm(given: tuple[Case, Earlier]) -> Outcome:
        budget = RunBudget(settings, Trace("", []))
        outcome = _outcome(*given, backend.roles(budget).follow_up)
        used = budget.usage()
        return replace(outcome, calls=used.llm_calls, tokens=used.prompt_tokens + used.completion_tokens)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        report(list(pool.map(by_llm, cases(cited_facts()))), show=options.show)


def cases(facts: dict[str, tuple[Fact, ...]]) -> Iterator[tuple[Case, Earlier]]:
    """Each follow-up with what was asked before it; `facts` are those that the answer to a question cites."""
    for conversation in CONVERSATIONS:
        exchanges = [Exchange(conversation.question, conversation.answer, conversation.answer)]
        for case in conversation.cases:
            known = dict.fromkeys(fact for one in exchanges for fact in facts.get(one.question, ()))
            yield case, Earlier(tuple(exchanges[-_EXCHANGES:]), tuple(known))
            if case.meant:
                exchanges.append(Exchange(case.meant[0], case.answer, case.answer))


def cited_facts() -> dict[str, tuple[Fact, ...]]:
    """What the built-in backend cites for every question, over the starter corpus."""
    rag = IterativeRAG.from_settings(Settings(llm="builtin", corpus="starter"))
    try:
        return {question: cited_facts_of(rag.ask(question)) for question in _questions()}
    finally:
        rag.close()


def _questions() -> list[str]:
    return list(
        dict.fromkeys(
            question
            for conversation in CONVERSATIONS
            for question in (conversation.question, *(case.meant[0] for case in conversation.cases if case.meant))
        )
    )


def _outcome(case: Case, earlier: Earlier, reader: FollowUpReader | None) -> Outcome:
    try:
        meant = understood(case.asked, earlier, reader)
    except FollowUpUnclear:
        return Outcome(case, "")
    return Outcome(case, meant.question, meant.draft)


def report(outcomes: list[Outcome], *, show: bool) -> None:
    kinds = Counter(one.case.kind for one in outcomes)
    right = Counter(one.case.kind for one in outcomes if one.right)
    print(f"understood as meant: {sum(right.values())} of {len(outcomes)}")
    print("  " + ", ".join(f"{kind} {right[kind]}/{count}" for kind, count in kinds.items()))
    known = [one for one in outcomes if one.draft is not None]
    print(f"answered from what was cited: {len(known)}")
    if any(one.calls for one in outcomes):
        tokens = [one.tokens for one in outcomes]
        print(f"calls: {sum(one.calls for one in outcomes)}, tokens of a follow-up: {statistics.mean(tokens):,.0f}")
    for one in outcomes:
        if show or not one.right or one.draft:
            said = f" -> {one.draft.short_answer} (expected {one.case.answer})" if one.draft else ""
            print(f"  {'right' if one.right else 'WRONG'}  {one.case.asked}  =  {one.question or '(refused)'}{said}")


def compare(backend: Backend, settings: Settings, *, show: bool) -> None:
    """What the follow-ups cost in their conversations, and their questions by themselves, with nothing cached."""
    corpus = IterativeRAG.from_settings(settings.model_copy(update={"llm": "builtin"})).corpus
    rag = IterativeRAG(settings, corpus=corpus, backend=backend, cache=NoCache())
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        anew = dict(zip(asked := _questions(), pool.map(rag.ask, asked), strict=True))
        given = [(case, one) for case, one in cases({q: cited_facts_of(a) for q, a in anew.items()}) if case.meant]
        answers = list(pool.map(lambda one: _followed_up(rag, *one), given))
    spent, lost = [], 0
    for (case, _), answer in zip(given, answers, strict=True):
        by_itself = anew[case.meant[0]]
        lost += bool(by_itself.short_answer) and answer.short_answer != by_itself.short_answer
        spent.append((_tokens(answer), _tokens(by_itself)))
        if show:
            told = f"{answer.short_answer or '-'}, {answer.usage.llm_calls} calls, {spent[-1][0]:,} tokens"
            alone = f"{by_itself.short_answer or '-'}, {by_itself.usage.llm_calls} calls, {spent[-1][1]:,} tokens"
            print(f"  {answer.question}  {told}; anew: {alone}")
    followed, by_themselves = map(sum, zip(*spent, strict=True))
    answered = sum(bool(anew[case.meant[0]].short_answer) for case, _ in given)
    print(f"{len(given)} follow-ups, {answered} answered by themselves, {lost} of them otherwise or not as a follow-up")
    mean, mean_anew = followed / len(spent), by_themselves / len(spent)
    print(f"tokens: {mean:,.0f} a follow-up, {mean_anew:,.0f} anew: {followed / by_themselves:.0%}")


def _followed_up(rag: IterativeRAG, case: Case, earlier: Earlier) -> Answer:
    *_, last = rag.steps(case.asked, earlier=earlier)
    assert isinstance(last, FinalStep)
    return last.answer


def _tokens(answer: Answer) -> int:
    return answer.usage.prompt_tokens + answer.usage.completion_tokens


def _model(spec: str, settings: Settings) -> ChatModel:
    model = FollowUpMind() if spec == "scripted" else make_chat_model(spec, settings)
    assert model is not None, "an LLM is wanted"
    return model


def _words(question: str) -> list[str]:
    return re.findall(r"[\w']+", re.sub(r"\bthe\b", "", question.casefold().replace("’", "'")))


if __name__ == "__main__":
    main()
