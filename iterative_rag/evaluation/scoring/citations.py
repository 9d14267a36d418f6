"""Whether the quotes under an answer stand in their documents."""

from __future__ import annotations

from iterative_rag.errors import CorpusDamaged, CorpusError
from iterative_rag.evaluation.records import Cited
from iterative_rag.protocols import Corpus
from iterative_rag.types import Answer, Citation, Fact


def verified(answer: Answer, corpus: Corpus) -> tuple[Cited, ...]:
    """Each citation checked again: the fact that it quotes names the document, whose text must hold the quote.

    A citation that no fact stands behind, or whose document is gone, is not verified. A corpus that
    cannot be read at all raises CorpusDamaged: that says nothing about the answer.
    """
    hop_facts = (fact for hop in answer.hops for fact in hop.facts)
    facts = {_place(fact): fact.document_id for fact in (*hop_facts, *answer.facts)}
    return tuple(_cited(citation, facts.get(_place(citation), ""), corpus) for citation in answer.citations)


def _place(quoted: Citation | Fact) -> tuple[str, str, int, int, str]:
    return quoted.title, quoted.source, quoted.start, quoted.end, quoted.quote


def _cited(citation: Citation, document_id: str, corpus: Corpus) -> Cited:
    verified = bool(document_id) and _stands(citation, document_id, corpus)
    return Cited(citation.title, document_id, verified, citation.link)


def _stands(citation: Citation, document_id: str, corpus: Corpus) -> bool:
    try:
        text = corpus.document(document_id).text
    except CorpusDamaged:
        raise
    except CorpusError:  # the corpus has no such document (any more)
        return False
    return bool(citation.quote) and text[citation.start : citation.end] == citation.quote
