"""What the page tells of each corpus."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.errors import CorpusNotFound
from iterative_rag.factory import corpora
from iterative_rag.serve.rag_pool import RagPool


@dataclass(frozen=True, slots=True)
class CorpusCard:
    """`documents` is None for a corpus that is indexed when it is first asked."""

    name: str
    documents: int | None
    passages: int = 0
    state: str = ""
    updated: str = ""


def corpus_cards(pool: RagPool) -> list[CorpusCard]:
    """The corpora that can be asked, the default first."""
    return [_card(name, pool) for name in pool.corpora()]


def _card(name: str, pool: RagPool) -> CorpusCard:
    try:
        info = corpora(pool.settings.index).info(name)
    except CorpusNotFound:
        return CorpusCard(name, None)
    return CorpusCard(
        name, info.documents, info.passages, str(info.state), str(info.updated or "")[:16].replace("T", " ")
    )
