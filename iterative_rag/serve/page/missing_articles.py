"""What an abstention lacks: the articles that would be looked into, and the commands that fetch them."""

from __future__ import annotations

import re
import shlex

from iterative_rag.errors import CorpusError
from iterative_rag.serve.api.documents import opened_corpus
from iterative_rag.serve.page.shown_run import ShownRun
from iterative_rag.serve.services import Services
from iterative_rag.types import AnalysisStep, LostRowsStep, Needs

_MOST = 4
# Two or more capitalised words in a row, or one that is not the first: what a need is about.
_NAME = re.compile(r"\b[^\W\d_a-z][\w.’'-]*(?:\s+(?:(?:of|the|de|von|van|and)\s+)*[^\W\d_a-z][\w.’'-]*)*")
_ASKING = re.compile(r"^(?:Who|What|Which|When|Where|How|Why|In|On|At|Is|Was|Were|Did|Does|The|A|An)\b\s*")


def fetch_commands(services: Services, run: ShownRun) -> tuple[tuple[str, str], ...]:
    """Titles that the corpus does not hold, each with the command that fetches it: into the first, where several were
    asked."""
    wanted = dict.fromkeys(_wanted(run))
    asked = services.pool.parts(run.corpus) if run.corpus else [""]
    held = {_plain(title) for name in asked for title in _titles(services, name)}
    missing = [title for title in wanted if _plain(title) not in held][:_MOST]
    corpus = f" --corpus {shlex.quote(asked[0])}" if asked[0] not in ("", "starter") else ""
    return tuple((title, f"iterative-rag corpus fetch {shlex.quote(title)}{corpus}") for title in missing)


def _titles(services: Services, corpus: str) -> list[str]:
    """None of a corpus that cannot be opened any more."""
    try:
        return opened_corpus(services.pool, corpus).titles()
    except CorpusError:
        return []


def _wanted(run: ShownRun) -> list[str]:
    """Where the model expected a fact, lists without rows, and names in needs that brought nothing."""
    found = {fact.need.question for step in run.steps for fact in getattr(step, "facts", ())}
    titles = []
    for step in run.steps:
        match step:
            case AnalysisStep(analysis=Needs(needs)):
                for need in needs:
                    if need.see:
                        titles.append(need.see)
                    elif need.question not in found:
                        titles += _names(need.question)
            case LostRowsStep():
                titles.append(step.title)
    return titles


def _names(question: str) -> list[str]:
    return [
        name.removesuffix("'s").removesuffix("’s") for name in _NAME.findall(_ASKING.sub("", question)) if len(name) > 3
    ]


def _plain(title: str) -> str:
    return title.replace("_", " ").casefold()
