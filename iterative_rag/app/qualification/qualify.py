"""Tests one model, role by role, against the built-in models, and writes its profile: who is better at each role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.qualification.cases import (
    DRIVE,
    EXTRACT,
    RIVALLED,
    WINDOW,
    CaseResult,
    Player,
    RoleCase,
    cases,
    run_case,
)
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL
from iterative_rag.engine.budget import RunBudget
from iterative_rag.errors import CapReached, SettingsError
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.replies.forms import SentenceReply
from iterative_rag.llm.roles.extractor import REPLY_TOKENS, LLMSentenceReader
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.protocols import ChatModel
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile, read_profile, write_profile
from iterative_rag.storage.cache import NoCache
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Document, Hit, Need, Sentence, Window

MODEL, BUILTIN, BOTH = "model", "builtin", "both"
# Without one of these a model does not play every role: its answers rest on its plans, and on what it did not make up.
_STRONG = ("decline", "plan", "answer")
# Those that are tested before the others, because the others may then not matter.
_BASIC = ("read", "decline", "plan")
# The built-in models take over a role in which they are right so many times more, and in such a share of the cases: one
# case is chance, and the cases are such as they mostly play well.
LEAD, LEAD_SHARE = 2, 0.25
# Cases of each of these that are asked before the rest, so that a verdict is there when the time is up.
FIRST = 3
# The longest window for a model that changes quotes or mixes up documents.
CAREFUL_WINDOW = 4000
# Documents that share a call of a model that keeps them apart.
DOCUMENTS_TOGETHER = 4
# Questions that a model without a defect answers by the strategy `agent`, which then costs the fewest calls.
DRIVEN = 2
# Seconds: a model that needs longer for a case gets a longer timeout, this many times its slowest case.
SLOW_CASE, TIMEOUT_FACTOR = 20.0, 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the cases that the model was asked so far, and of all that the built-in models play (`rivals`)."""

    results: tuple[CaseResult, ...]
    rivals: tuple[CaseResult, ...]

    def of(self, role: str) -> list[CaseResult]:
        return [result for result in self.results if result.role == role]

    def rival(self, role: str) -> list[CaseResult]:
        return [result for result in self.rivals if result.role == role]

    def scores(self, role: str) -> tuple[int, int, int]:
        """In how many cases the model and the built-in models were right, of those that both have played."""
        played = {result.id for result in self.of(role)}
        rivals = [result for result in self.rival(role) if result.id in played]
        return _right(self.of(role)), _right(rivals), len(played)

    def better(self, role: str) -> str:
        """Who is better at a role, by the cases that both have played; "" where there are none."""
        model, builtin, played = self.scores(role)
        return "" if not played else BUILTIN if builtin - model >= _lead(played) else MODEL

    def certain(self, role: str) -> str:
        """Who is better at a role whatever comes of its other cases; "" while that is open."""
        ahead, cases = _right(self.rival(role)) - _right(self.of(role)), len(self.rival(role))
        left = cases - len(self.of(role))
        return BUILTIN if ahead - left >= _lead(cases) else MODEL if ahead < _lead(cases) else ""

    @property
    def players(self) -> dict[str, str]:
        """Who is better at each role; where the model reads, but does not decline, both have to agree."""
        players = {role: self.better(role) for role in RIVALLED}
        if players["read"] == MODEL and players["decline"] == BUILTIN:
            players["read"] = BOTH
        return players

    @property
    def careful(self) -> str:
        """The setting of that name; "" where too little was tested."""
        players = self.players
        if players["read"] == BUILTIN:
            return BUILTIN
        if BUILTIN in map(players.get, _STRONG):
            return "on"
        return "off" if all(map(players.get, _BASIC)) else ""

    def wants(self, case: RoleCase) -> bool:
        """Whether a case, asked in the order of `in_order`, can change what `ask` does."""
        if case.role == WINDOW and any(result.right for result in self.of(WINDOW)):
            return False  # the longest comes first
        if case.role not in RIVALLED:
            return self.careful == "off"
        if case.role in _BASIC and len(self.of(case.role)) < FIRST:
            return True
        settled = self.certain("read") == BUILTIN or (BUILTIN in map(self.certain, _STRONG) and case.role != "read")
        return not settled and not self.certain(case.role)

    def settings(self) -> Iterator[tuple[str, Any]]:
        """The settings of the profile."""
        if self.careful:
            yield "careful", self.careful
        if self.careful == "off":
            if self.better("check") == BUILTIN:
                yield "grader", BUILTIN
            yield from self._reading()
        slowest = max((result.seconds for result in self.results[1:]), default=0.0)  # the first waits for the model
        if slowest > SLOW_CASE:
            yield "timeout", max(120.0, float(round(TIMEOUT_FACTOR * slowest)))

    def _reading(self) -> Iterator[tuple[str, Any]]:
        """How much is read in one call, as far as that was tested to its end."""
        read = [int(result.id.removeprefix("window-")) for result in self.of(WINDOW) if result.right]
        exact = all(result.right for result in self.of(EXTRACT))
        if read:
            yield "window_chars", max(read) if exact else min(*read, CAREFUL_WINDOW)
            yield "documents_per_call", DOCUMENTS_TOGETHER if exact else 1
        if exact and _right(self.of(DRIVE)) == DRIVEN:
            yield "strategy", "agent"


def in_order(cases: tuple[RoleCase, ...]) -> list[RoleCase]:
    """The first cases of the basic roles, the rest of them, the other roles that the built-in models play, too; last
    what only a model is asked that plays every role."""
    first = {case.id for role in _BASIC for case in [case for case in cases if case.role == role][:FIRST]}
    return sorted(cases, key=lambda case: (case.role not in RIVALLED, case.role not in _BASIC, case.id not in first))


def _lead(cases: int) -> float:
    return max(LEAD, LEAD_SHARE * cases)


def _right(results: list[CaseResult]) -> int:
    return sum(result.right for result in results)


# Documents listed for one need: few, so that one search does not happen to list them all.
SHORTLIST = 3
# Said of a value that stands in no sentence: it was made up, which is no abstention.
UNSTATED = "what the text does not hold"


def model_player(model: ChatModel, settings: Settings, budget: RunBudget) -> Player:
    """The model reads numbered sentences, as it does beside the built-in models."""
    reader = LLMSentenceReader(RoleCall("read", SentenceReply, model, budget, None, REPLY_TOKENS))
    backend = LLMBackend(model, None, None, settings)

    def read(case: RoleCase) -> str:
        texts = [text for text in case.sentences if any(map(str.isalnum, text))]
        said = reader.read(Need(case.question), [Sentence(case.id, case.title, 0, len(text), text) for text in texts])
        return said[1] if said else UNSTATED

    def drive(case: RoleCase) -> str:
        limits = settings.model_copy(update={"shortlist": SHORTLIST, "max_seconds": max(1.0, budget.seconds_left())})
        rag = IterativeRAG(limits, corpus=CaseCorpus(case.documents), backend=backend, cache=NoCache())
        return rag.ask(case.question, strategy="agent").short_answer

    return Player(backend.roles(budget), read, drive)


def builtin_player(budget: RunBudget) -> Player:
    """A value of too little trust to be given as an answer counts as none."""
    roles = BuiltinBackend(BuiltinEncoder()).roles(budget)

    def read(case: RoleCase) -> str:
        text = ("\n" if case.sentences[0].startswith("|") else " ").join(case.sentences)
        window = Window(case.id, case.title, f"{case.title}.md", ((0, len(text)),), text)
        extracts = roles.extractor.extract([Need(case.question)], [window], "")
        best = max(extracts, key=lambda extract: extract.score, default=None)
        return best.value if best and best.score >= CAREFUL.given else ""

    return Player(roles, read, drive=lambda case: "")


class CaseCorpus:
    """Implements protocols.Corpus: each document is one passage, ranked by the words that it shares with a query."""

    name = fingerprint = "cases"

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self._documents = {title: Document(title, title, text, f"{title}.md") for title, text in documents}

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return [self._search(_words(query), limit) for query in queries]

    def _search(self, words: set[str], limit: int) -> list[Hit]:
        shared = {title: len(words & _words(f"{title} {held.text}")) for title, held in self._documents.items()}
        ranked = sorted(filter(shared.get, shared), key=lambda title: -shared[title])[:limit]
        return [
            Hit(title, title, 0, len(self._documents[title].text), 1 / (60 + rank), dense_rank=rank)
            for rank, title in enumerate(ranked, start=1)
        ]

    def document(self, document_id: str) -> Document:
        return self._documents[document_id]

    def close(self) -> None:
        """Nothing is open."""


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


# The limits of a run are for questions of users; all cases are one run here.
_UNLIMITED = {"max_calls": 100_000, "max_tokens": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Qualification:
    """What came out, and the profile that was written. `complete`: no case is left that could change it."""

    outcome: Outcome
    complete: bool
    profile: ModelProfile


def qualify(
    model: ChatModel,
    identity: ModelIdentity,
    settings: Settings,
    progress: Callable[[CaseResult, bool], None],
    *,
    minutes: float,
) -> Qualification:
    """Ask the cases that are left of an earlier test, for so many minutes, and write the profile. `progress` is told
    what came of each, and whether it is one that was kept. A test that is broken off leaves its cases and sets nothing.

    Raises LLMError where the model cannot be called at all, SettingsError and OSError where the profile cannot be
    written.
    """
    asked, builtin = in_order(cases()), builtin_player(RunBudget(settings.model_copy(update=_UNLIMITED), Trace("", [])))
    outcome = Outcome(_kept(identity), tuple(run_case(case, builtin) for case in asked if case.role in RIVALLED))
    # The minutes are the model's: on a busy machine the built-in models alone may take one.
    budget = RunBudget(settings.model_copy(update={**_UNLIMITED, "max_seconds": 60 * minutes}), Trace("", []))
    player = model_player(model, settings, budget)
    for result in outcome.results:
        progress(result, True)
    complete = True
    for case in asked:
        if any(result.id == case.id for result in outcome.results) or not outcome.wants(case):
            continue
        if (came := _asked(case, player, budget)) is None:
            complete = False
            break
        outcome = Outcome((*outcome.results, came), outcome.rivals)
        _written(identity, outcome, complete=False, settings={})
        progress(came, False)
    profile = _written(identity, outcome, complete=complete, settings=dict(outcome.settings()))
    return Qualification(outcome, complete, profile)


def _asked(case: RoleCase, player: Player, budget: RunBudget) -> CaseResult | None:
    """What came of a case; None where the time was up before its end."""
    try:
        result = run_case(case, player)
    except CapReached:
        return None
    return result if result.right or budget.seconds_left() > 0 else None


def _kept(identity: ModelIdentity) -> tuple[CaseResult, ...]:
    """The cases of a test that was not completed."""
    try:
        profile = read_profile(identity)
        if profile is None or profile.report.get("complete"):
            return ()
        return TypeAdapter(tuple[CaseResult, ...]).validate_python(profile.report.get("cases"))
    except (SettingsError, ValidationError):
        return ()


def _written(identity: ModelIdentity, outcome: Outcome, *, complete: bool, settings: dict[str, object]) -> ModelProfile:
    report = {
        "complete": complete,
        "better": outcome.players,
        "cases": [asdict(result) for result in outcome.results],
        "builtin": [asdict(result) for result in outcome.rivals],
    }
    profile = ModelProfile(identity, datetime.now(UTC).isoformat(timespec="seconds"), settings, report)
    write_profile(profile)
    return profile
