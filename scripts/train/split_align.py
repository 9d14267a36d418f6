"""Finds the steps of a human decomposition again in the words of its question, as spans with exact offsets.

A decomposition (QDMR, Wolfson et al. 2020) is a list of steps such as "return the band that released X" and "return
where #1 was formed". A step that another one builds on stands for an entity that must be found first; the stretch of
the question with its words, and none of the other steps', is the inner span.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    PREPOSITIONS,
    QUESTION_WORDS,
    STOPWORDS,
    fold,
    stem,
)
from iterative_rag.builtin.language.tokens import Token, is_verb

UNKNOWN, SINGLE, NESTED, COMPARISON, INTERSECTION = range(-1, 4)
KINDS = ("single", "nested", "comparison", "intersection")
PHRASE, CLAUSE, PART = range(3)
LABELS = ("phrase", "clause", "part")

_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*['’]?|\S")
_REFERENCE = re.compile(r"#\s?(\d+)")
_COMPARES = re.compile(
    r"^(?:which|what|who|whose|is|are|if|was|were)\b.*#\d+.*#\d+"
    r"|^(?:the )?(?:difference|higher|lower|larger|sum|quotient|division|multiplication|ratio|average)\b.*#\d+.*\d"
    r"|both #\d+ and #\d+|^(?:the )?\w+ of #\d+ ?(?:,|and) #\d+"
)
_COUNTS = re.compile(r"^(?:the )?(?:[a-z]+ (?:of|for each) |different )?#\d+$")
_FILTERS = re.compile(r"^#\d+\b(?! (?:is|was|were|did|has|does)\b)")
_HEAD_ENDS = re.compile(
    r"(?<![\w-])(?:that|who|whom|which|whose|where|when|of|in|at|for|by|from|on|with|to|under|is|was|are|were|has|did|about|"
    r"named|called|known|associated|released|directed|written|produced|based)\b|#|,|(?<![\w-])(?:[a-z]+ed|[a-z]{3,}ing)\b"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled stretch of a question, offsets in characters: a phrase, a clause, or a part of a comparison."""

    start: int
    end: int
    label: int


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int
    stem: str
    content: bool


def split_words(text: str) -> list[Word]:
    found = []
    for match in _WORD.finditer(text):
        bare = re.sub(r"['’]s?$", "", match[0]) or match[0]
        content = bare[0].isalnum() and fold(bare) not in STOPWORDS
        found.append(Word(match[0], match.start(), match.end(), stem(fold(bare)), content))
    return found


def plain_step(step: str) -> str:
    text = re.sub(r"^return\s+", "", step.replace(" 's", "'s").strip(), flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", _REFERENCE.sub(r"#\1", text)).strip()


def references(step: str) -> list[int]:
    """The steps, counted from 0, that a step builds on."""
    return [int(number) - 1 for number in _REFERENCE.findall(step)]


def stems(texts: Sequence[str]) -> set[str]:
    return {word.stem for text in texts for word in split_words(_REFERENCE.sub(" ", text)) if word.content}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a decomposition says of its question; `marks` is None where the words could not be found again.

    The kind is UNKNOWN where a step only names somebody ("return the Queen of the May"): a look-up or not.
    """

    kind: int
    marks: tuple[Mark, ...] | None


def read_steps(question: str, steps: Sequence[str]) -> Reading:
    """The kind of a question and its spans by its decomposition."""
    texts = [plain_step(step) for step in steps]
    last = texts[-1][:1].lower() + texts[-1][1:]
    if len(texts) == 1:
        return Reading(SINGLE, ())
    if _COMPARES.search(last) and len(set(references(last))) > 1:
        # "the label of both #1 and #2" asks for what two share; "if both #1 and #2 are true" compares.
        shared = re.search(r"\b(?:in|of|from) both #", last) and not last.startswith(("if ", "is ", "are ", "were "))
        return Reading(INTERSECTION if shared else COMPARISON, _parts(question, texts))
    group = _groups(texts)
    final = group[len(texts) - 1]
    inner = sorted({group[ref] for place, text in enumerate(texts) for ref in references(text)} - {final})
    if inner:
        marks = [mark for one in inner if (mark := _inner(question, texts, group, one, final)) is not _NOTHING]
        if not marks:
            return Reading(UNKNOWN, None)
        found = tuple(mark for mark in marks if mark is not None)
        return Reading(NESTED, tuple(dict.fromkeys(found)) if len(found) == len(marks) else None)
    members = [text for place, text in enumerate(texts) if group[place] == final and not _COUNTS.match(text)]
    if len(members) > 1 and len(stems(members[:1])) > 1:
        return Reading(INTERSECTION, _conditions(question, members))
    return Reading(SINGLE, ())


def _groups(texts: Sequence[str]) -> list[int]:
    """For each step the first step that speaks of the same entity: filters and counts add nothing to look up."""
    group = list(range(len(texts)))
    for place, text in enumerate(texts):
        known = [ref for ref in references(text) if 0 <= ref < place]
        if known and (_FILTERS.match(text) or _COUNTS.match(text)):
            group[place] = group[known[0]]
    return group


_NOTHING = Mark(-1, -1, -1)


def _below(texts: Sequence[str], group: Sequence[int], one: int) -> set[int]:
    """The groups that a group is made of, itself included."""
    found, new = {one}, {one}
    while new:
        new = {
            group[ref]
            for place, text in enumerate(texts)
            if group[place] in new
            for ref in references(text)
            if 0 <= ref < len(texts)
        } - found
        found |= new
    return found


def _inner(question: str, texts: Sequence[str], group: Sequence[int], one: int, final: int) -> Mark | None:
    """Where a group stands; None where it cannot be told, _NOTHING where it is but a name or a bare noun."""
    below = _below(texts, group, one)
    own = [text for place, text in enumerate(texts) if group[place] in below]
    other = [text for place, text in enumerate(texts) if group[place] not in below]
    inside, outside = stems(own), stems(other)
    words = split_words(question)
    hit = [word for word in words if word.content and word.stem in inside]
    if len(hit) < 2 or all(word.text[0].isupper() or word.text[0].isdigit() for word in hit):
        return _NOTHING
    window = best_window(words, inside, outside)
    if window is None:
        return None
    mine = [text for place, text in enumerate(texts) if group[place] == one]
    return shaped(question, words, *window, head_of(mine[0]))


def head_of(step: str) -> str:
    """The stem of the noun that a step asks for: "song" of "the folk song that ..."."""
    text = re.sub(r"^(?:the|a|an|all|what|which|who|where)\b ?", "", step)
    cut = _HEAD_ENDS.search(text, text.find(" ") + 1)
    own = [word for word in split_words(text[: cut.start()] if cut else text) if word.content]
    return own[-1].stem if own else ""


def best_window(words: Sequence[Word], inside: set[str], outside: set[str]) -> tuple[int, int] | None:
    """The words [start, end) that hold what is said inside and nothing of what is said outside."""
    worth = [_worth(word, inside, outside) for word in words]
    best, start, total, found = 0.0, 0, 0.0, (0, 0)
    for place, value in enumerate(worth):
        if total <= 0:
            start, total = place, 0.0
        total += value
        if total > best:
            best, found = total, (start, place + 1)
    held = sum(value >= 2 for value in worth[found[0] : found[1]])
    missed = sum(value >= 2 for value in worth) - held
    strange = sum(value <= -3 for value in worth[found[0] : found[1]])
    return None if held < 1 or missed > held / 4 or strange else found


def _worth(word: Word, inside: set[str], outside: set[str]) -> float:
    if not word.content:
        return 0.0
    if word.stem in inside:
        return 0.5 if word.stem in outside else 2.0
    return -3.0 if word.stem in outside else -0.6


_LEFT = frozenset(["the", "a", "an", "this", "these", "its", "his", "her", "their"])


def shaped(question: str, words: Sequence[Word], start: int, end: int, head: str) -> Mark | None:
    """A window with its article and quotes as a phrase, or as a clause that ends with the head noun."""
    while start < end and not words[start].content and fold(words[start].text) not in _LEFT | {'"', "“"}:
        start += 1
    if start and fold(words[start - 1].text) in _LEFT:
        start -= 1
    while end > start and not words[end - 1].content and words[end - 1].text not in {")", '"', "”"}:
        end -= 1
    # "the city that she was born in": the preposition is the clause's, at the end of the question or before a verb.
    if end < len(words) and fold(words[end].text) in PREPOSITIONS - {"of"} and _closes(words, start, end):
        end += 1
    if end - start < 2:
        return None
    heads = [place for place in range(start, end) if words[place].stem == head]
    if not heads:
        return None
    own = any(word.text.endswith(("'s", "’s")) for word in words[start : heads[0]])
    verbs = [place for place in range(start, heads[0]) if _acts(words[place])]
    if not verbs or own:
        return _balanced(question, words[start].start, _unowned(words[end - 1]), PHRASE)
    if start <= 1 and heads[-1] > start + 2 and fold(words[0].text) not in QUESTION_WORDS | AUXILIARIES:
        return _balanced(question, words[0].start, words[heads[-1]].end, CLAUSE)
    return None


def _token(word: Word) -> Token:
    return Token(word.text, word.start, word.end)


def _acts(word: Word) -> bool:
    return is_verb(_token(word)) or word.text in BASE_VERBS


def _closes(words: Sequence[Word], start: int, end: int) -> bool:
    relative = any(fold(word.text) in {"that", "which", "who", "whom"} for word in words[start:end])
    after = words[end + 1] if end + 1 < len(words) else None
    return relative and (after is None or not after.text[0].isalnum() or is_verb(_token(after)))


def _unowned(word: Word) -> int:
    """The end of a word without its possessive."""
    return word.end - len(word.text) + len(re.sub(r"['’]s$", "", word.text))


def _balanced(question: str, start: int, end: int, label: int) -> Mark:
    """With the quote or bracket that opens right before or closes right after."""
    text = question[start:end]
    for left, right in (('"', '"'), ("“", "”"), ("(", ")")):
        uneven = text.count('"') % 2 if left == right else text.count(left) != text.count(right)
        if uneven and question[start - 1 : start] == left:
            return Mark(start - 1, end, label)
        if uneven and question[end : end + 1] == right:
            return Mark(start, end + 1, label)
    return Mark(start, end, label)


def _parts(question: str, texts: Sequence[str]) -> tuple[Mark, ...] | None:
    """What two parallel steps do not share: the things compared."""
    first = [text for text in texts if not references(text)]
    if len(first) != 2:
        return None
    words = split_words(question)
    one, other = stems(first[:1]), stems(first[1:])
    marks = []
    for mine, theirs in ((one - other, other), (other - one, one)):
        window = best_window(words, mine, theirs) if mine else None
        if window is None:
            return None
        start, end = window
        if start and fold(words[start - 1].text) in _LEFT:
            start -= 1
        marks.append(_balanced(question, words[start].start, _unowned(words[end - 1]), PART))
    return tuple(sorted(marks, key=lambda mark: mark.start)) if _apart(marks) else None


def _conditions(question: str, members: Sequence[str]) -> tuple[Mark, ...] | None:
    """Where the two conditions on one entity stand, without the noun that is asked for."""
    if len(members) != 2:
        return None
    words = split_words(question)
    head = head_of(members[0])
    one, other = stems(members[:1]) - {head}, stems(members[1:]) - {head}
    marks = []
    for mine, theirs in ((one, other), (other, one)):
        window = best_window(words, mine, theirs)
        if window is None:
            return None
        start, end = _with_opening(words, *window)
        marks.append(_balanced(question, words[start].start, words[end - 1].end, PART))
    return tuple(sorted(marks, key=lambda mark: mark.start)) if _apart(marks) else None


def _with_opening(words: Sequence[Word], start: int, end: int) -> tuple[int, int]:
    """A condition with the small words that open it: "is a", "was the", "with"; not "and", not "which"."""
    while start and not words[start - 1].content and words[start - 1].text[0].isalpha():
        if fold(words[start - 1].text) in {"and", "or", "who", "which", "what", "that", "also", "but", "as", "well"}:
            break
        start -= 1
    return start, end


def _apart(marks: Sequence[Mark]) -> bool:
    first, second = sorted(marks, key=lambda mark: mark.start)
    return first.end <= second.start
