"""What a question asks of a table: its words, the operations it hints at, its bounds and its ranks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    STOPWORDS,
    ordinal,
    stem,
    word_set,
    words,
)
from iterative_rag.builtin.language.lexicon import MEASURES, SUPERLATIVES, AnswerKind, alike, counts_as, kind_of_noun
from iterative_rag.builtin.language.nouns import is_plural
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.tables.cell_values import Day
from iterative_rag.text.dates import Date
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Moment, Period, Quantity, Span


class OperationHint(StrEnum):
    """A hint in the words of a question at what is to be done with the rows."""

    COUNT = "count"
    SUM = "sum"
    DIFFERENCE = "difference"
    MOST = "most"
    LEAST = "least"
    FIRST = "first"
    LAST = "last"
    OLDEST = "oldest"
    NEWEST = "newest"
    AFTER = "after"
    BEFORE = "before"
    OFTEN = "often"
    SAME = "same"
    OTHER = "other"
    EITHER = "either"
    PLURAL = "plural"


_MOST = [word for word, way in SUPERLATIVES.items() if way > 0 and word not in {"last", "latest", "newest"}]
_LEAST = [word for word, way in SUPERLATIVES.items() if way < 0 and word not in {"first", "earliest", "oldest"}]
_HINTS: dict[OperationHint, re.Pattern[str]] = {
    hint: re.compile(rf"\b(?:{pattern})\b")
    for hint, pattern in {
        OperationHint.COUNT: r"how many|number of|amount of|how often|count|how much",
        OperationHint.SUM: r"total|combined|altogether|in all|sum|all together|overall",
        OperationHint.DIFFERENCE: (
            r"differen\w+|how many (?:more|fewer|less|years|days|months|points)|how much (?:more|less|\w+er)|"
            r"how (?:long|far)|(?:more|less|fewer|\w+er) than|between|span"
        ),
        OperationHint.MOST: (
            rf"{'|'.join(_MOST)}|top|best|maximum|more|higher|longer|larger|bigger|taller|greater|older|\w+iest"
        ),
        OperationHint.LEAST: (
            rf"{'|'.join(_LEAST)}|worst|bottom|minimum|less|fewer|lower|shorter|smaller|quickest|slowest"
        ),
        OperationHint.FIRST: r"first|initial(?:ly)?|top|begin\w*|start\w*|debut|original(?:ly)?",
        OperationHint.LAST: r"last|final(?:ly)?|bottom|end(?:ed)?|current",
        OperationHint.OLDEST: r"oldest|earliest|earlier|first",
        OperationHint.NEWEST: r"newest|latest|youngest|most recent(?:ly)?|later|last",
        # "named after", "after whom" and "after he was shot" ask for no next row.
        OperationHint.AFTER: (
            r"(?<!named )after(?! whom\b)(?!.{2,60}\b(?:was|were|had|died|left)\b)|"
            r"next|following|follow(?:s|ed)|below|succe\w+"
        ),
        OperationHint.BEFORE: r"before|previous(?:ly)?|prior|preced\w+|above|preceding",
        OperationHint.OFTEN: r"the most|appears?|(?:most|least) (?:often|times|frequent\w*|common\w*|\w+s)",
        OperationHint.SAME: r"same|also|as many|identical|shared?|tied?",
        OperationHint.OTHER: r"other|besides|another|else|aside|except|not|only other|apart",
        OperationHint.EITHER: r"or",
    }.items()
}
# Words that carry an operation: no column or cell has to account for them.
_HINT_WORDS = frozenset(
    stem(word)
    for word in word_set(
        "total number amount sum combined difference most least more less fewer than first last next "
        "previous before after following list listed table chart according name only times time consecutive "
        "same other besides top bottom higher lower show shown give tell many much long each every different entry "
        "row least highest lowest longest shortest largest smallest greatest earliest latest oldest newest tallest "
        "older newer earlier later which kind type compared exactly ever all altogether know please current"
    )
)


@dataclass(frozen=True, slots=True)
class WordToken:
    text: str
    stem: str
    content: bool


@dataclass(frozen=True, slots=True)
class ValueBound:
    """ "more than 20" or "between 1990 and 2000": from `low` to `high`, None for an open side; `strict`: without the
    ends. `first` and `last` are the tokens that it stands in. The sides are days where `timed`."""

    low: Fraction | Day | None
    high: Fraction | Day | None
    strict: bool
    timed: bool
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question in tokens. `asked` are the stems of the noun that is asked for, `near_asked` their synonyms."""

    query: Query
    tokens: tuple[WordToken, ...]
    kind: AnswerKind
    asked: tuple[str, ...]
    near_asked: frozenset[str]
    hints: frozenset[OperationHint]
    bounds: tuple[ValueBound, ...]
    days: tuple[tuple[Day, int, int], ...]
    ranks: tuple[tuple[int, int], ...]  # a rank, and the token that it stands in
    measure: frozenset[str]  # what a superlative or comparative measures: "height" for "tallest"
    measure_bits: int  # the tokens that say so

    @property
    def text(self) -> str:
        return self.query.text

    def bits(self, stems: frozenset[str]) -> int:
        """The tokens with one of these stems, as a bit mask."""
        return sum(1 << at for at, token in enumerate(self.tokens) if token.stem in stems)

    @property
    def content_bits(self) -> int:
        """The tokens that a table has to account for."""
        return sum(1 << at for at, token in enumerate(self.tokens) if token.content and token.stem not in _HINT_WORDS)


# "the largest city" is so by population or by area.
_SIZES = frozenset({"largest", "biggest", "smallest", "larger", "bigger", "smaller"})
_SIZE_HEADERS = frozenset(stem(word) for word in ("population", "inhabitants", "area", "size", "capacity"))


def canonical(word: str) -> str:
    """The stem by which a word of a question meets one of a cell: "third" and "3rd" are one."""
    if word.isdigit():
        return word
    rank = ordinal(word)
    return f"{rank}." if rank is not None else stem(word)


def asks_for_all(query: Query) -> bool:
    """Whether a question asks for all of something: "Which bridges are made of iron?"."""
    return OperationHint.PLURAL in read_table_question(query).hints


@lru_cache(maxsize=256)
def read_table_question(query: Query) -> TableQuestion:
    text = query.text
    tokens = tuple(WordToken(word, canonical(word), word not in STOPWORDS) for word in words(text))
    bounds, days = _values(text)
    # "more than 20" hints at no comparison of rows, "before 1990" at no row before another one.
    bounded = {at for bound in bounds for at in range(bound.first, bound.last + 1)}
    free = " ".join("," if at in bounded else token.text for at, token in enumerate(tokens))
    hints = {hint for hint, pattern in _HINTS.items() if pattern.search(free)}
    asked, kind = _asked(query, tokens)
    if _asks_for_all(kind, tokens):
        # Of several, "first" says when something was done to each: "Which operas were first heard in Prague?".
        hints = (hints - {OperationHint.FIRST, OperationHint.OLDEST}) | {OperationHint.PLURAL}
    measuring = [at for at, token in enumerate(tokens) if token.text in MEASURES or token.text in SUPERLATIVES]
    words_of = {word for at in measuring for word in (tokens[at].text, MEASURES.get(tokens[at].text, ""))}
    measure = frozenset(other for word in words_of if word for other in alike(stem(word)))
    if words_of & _SIZES:
        measure |= _SIZE_HEADERS
    ranks = tuple((rank, at) for at, token in enumerate(tokens) if (rank := ordinal(token.text)) is not None)
    near = frozenset(other for word in asked for other in alike(word) | counts_as(word))
    if kind is AnswerKind.PERSON and not asked:  # "Who painted X?" asks for the painter
        near = frozenset(other for word in query.relation for other in alike(word))
    return TableQuestion(
        query,
        tokens,
        kind,
        asked,
        near,
        frozenset(hints),
        bounds,
        days,
        ranks,
        measure,
        sum(1 << at for at in measuring),
    )


_SINGULAR_VERBS = frozenset({"is", "was"})
_PLURAL_VERBS = frozenset({"are", "were", "have"})
_SEVERAL = frozenset({"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
_ASKING = frozenset({"which", "what", "who", "name", "list"})
_OF = frozenset({"of", "in", "by", "for"})
_VERBS = frozenset(stem(verb) for verb in BASE_VERBS)


# Between the question word and a noun in the plural stand no more words than these.
_FARTHEST = 5


def _asks_for_all(kind: AnswerKind, tokens: tuple[WordToken, ...]) -> bool:
    """Whether the noun that is asked for stands in the plural: "Which bridges are made of iron?"."""
    if kind in {AnswerKind.NUMBER, AnswerKind.YES_NO}:
        return False
    said = [token.text for token in tokens]
    start = next((at for at, word in enumerate(said) if word in _ASKING), None)
    if start is None:
        return False
    if said[start : start + 2] == ["which", "of"]:
        rest = range(start + 3, min(start + 4 + _FARTHEST, len(said)))
        return any(said[at] in _PLURAL_VERBS or (said[at] in BASE_VERBS and is_plural(said[at - 1])) for at in rest)
    copular = said[start + 1 : start + 2] in (["are"], ["were"])
    if said[start] == "who" and not copular:
        return False
    for at in range(start + 1 + copular, min(start + 1 + copular + _FARTHEST, len(said))):
        word, after = said[at], said[at + 1 : at + 2]
        begun = at > start + 1 + copular
        if word in AUXILIARIES or word in _OF or (begun and word in DETERMINERS):
            return False
        verb = stem(word) in _VERBS and said[at - 1] not in STOPWORDS
        if is_plural(word) and not verb:
            return not after or after[0] not in _SINGULAR_VERBS or said[at - 1] in _SEVERAL
    return False


_FIRST_NOUN = lazy_pattern(r"^(?:the|name the|give the|tell me the|what is the|what was the|name of the) (?P<noun>\w+)")


def _asked(query: Query, tokens: tuple[WordToken, ...]) -> tuple[tuple[str, ...], AnswerKind]:
    """The asked noun and the kind of answer; without a question word the first noun: "the school with ..."."""
    asked = tuple(word for word in query.asked if word not in _HINT_WORDS) or query.asked
    if asked or query.kind is not AnswerKind.THING:
        return asked, query.kind
    match = _FIRST_NOUN.match(" ".join(token.text for token in tokens))
    return ((stem(match["noun"]),), kind_of_noun(match["noun"])) if match else ((), query.kind)


# --- values in the question ------------------------------------------------------------------------

_OR_MORE = lazy_pattern(
    r"\s+or (?P<more>more|above|higher|greater|later|older|over)\b|\s+or (?:less|fewer|below|lower|under|earlier)\b"
)


def _values(text: str) -> tuple[tuple[ValueBound, ...], tuple[tuple[Day, int, int], ...]]:
    """The bounds and the dates of a question, with the tokens that they stand in."""
    bounds: list[ValueBound] = []
    days: list[tuple[Day, int, int]] = []
    for mention in mentions(text, "en", lenient=False):
        first, last = len(words(text[: mention.start])), len(words(text[: mention.end])) - 1
        value = mention.readings[0]
        trailing = _OR_MORE.match(text, mention.end)
        match value:
            case Span(low=low, high=high):
                if (a := _side(low)) is not None and (b := _side(high)) is not None and type(a) is type(b):
                    bounds.append(ValueBound(a, b, False, isinstance(a, tuple), max(0, first - 1), last))
            case Period():
                decade = (value.first, 0, 0), (value.last, 12, 31)
                bounds.append(ValueBound(*decade, False, True, max(0, first - 1), last))
            case Moment() | Quantity():
                side = _side(value)
                if side is None:
                    continue
                ranked = words(text[: mention.start])[-1:] == ["top"]  # "in the top 5"
                sign = value.bound or (
                    "" if not trailing and not ranked else ">=" if trailing and trailing["more"] else "<="
                )
                if sign:
                    reach = last + 2 * bool(trailing)
                    lead = first - (1 if isinstance(value, Moment) else 2) * (not trailing)
                    least, most = (side, None) if sign[0] == ">" else (None, side)
                    bounds.append(ValueBound(least, most, len(sign) == 1, isinstance(side, tuple), max(0, lead), reach))
                elif isinstance(side, tuple):
                    days.append((side, first, last))
    return tuple(bounds), tuple(days)


def _side(value: Moment | Quantity) -> Fraction | Day | None:
    match value:
        case Moment(date=Date() as date):
            return date.year, date.month, date.day
        case Moment(date=date):
            return 0, date.month, date.day
        case Quantity(ordinal=False, value=amount):
            return Fraction(str(amount))
    return None
