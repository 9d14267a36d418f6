"""Tests one model, role by role, against the built-in models, and writes its profile."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from pydantic import TypeAdapter, ValidationError

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.qualification.cases import RIVALLED, CaseResult, Player, RoleCase, cases, run_case
from iterative_rag.app.qualification.verdicts import Outcome, in_order
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.engine.budget import RunBudget
from iterative_rag.errors import CapReached, SettingsError
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.replies.forms import SentenceReply
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.llm.roles.sentence_reader import REPLY_TOKENS, LLMSentenceReader
from iterative_rag.protocols import ChatModel
from iterative_rag.settings import Settings
from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile, read_profile, write_profile
from iterative_rag.storage.cache import NoCache
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Document, Hit, Need, Sentence, Window

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
