"""Tells where a question or a corpus is in a language that the models were not made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.errors import CorpusError, EmbedderError, UsageError
from iterative_rag.settings.choices import AUTO
from iterative_rag.text.languages import language_names

if TYPE_CHECKING:
    from iterative_rag.protocols import Backend, Corpus, Embedder
    from iterative_rag.settings import Settings

# Documents that a question finds, whose beginnings tell their language.
FOUND = 6
_CHARACTERS = 600
_WITH_AN_LLM = "use an LLM: --llm ollama/llama3.1:8b"


def check_language(question: str, settings: Settings, backend: Backend) -> None:
    """Raise UsageError for a question in a language that the backend does not read. An LLM reads them all."""
    known = _languages_of(backend)
    code = settings.language
    if known and code == AUTO:
        from iterative_rag.text.spoken_language import language_of_text

        code = language_of_text(question)
    if not known or not code or code in known:
        return
    force = " If it is English all the same, add --language en." if settings.language == AUTO else ""
    raise UsageError(
        f"The built-in models read English only, and this question is {language_names()[code]}.",
        hint=f"Put it in English, or {_WITH_AN_LLM}.{force}",
    )


def foreign_documents(question: str, corpus: Corpus, backend: Backend) -> str:
    """A sentence for the user if most of the documents that come nearest to a question are in a language that the
    backend does not read; "" otherwise."""
    known = _languages_of(backend)
    if not known:
        return ""
    from iterative_rag.text.spoken_language import main_language

    try:
        (hits,) = corpus.search([question], 2 * FOUND)
        ids = list(dict.fromkeys(hit.document_id for hit in hits))[:FOUND]
        code = main_language(corpus.document(document_id).text[:_CHARACTERS] for document_id in ids)
    except (CorpusError, EmbedderError):  # the run itself has told whoever needs to know
        return ""
    if not code or code in known:
        return ""
    named = language_names()[code]
    return f"Most of these documents are {named}, and the built-in models read English only: {_WITH_AN_LLM}."


def foreign_corpus(code: str, embedder: Embedder) -> str:
    """What to know of a corpus whose documents are mostly in this language; "" for "" (English, or not clear)."""
    if not code:
        return ""
    named = language_names()[code]
    searching = (
        "; to find more, index them with --embedder ollama/bge-m3" if embedder.name.startswith("builtin") else ""
    )
    return f"Most of these documents are {named}, and the built-in models read English only: {_WITH_AN_LLM}{searching}."


def _languages_of(backend: Backend) -> tuple[str, ...]:
    """The languages that a backend was made for; () for one that reads them all."""
    languages: tuple[str, ...] = getattr(backend, "languages", ())
    return languages
