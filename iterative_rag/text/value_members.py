"""What a value is made of, for every check that compares values: the members of a list, a name beside its titles and
initials, the total of amounts that are named together, the year of a day that is named after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from iterative_rag.text.dates import Date
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Mention, Moment, Quantity

# Titles, which tell nobody apart, before any name; and those that are parts of other names, too ("General Motors",
# "Miss Saigon", "Doctor Who"), before a name of several words.
_TITLES = r"Presidents?|Sir|Dame|Dr|Mr|Mrs|Ms|Professor|Prof|Senator|Sen|Gov|Congressman|Congresswoman"
_RANKS = (
    r"General|Gen|Colonel|Col|Captain|Capt|Major|Lieutenant|Lt|Sergeant|Admiral|King|Queen|Emperor|Empress|Pope|Lord|"
    r"Lady|Judge|Justice|Chancellor|Bishop|Archbishop|Cardinal|Governor|Reverend|Rev|Doctor|Miss|Madame"
)
_NAMED = r"[A-ZÀ-Þ][\w'’-]{2,}"
_TITLED = lazy_pattern(
    rf"(?<![\w-])(?:(?:{_TITLES})\.? (?={_NAMED}|[A-Z]\. )|(?:{_RANKS})\.? (?={_NAMED} (?:(?:van|von|de|der) )?[A-Z]))"
)
_BETWEEN = lazy_pattern(r"\s*[;\n]\s*|,\s+(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*&\s*")
# Between two amounts that are named together: "13 upper and 11 lower", "four frigates, three sloops".
_TOGETHER = lazy_pattern(r"(?: [^\W\d_]+){0,2}?(?:,|,?(?P<last> (?:and|und|et|y|e|en|&))) ")
# Words of a name that stands in a list, other than as the last one.
LONGEST_MEMBER = 4
# Words that may come between those of a name: "Oda Maria Brenk", "Oda von der Brenk".
MOST_BETWEEN = 2


def compared(text: str, *, nationality: bool = False) -> str:
    """The text as checks compare it: each name in its one form, without the titles before it."""
    return _TITLED.sub("", common_names(text, nationality=nationality))


def members(value: str) -> tuple[str, ...]:
    """The members of a list, whatever stands between them; the value itself where it is none."""
    return tuple(part.strip(" .") for part in _BETWEEN.split(value) if part.strip(" ."))


def holds_name(words: Sequence[str], name: Sequence[Set[str]], between: int = MOST_BETWEEN) -> bool:
    """Whether the words of a name, each in one of its spellings, stand among folded `words` in order. A second first
    name or a particle may come between; an initial before the last word may be left out, or stand for a name in full,
    but be no other letter."""
    return any(_continues(words, start, name, between) for start in range(len(words)))


def _continues(words: Sequence[str], at: int, name: Sequence[Set[str]], between: int) -> bool:
    for n, forms in enumerate(name):
        beside, last = words[at : at + 1], n == len(name) - 1
        if (letter := "" if last else _initial(forms)) and beside and beside[0].startswith(letter):
            at += 1
        elif letter and n:  # left out
            following = name[n + 1]
            if not (_initial(following) or set(beside) <= following):
                return False
        else:
            near = range(at, min(at + 1 + (between if n else 0), len(words)))
            at = next((index for index in near if words[index] in forms), -1) + 1
            if not at:
                return False
    return True


def _initial(forms: Set[str]) -> str:
    return next((form for form in forms if len(forms) == 1 == len(form)), "")


def listed_counts(text: str) -> list[int]:
    """How many names stand in each list of three or more that a text has: 4 for "Olm, Tarn, Velm and Quay"."""
    counts, run = [], 1
    for part in (*_BETWEEN.split(text)[1:], ""):
        goes_on = part[:1].isupper()
        run += goes_on
        if not goes_on or len(part.split()) > LONGEST_MEMBER:
            counts += [run] if run > 2 else []
            run = 1
    return counts


def with_implied(mentions: Sequence[Mention], text: str) -> tuple[Mention, ...]:
    """The values of a text and those that it implies: the totals of amounts that it names together (24 for "13 upper
    and 11 lower teeth"), and days in the year of the date before ("on 3 May 1915 ... on 23 May")."""
    return (*mentions, *_totals(mentions, text), *_dated(mentions))


def _dated(mentions: Sequence[Mention]) -> Iterator[Mention]:
    before: tuple[int | None, int, int] = (None, 0, 0)
    for mention in mentions:
        if isinstance(moment := mention.readings[0], Moment):
            year, month, day = moment.parts
            if year is not None:
                before = moment.parts
            elif before[0] is not None and (month, day) >= before[1:]:
                yield replace(mention, readings=(replace(moment, date=Date(before[0], month, day)),))


def _totals(mentions: Sequence[Mention], text: str) -> Iterator[Mention]:
    run: list[tuple[Mention, Quantity]] = []
    for mention in mentions:
        amount = mention.readings[0]
        if not isinstance(amount, Quantity) or amount.ordinal or mention.named:
            run = []
            continue
        joint = _TOGETHER.fullmatch(text, run[-1][0].end, mention.start) if run else None
        run = [*(run if joint and run[-1][1].unit == amount.unit else ()), (mention, amount)]
        if joint and joint["last"] and len(run) > 1:
            total = replace(amount, value=sum(part.value for _, part in run))
            yield replace(mention, readings=(total,), start=run[0][0].start)
