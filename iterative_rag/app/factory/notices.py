"""What a user has to know beside a question, an answer or a corpus: languages that the models were not made for, what
was not indexed, files that have changed, and articles that the corpus lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from iterative_rag.errors import UsageError
from iterative_rag.settings.model import AUTO
from iterative_rag.text.control_characters import one_line
from iterative_rag.text.languages import language_names
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import AnalysisStep, Needs, ReadingStep, ReasonCode, Step

if TYPE_CHECKING:
    from iterative_rag.app.factory.rag import IterativeRAG
    from iterative_rag.protocols import Backend, Corpus, Embedder
    from iterative_rag.settings import Settings
    from iterative_rag.types import Answer

_WITH_AN_LLM = "use an LLM: --llm ollama/llama3.1:8b"
_MOST_MISSING = 4
# Two or more capitalised words in a row, or one that is not the first: what a need is about.
_NAME = lazy_pattern(r"\b[^\W\d_a-z][\w.’'-]*(?:\s+(?:(?:of|the|de|von|van|and)\s+)*[^\W\d_a-z][\w.’'-]*)*")
_ASKING = lazy_pattern(r"^(?:Who|What|Which|When|Where|How|Why|In|On|At|Is|Was|Were|Did|Does|The|A|An)\b\s*")


def notices(rag: IterativeRAG, answer: Answer, corpus: Corpus, steps: Sequence[Step]) -> tuple[str, tuple[str, ...]]:
    """What to know beside an answer, in sentences, and the articles that would be looked into, where it is none."""
    from iterative_rag.app.staleness import changed_since

    # Its own notice: that it was not fully indexed, or is a part of a corpus.
    told = (str(getattr(corpus, "notice", "")), changed_since(answer, corpus))
    lacks = answer.label and answer.reason_code is not ReasonCode.FALSE_PREMISE and rag.lists_titles
    return " ".join(filter(None, told)), missing_articles(steps, rag.titles) if lacks else ()


def check_language(question: str, settings: Settings, backend: Backend) -> None:
    """Raise UsageError for a question in a language that the backend does not read. An LLM reads them all."""
    known = backend.traits.languages
    code = settings.language
    if known and code == AUTO:
        from iterative_rag.text.spoken_language import language_of_text

        code = language_of_text(question)
    if not known or not code or code in known:
        return
    force = " If it is English all the same, add --language en." if settings.language == AUTO else ""
    told = f"The built-in models read English only, and this question is {language_names()[code]}."
    raise UsageError(told, hint=f"Put it in English, or {_WITH_AN_LLM}.{force}")


def foreign_corpus(code: str, embedder: Embedder) -> str:
    """What to know of a corpus whose documents are mostly in this language; "" for "" (English, or not clear)."""
    if not code:
        return ""
    named = language_names()[code]
    searching = (
        "; to find more, index them with --embedder ollama/bge-m3" if embedder.name.startswith("builtin") else ""
    )
    return f"Most of these documents are {named}, and the built-in models read English only: {_WITH_AN_LLM}{searching}."


def missing_articles(steps: Sequence[Step], titles: Callable[[], Iterable[str]]) -> tuple[str, ...]:
    """The titles that a run would have looked into, without `titles`, those of the corpus."""
    wanted = dict.fromkeys(filter(None, map(one_line, _wanted(steps))))
    held = {_plain(title) for title in titles()} if wanted else set()
    # What begins with a dash would be an option of the command that fetches it.
    return tuple(title for title in wanted if _plain(title) not in held and title[0] != "-")[:_MOST_MISSING]


def _wanted(steps: Sequence[Step]) -> list[str]:
    """Where the model expected a fact, and names in needs that brought nothing."""
    met = {fact.need.question for step in steps if isinstance(step, ReadingStep) for fact in step.facts}
    titles = []
    for step in steps:
        if isinstance(step, AnalysisStep) and isinstance(step.analysis, Needs):
            for need in step.analysis.needs:
                if need.see:
                    titles.append(need.see)
                elif need.question not in met:
                    titles += _names(need.question)
    return titles


def _names(question: str) -> list[str]:
    return [
        name.removesuffix("'s").removesuffix("’s") for name in _NAME.findall(_ASKING.sub("", question)) if len(name) > 3
    ]


def _plain(title: str) -> str:
    return title.replace("_", " ").casefold()
