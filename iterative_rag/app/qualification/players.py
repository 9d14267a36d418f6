"""The two players of each role: the model that is tested, and the built-in models."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.app.qualification.cases import Player, RoleCase
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.engine.budget import RunBudget
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.replies.forms import SentenceReply
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.llm.roles.sentence_reader import REPLY_TOKENS, LLMSentenceReader
from iterative_rag.protocols import ChatModel
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import NoCache
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
