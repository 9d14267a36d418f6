"""Scores a short answer against the accepted ones without any model.

`em` and `f1` are SQuAD's (Rajpurkar et al. 2016, arXiv:1606.05250) after its normalisation, with HotpotQA's rule for
F1 (Yang et al. 2018, arXiv:1809.09600): yes, no and noanswer share no words with anything but themselves. `contains`
and `value` are this package's own: they tolerate wording, never content.

What `contains` credits: all words of an accepted answer, in order and at word borders, in an answer of at most
`LONGEST` words; accents, case and what stands in brackets behind it aside. Lists are credited where their items are the
same set ("A, B and C" is "C; B; A"); of "A; B" and "A: 1; B: 2" all parts are
needed, in any order. What it does not credit, though the words stand there:
- alternatives: "A or B", "A / B", "A; B" and lines of guesses, unless each of them contains the accepted answer;
- enumerations: "A and B", "A, B and C" or four and more parts of a kind, where only one is accepted (two or three
  parts between commas may be a place and its country: they pass);
- denials: "not A", "A is not it" (in the clause of A; "A, not B" passes), and "New A", "vice A", "non-A";
- a number or date that says something else: 12 in "12 March", 87 in "87 people" where 87 years are right.

`em` is as published, with its known fault: it drops all punctuation, so that "1.2" and "12" are the same to it.

What `value` credits: every number, date or range of the answer's kind equals the accepted one, or both say yes or no.
`text.comparing` decides whether values are equal, and more strictly than elsewhere, where a wrong answer would pass: a
number is no day of a month, a decade no year, "over 5" is not 5, 87 people are not 87 years, "about 5" is 5 and nothing
near it. What is less exact than the accepted value is not the same; what is more exact is, where the accepted one is
visibly rounded ("1.4 million", "5.1") or names fewer parts of the date.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from iterative_rag.builtin.language.function_words import fold, stem, word_set
from iterative_rag.evaluation.records import Scores
from iterative_rag.text import units
from iterative_rag.text.comparing import same_number, says
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language_of
from iterative_rag.text.mentions import mentions as mentions_of
from iterative_rag.text.other_names import asks_nation, common_names, nation_named
from iterative_rag.text.values import Mention, Moment, Period, Quantity, Span, Value

# What goes on with a unit and makes it another one: "miles per hour" are no miles.
_ANOTHER_UNIT = ("per",)
_BOUND = re.compile(
    r"\b(?:(?:no|not|at|more|less|fewer|greater|later|earlier|higher|lower|than|the|least|most|up|to|over|above|after|"
    r"exceeding|under|below|before|until|maximum|minimum|of)\s+)+$",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def mentions(text: str) -> tuple[Mention, ...]:
    """The values of an English text, each in the reading of its language only."""
    matches = mentions_of(text, "en", lenient=False)
    return tuple(replace(mention, readings=tuple(map(_exact, mention.readings))) for mention in matches)


def _exact(value: Value) -> Value:
    match value:
        case Quantity() | Moment():
            return replace(value, about=False)
        case Span():
            return Span(replace(value.low, about=False), replace(value.high, about=False))
    return value


def read_value(text: str) -> tuple[Value, ...]:
    """The readings of a text that is one value and nothing else ("in the year 1987", "87 years"); else none."""
    matches = mentions(text)
    if len(matches) != 1 or matches[0].capitals or re.search(r"\w", text[matches[0].after :]):
        return ()
    before = re.findall(r"[\w'.]+", folded(_BOUND.sub("", text[: matches[0].start])))
    english = language_of("en")
    if not all(word in english.no_names or word in english.fillers for word in before):
        return ()
    # "1169 cc" is not a year, though "1169" alone would be.
    measured = tuple(
        value for value in matches[0].readings if isinstance(value, Quantity) and (value.unit or value.counted)
    )
    return measured or matches[0].readings


def same(gold: Value, given: Value) -> bool:
    """Whether `given` says all that `gold` says."""
    match gold, given:
        case Quantity(), Quantity():
            fits = gold.bound == given.bound and _same_form(gold, given) and _same_things(gold, given)
            return fits and same_number(replace(gold, counted=()), replace(given, counted=()))
        case Moment(), Moment():
            return gold.bound == given.bound and says(gold, given)
        case Period(), Period():
            return gold == given
        case Span(), Span():
            return same(gold.low, given.low) and same(gold.high, given.high)
    return False


def alike(gold: Value, given: Value) -> bool:
    """Whether `given` is of the kind of `gold`, so that a differing one would contradict it."""
    match gold, given:
        case Quantity(), Quantity():
            return _same_form(gold, given) and _same_things(gold, given)
    return type(gold) is type(given)


def _same_form(gold: Quantity, given: Quantity) -> bool:
    """ "12th" and a bare "12" may be the same rank; 12 years are no rank."""
    return gold.ordinal == given.ordinal or not (_things(gold) or _things(given))


def _things(quantity: Quantity) -> bool:
    return bool(quantity.unit or quantity.counted)


def _same_things(gold: Quantity, given: Quantity) -> bool:
    """One of them names nothing that it counts, or the given one begins with what the accepted one names."""
    if not (_things(gold) and _things(given)):
        return True
    if gold.unit != given.unit and not (gold.unit and units.convert(1.0, given.unit, gold.unit) is not None):
        return False
    wanted, got = [[stem(word) for word in quantity.counted] for quantity in (gold, given)]
    count = len(wanted)
    return got[:count] == wanted and tuple(got[count : count + 1]) != _ANOTHER_UNIT


# The most words of a short answer: a longer text would contain an accepted answer by chance.
LONGEST = 40
# What stands in brackets behind an accepted answer explains it: "Stockholm (Sweden)".
_EXPLAINED = re.compile(r"(?<=\S)\s*\([^()]*\)[\s.]*$")


def score(short_answer: str, accepted: Sequence[str], question: str = "") -> Scores:
    """The best of each score over the accepted answers, without a judge; all 0 for an empty answer. Where the
    `question` asks for a nationality or a country, the adjective is the name."""
    if not short_answer.strip():
        return Scores()
    bare = [_EXPLAINED.sub("", gold) for gold in accepted]
    nations = [common_names(text, nationality=asks_nation(question)) for text in (short_answer, *bare)]
    return Scores(
        em=_best(exact_match, short_answer, accepted),
        f1=_best(f1, short_answer, accepted),
        contains=max(_best(contains, short_answer, (*accepted, *bare)), _best(contains, nations[0], nations[1:])),
        value=_best(same_value, short_answer, (*accepted, *bare)),
    )


def matches(given: str, expected: str) -> bool:
    """Whether `given` would be scored right where `expected` is the accepted answer."""
    return bool(score(given, (expected,)).right)


def stands_in(text: str, accepted: str) -> bool:
    """Whether a text (a fact, a quote) holds an accepted answer: its words, or the same number or date."""
    if values := read_value(accepted):
        said = mentions(text)
        return any(same(gold, reading) for gold in values for mention in said for reading in mention.readings)
    return any(True for _ in _places(_tokens(text), _tokens(accepted)))


def _best(measure: Callable[[str, str], float], given: str, accepted: Sequence[str]) -> float:
    return max((float(measure(given, gold)) for gold in accepted), default=0.0)


# --- SQuAD -------------------------------------------------------------------------------------

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CLOSED = frozenset({"yes", "no", "noanswer"})


def normalised(text: str) -> str:
    """SQuAD's: lower case, no ASCII punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(given: str, gold: str) -> bool:
    """SQuAD's; where nothing is left of an accepted answer ("A", "The The"), the texts as they stand are compared."""
    wanted = normalised(gold)
    return normalised(given) == wanted if wanted else _plain(given) == _plain(gold) != ""


def f1(given: str, gold: str) -> float:
    """The harmonic mean of precision and recall over the words, repeats counted."""
    wanted, got = normalised(gold), normalised(given)
    if not wanted or ({wanted, got} & _CLOSED and wanted != got):
        return float(exact_match(given, gold))
    expected, said = wanted.split(), got.split()
    shared = sum((Counter(expected) & Counter(said)).values())
    return 2 * shared / (len(expected) + len(said)) if shared else 0.0


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


# --- containment -------------------------------------------------------------------------------

# One word, or one character of a script that is written without spaces.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?(?![^\W{_CJK}])|[{_CJK}]|[^\W_{_CJK}]+(?:['.][^\W_{_CJK}]+)*")
_ARTICLE_WORDS = frozenset({"a", "an", "the"})
_DENIALS = word_set("not never cannot isnt wasnt arent werent dont doesnt didnt cant couldnt wont")
_DENIALS_BEFORE = _DENIALS | word_set("no neither nor without except excluding unlike rather instead")
# Words that change the name or noun after them into something else.
_CHANGES = word_set(
    "non anti new north south east west northern southern eastern western northeast northwest southeast southwest "
    "vice deputy assistant step great grand"
)
_CLAUSE = re.compile(r"[,;:!?()\n—–]|\bbut\b|(?<=\w{4})\.\s", re.IGNORECASE)
_ALTERNATIVES = (
    re.compile(r"\b(?:or|either|vs\.?|versus)\b", re.IGNORECASE),
    re.compile(r"[;|\n]|\s/\s|(?<=[^\W\d_]{3})/(?=[^\W\d_]{3})"),
)
_BETWEEN_ITEMS = re.compile(r"[,;]\s+(?:and\s+)?|\s+and\s+|\s*&\s*|[、，\n]", re.IGNORECASE)
_ALSO = re.compile(r",|\band\b|&|\bas well as\b|、|，", re.IGNORECASE)


def contains(given: str, gold: str) -> bool:
    """Whether the answer says the accepted one and nothing against it; see the head of this module."""
    if len(items := _items(gold)) > 1 and _items(given) == items:
        return True
    if len(parts := gold.split("; ")) > 1:
        return all(_says_part(given, part) for part in parts) and not _ALTERNATIVES[0].search(given)
    if (nation := nation_named(given)) and (other := nation_named(gold)) and nation != other:
        return False  # "Guinea-Bissau" is not "Guinea"
    tokens, wanted = _tokens(given), _tokens(gold)
    if len(tokens) > LONGEST or not any(True for _ in _places(tokens, wanted)):
        return False
    if read_value(gold) or closed(gold) is not None:
        return same_value(given, gold)
    return not _is_choice(given, gold) and not _is_enumeration(given, gold) and _affirmed(given, gold)


def _says_part(given: str, part: str) -> bool:
    """Whether an answer says one of several things that are needed; of a pair ("A: 1") both in one clause."""
    pair = part.split(": ")
    clauses = (given,) if len(pair) < 2 else _BETWEEN_ITEMS.split(given)
    return _holds(given, part) or any(all(stands_in(clause, half) for half in pair) for clause in clauses)


@lru_cache(maxsize=8192)
def _tokens(text: str) -> tuple[str, ...]:
    """Folded words without articles (unless there is nothing else), each name in one form: "UN" is "United Nations"."""
    tokens = [re.sub(r"[.',]", "", token) for token in _TOKEN.findall(fold(common_names(text)))]
    return tuple([token for token in tokens if token not in _ARTICLE_WORDS] or tokens)


def _places(tokens: tuple[str, ...], wanted: tuple[str, ...]) -> Iterator[int]:
    """Where `wanted` begins in `tokens`; a single character of CJK stands for a word only where it is alone."""
    count = len(wanted)
    single = count == 1 and re.fullmatch(rf"[{_CJK}]", wanted[0]) is not None
    for start in range(len(tokens) - count + 1 if count else 0):
        if tokens[start : start + count] == wanted:
            beside = (*tokens[max(0, start - 1) : start], *tokens[start + count : start + count + 1])
            if not (single and any(re.fullmatch(rf"[{_CJK}]", token) for token in beside)):
                yield start


def _holds(text: str, gold: str) -> bool:
    return any(True for _ in _places(_tokens(text), _tokens(gold)))


def _items(text: str) -> frozenset[tuple[str, ...]]:
    """The items of a list, whatever stands between them."""
    return frozenset(tokens for part in _BETWEEN_ITEMS.split(text) if (tokens := _tokens(part)))


def _is_choice(given: str, gold: str) -> bool:
    """Whether one of several alternatives lacks the accepted answer (which may hold an "or" itself) and denies none."""
    for separator in _ALTERNATIVES:
        parts = [part for part in separator.split(given) if _tokens(part) and not _denied(_tokens(part))]
        if len(parts) > 1 and not separator.search(gold) and not all(stands_in(part, gold) for part in parts):
            return True
    return False


def _is_enumeration(given: str, gold: str) -> bool:
    """Whether the accepted answer is one of several of a kind: each part of a list begins large, or each small."""
    marks = [mark.lower() for mark in _ALSO.findall(given)]
    parts = [part.strip() for part in _ALSO.split(given) if _tokens(part)]
    own = next((part for part in parts if _tokens(part) == _tokens(gold)), "")
    if not own or len(parts) < 2:
        return False
    kind = [
        part
        for part in parts
        if part[:1].isupper() == own[:1].isupper() and len(_tokens(part)) <= len(_tokens(own)) + 3
    ]
    commas_only = all(mark in (",", "，") for mark in marks)
    return len(kind) >= (4 if commas_only else 2) and not all(_holds(part, gold) for part in kind)


def _affirmed(given: str, gold: str) -> bool:
    """Whether the accepted answer stands in some clause that neither denies it nor makes another thing of it."""
    wanted = _tokens(gold)
    clauses = [given] if _CLAUSE.search(gold) else _CLAUSE.split(given)
    held = [_tokens(clause) for clause in clauses if _holds(clause, gold)] or [_tokens(given)]
    return any(
        not _denied(clause[:start], clause[start + len(wanted) :])
        for clause in held
        for start in _places(clause, wanted)
    )


def _denied(before: Sequence[str], after: Sequence[str] = ()) -> bool:
    """Whether the words before or after a name deny or change it; the no of "No. 5" does not."""
    if before and before[-1] in _CHANGES:
        return True
    numbers = {at for at, word in enumerate(before) if word[:1].isdigit()}
    said = (word in _DENIALS_BEFORE and not (word == "no" and at + 1 in numbers) for at, word in enumerate(before))
    return any(said) or not _DENIALS.isdisjoint(after)


# --- values ------------------------------------------------------------------------------------

_YES_NO = re.compile(
    r"^\W*(?:(?P<yes>yes|yeah|yep|true|correct)|(?P<no>no|nope|false|incorrect))"
    r"(?:\W*$|\s*[,.;:!—–-]|\s+(?=(?:they|it|he|she|both|neither|the|that|this|there|we|i)\b))",
    re.IGNORECASE,
)
_YES_WORDS = re.compile(r"\b(?:yes|true|correct)\b", re.IGNORECASE)
_NO_WORDS = re.compile(r"\b(?:no|false|incorrect)\b", re.IGNORECASE)
# A denial in the clause before a value; "no more than 5" is a bound.
_NOT_IT = re.compile(
    r"\b(?:not|never|cannot|\w+n't|neither|nor|no|rather than|instead of)\b(?! (?:more|less|fewer|later|earlier) than)"
    r"(?:(?!\bbut\b)[^,;])*$",
    re.IGNORECASE,
)


def same_value(given: str, gold: str) -> bool:
    """Whether the answer gives the number, date, range or yes/no of the accepted one, and no other of that kind."""
    if (wanted := closed(gold)) is not None:
        return closed(given) is wanted
    values = read_value(gold)
    if not values or len(_tokens(given)) > LONGEST or _is_choice(given, gold):
        return False
    said = [mention for mention in mentions(given) if not (mention.named or _NOT_IT.search(given[: mention.start]))]
    return any(_says(said, value) for value in values)


def closed(text: str) -> bool | None:
    """True for yes, False for no, None for neither ("No one") and for both ("yes and no")."""
    match = _YES_NO.match(text)
    if match is None or (_YES_WORDS.search(text) and _NO_WORDS.search(text)):
        return None
    return match["yes"] is not None


def _says(said: Sequence[Mention], gold: Value) -> bool:
    """Whether some mention is the accepted value and none of its kind is another."""
    agreeing = [mention for mention in said if any(same(gold, reading) for reading in mention.readings)]
    return bool(agreeing) and not any(_contradicts(mention, gold) for mention in said if mention not in agreeing)


def _contradicts(mention: Mention, gold: Value) -> bool:
    """Whether a differing mention is of the kind of `gold`; a bare year beside a number is only when it happened."""
    if isinstance(gold, Quantity) and isinstance(mention.readings[0], Moment):
        return False
    return any(alike(gold, reading) for reading in mention.readings)
