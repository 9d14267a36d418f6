"""A proof as data that a program keeps, and what has become of its quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from iterative_rag.app.proof.proof_check import ProofCheck, TitledCorpus, check_proof, documents_in
from iterative_rag.app.proof.proof_file import DocumentOf, proof_data, sealed
from iterative_rag.errors import UsageError
from iterative_rag.protocols import Corpus
from iterative_rag.types import Answer, Citation, Document


def proof_of(answer: Answer, corpus: Corpus) -> dict[str, Any]:
    """The answer and what its quotes can be checked by, in plain JSON types: for `verify_proof`, and as a file for
    `iterative-rag verify`. `corpus` is that of the run (`IterativeRAG.corpus`)."""
    from iterative_rag import __version__

    return proof_data(answer, document_in(answer, corpus), version=__version__, source=str)


def document_in(answer: Answer, corpus: Corpus) -> DocumentOf:
    """Finds the document of a citation of the answer in the corpus of its run."""
    lookup = documents_in(_titled(corpus))
    ids = {(fact.source, fact.title): fact.document_id for hop in answer.hops for fact in hop.facts}

    def document_of(citation: Citation) -> Document | None:
        found = lookup(ids.get((citation.source, citation.title), ""), citation.title)
        return next((one for one in found if citation.source in (one.source, *one.copies)), None)

    return document_of


def verify_proof(proof: Mapping[str, Any], corpus: Corpus) -> ProofCheck:
    """What has become of the quotes of a proof in a corpus as it is now. Raises UsageError for what is no proof, is one
    of another version, or was changed since it was made."""
    return check_proof(sealed(proof), documents_in(_titled(corpus)))


def _titled(corpus: Corpus) -> TitledCorpus:
    if not hasattr(corpus, "find"):
        raise UsageError("Proofs need an indexed corpus.", hint="Index the documents: iterative-rag index PATH")
    return cast(TitledCorpus, corpus)
