"""What an engine is, and what it works with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.run_state import RunState
from iterative_rag.protocols import BackendTraits, Corpus, Grader, Roles
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.settings import Settings
from iterative_rag.types import Step
from iterative_rag.verification.rule_reflector import ClaimGuard

if TYPE_CHECKING:  # the default strategy does not need it, and importing it takes time
    from iterative_rag.engine.web_search import WebSearch


class Engine(Protocol):
    """One engine serves one run."""

    def steps(self, question: str) -> Iterator[Step]:
        """All steps of answering `question`; the last one is the FinalStep."""
        ...


@dataclass(frozen=True, slots=True)
class RunComponents:
    """What an engine works with. `web` is None unless the user allows it, `begin` unless the run goes on from an
    edit."""

    corpus: Corpus
    reader: DocumentReader
    roles: Roles
    grader: Grader
    budget: RunBudget
    settings: Settings
    traits: BackendTraits
    web: WebSearch | None = None
    begin: RunState | None = None

    def drafting(self) -> Drafting:
        """Drafting without reflection. What is written in words of its own may add to the facts, so its claims are
        guarded."""
        if not self.traits.own_words:
            return Drafting(self.roles.answerer)
        writer, length = self.roles.writer, self.settings.length
        return Drafting(self.roles.answerer, ClaimGuard(), guards=True, writer=writer, length=length)
