"""What an ending without an answer lacks: the articles that would be looked into and that the corpus does not hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from iterative_rag.text.control_characters import one_line
from iterative_rag.types import AnalysisStep, LostRowsStep, Needs, Step

_MOST = 4
# Two or more capitalised words in a row, or one that is not the first: what a need is about.
_NAME = re.compile(r"\b[^\W\d_a-z][\w.’'-]*(?:\s+(?:(?:of|the|de|von|van|and)\s+)*[^\W\d_a-z][\w.’'-]*)*")
_ASKING = re.compile(r"^(?:Who|What|Which|When|Where|How|Why|In|On|At|Is|Was|Were|Did|Does|The|A|An)\b\s*")


def missing_articles(steps: Sequence[Step], titles: Callable[[], Iterable[str]]) -> tuple[str, ...]:
    """The titles that a run would have looked into, without `titles`, those of the corpus."""
    wanted = dict.fromkeys(filter(None, map(one_line, _wanted(steps))))
    held = {_plain(title) for title in titles()} if wanted else set()
    # What begins with a dash would be an option of the command that fetches it.
    return tuple(title for title in wanted if _plain(title) not in held and title[0] != "-")[:_MOST]


def _wanted(steps: Sequence[Step]) -> list[str]:
    """Where the model expected a fact, lists without rows, and names in needs that brought nothing."""
    found = {fact.need.question for step in steps for fact in getattr(step, "facts", ())}
    titles = []
    for step in steps:
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
