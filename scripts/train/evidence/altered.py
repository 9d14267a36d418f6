"""Questions that a passage answered until a name or a year in them was changed: the right relation of another subject.

Rows that people wrote to be unanswerable are few (SQuAD 2.0), and a reader that answers by the relation alone is wrong
in just these.
"""

from __future__ import annotations

import random
import re

from scripts.train.evidence import kinds
from scripts.train.evidence.asked import Asked, Shown, holds

_NAME = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][\w’'-]+(?: (?:of |the |de |von )?[A-Z][\w’'-]+)*")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
FARTHEST = 40  # years


def altered(asked: Asked, gold: Shown, titles: list[str], chance: random.Random) -> str | None:
    """The question with another name or year in it, which the passage does not answer; None where it has neither.

    The other name is one of the passage, or the title of another article.
    """
    if years := list(_YEAR.finditer(asked.question)):
        match = chance.choice(years)
        other = str(int(match[0]) + chance.choice((-1, 1)) * chance.randrange(1, FARTHEST))
        return None if holds(gold.text, [other]) else _put(asked.question, match, other)
    names = [m for m in _NAME.finditer(asked.question) if holds(f"{gold.title} {gold.text}", [m[0]])]
    if not names:
        return None
    match = chance.choice(names)
    near = [one for one in kinds.look_alikes(match[0], gold.text) if _named(one, gold.text)]
    near = [one for one in near if not holds(" ".join(asked.answers), [one])]
    offered = near if near and chance.random() < 0.5 else [re.sub(r"\s*\([^)]*\)$", "", chance.choice(titles))]
    other = chance.choice(offered)
    same = holds(asked.question, [other]) or holds(other, [match[0]])
    return None if same else _put(asked.question, match, other)


def _named(word: str, text: str) -> bool:
    """Whether a word has its capital for being a name, not for beginning a sentence."""
    return not re.search(rf"(?:^|[.?!:\n]\s*){re.escape(word)}\b", text)


def _put(question: str, match: re.Match[str], other: str) -> str:
    return question[: match.start()] + other + question[match.end() :]
