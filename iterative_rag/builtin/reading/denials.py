"""Whether a sentence says that a value, or a yes, is not so: it denies it, calls it a wrong belief, tells what was only
planned or alleged, or what has ended; and whether it tells anything of what a yes/no question asks."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content, lines, listed, stem, word_set
from iterative_rag.builtin.language.lexicon import INVERSE, alike
from iterative_rag.builtin.language.text_values import amounts, tells_year, years
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.builtin.reading.subject_names import is_of_a_longer_name
from iterative_rag.text.other_names import common_names, nations_in
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.verification.evidence import with_life

_PREDECESSOR = lazy_pattern(r"(?i)\bpredecessor of\b|^who(?:m)? did .+ (?:succeed|replace)\b")
_FOLLOWED = lazy_pattern(r"(?i)\b(?:(?:succeeded|replaced|followed)\b[^.;]{0,40} by|successor)\W+(?:\w+ ){0,3}$")
# What stands before a value that is not it: "the mayor is not Bo Orm", "in Tellby rather than in Orm".
_NOT = lazy_pattern(r"(?i)\b(?:not|never|rather than|instead of|other than|unlike)(?: (?:the|an?|by|in|at|to|from))* $")
_UNTRUE, _UNDONE, _CAME_ABOUT, _BEGUN, _FELL_THROUGH, _DENYING = (
    lazy_pattern(rf"(?i)\b(?:{'|'.join(lines(name))})")
    for name in ("untrue", "undone", "came_about", "begun", "fell_through", "denying")
)
# A semicolon before what is said of something else.
_ELSE = lazy_pattern(r";(?! (?:this|that|it|but|however)\b)")
_CLAUSES = lazy_pattern(r"[;:]|\b(?:and|but|who|which|before|after)\b")
# "Its mayor was Bo Lind until 2009" does not tell who is mayor.
_PRESENT = lazy_pattern(r"(?i)^(?:\w+ ){0,3}?(?:is|are|does|do)\b")
# "The third of five children" tells how many the parents had.
_CHILDREN = lazy_pattern(r"(?i)\bhow many (?:\w+ )?(?:children|sons|daughters|kids)\b")
_BORN_AS = lazy_pattern(r"(?i)\b(?:\w+(?:st|nd|rd|th)|one|youngest|middle)(?: born)? (?:child )?of (?:their |the )?$")
# "Bo Lind (1827–1901)": nobody is mayor in 1950 who was dead by then.
_LIFE = lazy_pattern(r"[^(]{0,20}\([^()]*?\b(\d{4})\s?[–-]\s?[^()]*?(\d{4})\)")
_FORMERLY = lazy_pattern(r"(?i)\b(?:used to|was (?:formerly|previously))\b")
_ENDED = lazy_pattern(r"(?i)\b(?:was|were|had|held|\w+ed)\b[^.;]{0,60}\b(?:until (?:\w+ )?|from \d{4} to )\d{4}")

# "Was he a surgeon?", "Is she German?"; not "Was he arrested?", "Is it open in July?".
_ASKS_WHAT = lazy_pattern(r"(?i)(?:is|are|was|were)\b(?!.*(?:\w\w[^e\W]ed\b| (?:on|in|at|by|from|to|for|with) ))")
_KIND = lazy_pattern(r" an? ")
_IS = lazy_pattern(r"\b(?:is|are|was|were)\b")
# What somebody is beside what an article says at once that they were.
_TRAITS = frozenset(map(stem, listed("traits")))
_ADVERBS = frozenset(map(stem, word_set("ever still again already both also true")))


def denies_value(query: Query, sentence: str, value: str) -> bool:
    """Whether a sentence that holds a value says that it is not what the query asks for."""
    at = sentence.find(value)
    before, after = (sentence[:at], sentence[at + len(value) :]) if at >= 0 else ("", sentence)
    clause = _CLAUSES.split(before)[-1]
    if _CHILDREN.search(query.text) and _BORN_AS.search(before):
        return True
    if _NOT.search(before) or (_PREDECESSOR.search(query.text) and _FOLLOWED.search(before)):
        return True
    life = _LIFE.match(after)
    if life and any(not int(life[1]) <= year <= int(life[2]) for year in query.years):
        return True
    ended = _PRESENT.match(query.text) and _ENDED.search(f"{clause}{value}{after}")
    if (ended and ended.end() > len(clause + value)) or (_PRESENT.match(query.text) and _FORMERLY.search(clause)):
        return True
    return is_untrue(query, before) or _is_undone(query, sentence, clause) or _fell_through(query, before, after)


def denies_yes(query: Query, sentence: str) -> bool:
    """Whether a sentence that has the words of a yes/no question does not bear a yes out."""
    ended = _PRESENT.match(query.text) and _ENDED.search(sentence)
    undone = _is_undone(query, sentence, _CLAUSES.split(sentence)[0])
    return bool(ended) or undone or _fell_through(query, "", sentence)


def bears_on(query: Query, page: UnitPage, unit: PageUnit) -> bool:
    """Whether a unit has a word of what is asked about the subject of its page, or one alike."""
    asked = {*query.relation, *query.asked, *query.name_words, *map(str, query.years)} - set(content(page.title))
    told = set(content(f"{unit.text} {common_names(unit.text, nationality=True)}"))
    return not asked or any((alike(word) | INVERSE.get(word, frozenset())) & told for word in asked)


def is_denial(text: str) -> bool:
    """Whether a text denies something: "not", "refused", "unlike"."""
    return _DENYING.search(text) is not None


def leaves_open(query: Query, page: UnitPage, unit: PageUnit) -> bool:
    """Whether a unit bears no no out: it neither denies anything nor says something else of what is asked, as another
    place of birth, another number, another year, or in the article's own words what somebody is."""
    told, asked = {*content(with_life(unit.text)), *content(page.title)}, set(query.relation) - _ADVERBS
    if is_denial(unit.text):
        return not bears_on(query, page, unit)
    if any(amount.value not in query.years for amount, *_ in amounts(query.text)):
        return all(amount.value in years(unit.text) for amount, *_ in amounts(unit.text))
    if (
        _TRAITS.isdisjoint(asked)
        and _ASKS_WHAT.match(query.text)
        and (_KIND.search(query.text) or nations_in(query.text))
    ):
        own = query.name_words <= set(content(page.title)) and asked <= told
        return own or is_of_a_longer_name(query, page.bare_title) or not _IS.search(unit.text)
    held = sum(not alike(word).isdisjoint(told) for word in asked)
    others = [name for name in query.names if set(name).isdisjoint(content(page.title))]
    if not query.years and all(told & set(name) for name in others):
        return True  # nothing is told that could be another: no other place, person or work
    if query.years and (held == len(asked)) is all(tells_year(unit.text, year) for year in query.years):
        return True
    return 2 * held < len(asked)


def is_untrue(query: Query, text: str) -> bool:
    """Whether a text says that what it tells is not so, and is not asked just that."""
    return _UNTRUE.search(text) is not None and not _UNTRUE.search(query.text)


def _is_undone(query: Query, sentence: str, clause: str) -> bool:
    asked = _UNDONE.search(query.text) or " would " in query.text
    return bool(_UNDONE.search(clause)) and not (asked or _CAME_ABOUT.search(sentence))


def _fell_through(query: Query, before: str, after: str) -> bool:
    """Whether a sentence, between the semicolons around the value, tells of something begun that came to nothing."""
    before, after = before.rpartition(";")[2], _ELSE.split(after)[0]
    end = _FELL_THROUGH.search(after)
    begun = end and _BEGUN.search(f"{before} {after[: end.start()]}")
    return bool(begun) and not _FELL_THROUGH.search(query.text) and not _BEGUN.search(query.text)
