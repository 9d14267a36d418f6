"""In which order the documents of a need are read, and when they have been read far enough.

In 61 of 76 needs the value stood in the first document, in most others in the second. So what matters is whether the
first is the right one: whether its title is a name in the need.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from iterative_rag.retrieval.article_parts import stems
from iterative_rag.retrieval.need_reading import SURE, NeedReading, is_value
from iterative_rag.retrieval.need_words import CAPITAL_NOUNS, holds_words, is_titled, names_in, plain_words
from iterative_rag.text.folding import PLAIN_SIGNS, folded, folded_in_place
from iterative_rag.text.languages import content_words, language
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.unspaced import is_unspaced, stands_within
from iterative_rag.types import Fact, Need, ShortlistedDocument, Support

# Documents that are read where the need names several, or where it names none and the first value does not say what it
# is about: the best document may be that of a namesake.
UNSURE = 2
# Documents that are looked at where none brings a value: of 86 needs 64 had theirs from the first document that was
# read, 22 from the second.
MOST = 4
# Facts without a value that count as much as one with a value.
FACTS_PER_VALUE = 2
# From this trust on, a value about what the need names, of a quote that bears it out, ends the reading also where calls
# cost nothing.
CERTAIN = 0.7
# Documents that are read where a first value proves nothing: there may be a greater one, or more of them.
READING_ON = 3

_COUNTING = lazy_pattern(
    r"\bhow many\b|\bhow often\b|\bwhich of\b|\blist\b|\ball (?:the|of)\b|\bnamesakes?\b|\bsame (?:first |last )?name\b"
    r"|\bother (?:than|\w+s)\b|\bwho (?:are|were)\b|\bwhat (?:are|were) the\b|\b(?:most|fewest|least|only)\b"
    r"|\bthe (?:\w+ )?(?!first|west|east|rest|best|latest|forest|guest|priest|test|contest|protest|harvest)\w{3,}est\b"
    r"(?! (?:child|son|daughter|brother|sister|sibling)\b)"
    r"|\bwie ?viele\b|\bwelche[rs]? (?:von|der)\b|\bcombien\b|\blequel\b|\bcuant[oa]s\b|\bcual de\b|\bquant[ei]\b"
)
_COMPARING = lazy_pattern(r"\b(?:or|and|both|oder|und|ou|et)\b")
_WORD = lazy_pattern(r"\w+(?:'s\b)?")
_WORD_BEFORE = lazy_pattern(r"(\S+)\s+$")
_WORD_AFTER = lazy_pattern(r"^\s+(\w\S*)")
_BETWEEN_NAMES = lazy_pattern(r" (?:in|for|on|and) ")
_YEAR = lazy_pattern(r"\b\d{4}\b")
# What a row alone does not tell, in English.
_ORDER = lazy_pattern(
    r"\b(?:first|second|third|last|next|previous\w*|before|after|since|until|between|during|total|average|ranks?|ranked|"
    r"positions?|numbers?|amounts?|more|fewer|less|not|except|outside|other|only|each|every|both|same|than|again|still|"
    r"ever|never|succe\w+|prece\w+|prede\w+|follow\w*|\d+(?:st|nd|rd|th))\b"
)
_LIFE = lazy_pattern(
    r"\b(?:born|births?|die[ds]?|deaths?|old|ages?|geboren|starb|gestorben|alt|nee?|mort|naci\w*|muri\w*)\b"
)
_YEARS = lazy_pattern(r"\([^()]*\b\d{4}\b[^()]*\)")
_IN_BRACKETS = lazy_pattern(r"\s*\(([^()]*)\)\s*$")


def reads_on(need: Need) -> bool:
    """Whether a need asks for a greatest, for a count, for several things, or for one of several, so that a first value
    may not be the right one or not all."""
    return _COUNTING.search(folded_in_place(need.question)) is not None


def names(need: Need) -> frozenset[str]:
    """The capitalised words and numbers of a need, folded, without the word that it begins with."""
    return _names(need.question.partition(" ")[2])


def _names(text: str) -> frozenset[str]:
    return frozenset(folded(word) for word in _written(text) if word[:1].isupper() or word[:1].isdigit())


def _words(text: str) -> frozenset[str]:
    return frozenset(map(folded, _written(text)))


def _written(text: str) -> list[str]:
    words = _WORD.findall(common_names(text).translate(PLAIN_SIGNS))
    return [word.removesuffix("'s") for word in words]


def has_names(need: Need, title: str) -> bool:
    """Whether a title has all names of a need, and few others: "Oda Brenk of Karsa" for "When was Oda Brenk born?"."""
    wanted, held = names(need), _names(title)
    return bool(wanted) and wanted <= held and 2 * len(wanted) >= len(held)


def telling_names(need: Need) -> tuple[str, ...]:
    """The names of several words in a need, as `plain_words`, without years: "university of missouri". A document that
    holds none of them hardly ever brings a value. None in a language where every noun looks like a name."""
    if language(need.question) in CAPITAL_NOUNS:
        return ()
    undated = (_YEAR.sub("", name) for name in names_in(need.question))
    parts = [part.strip().removeprefix("the ").removesuffix(" of") for n in undated for part in _BETWEEN_NAMES.split(n)]
    bare = ((part, part.partition(" of ")[0]) for part in parts)  # "oda brenk of karsa" may just be called "Oda Brenk"
    return tuple(dict.fromkeys(name if " " in name else part for part, name in bare if " " in part))


def mentions(need: Need, title: str, text: str) -> bool:
    """Whether a text holds a telling name of a need; where that has none, one of its words with a capital. True for a
    need without names, and for a text in another language, which may write them otherwise."""
    if language(need.question) in CAPITAL_NOUNS:  # where every noun looks like a name
        return True
    wanted, said = telling_names(need) or names(need), plain_words(f"{title} {text}")
    return not wanted or _is_foreign(need, text) or any(holds_words(said, name) for name in wanted)


def _is_foreign(need: Need, text: str) -> bool:
    """Whether a text is in another language than a need, and may say the same in words of its own. Rows and names are
    in none."""
    asked, told = language(need.question), language(text)
    return told != asked != "" and (told != "" or not is_tabular(text))


def is_tabular(text: str) -> bool:
    """Whether half of a text, or more, are rows."""
    return 2 * sum(len(line) for line in text.split("\n") if line.startswith("|")) >= len(text)


def answers(need: Need, title: str, sentence: str) -> bool:
    """Whether a sentence of the article on a need's subject may say what is asked of it: it holds half of the need's
    words beside names, or tells of a birth or a death that is asked about."""
    known = names(need) | set(_WORD.findall(folded(title)))
    own = stems(" ".join(word for word in content_words(need.question) if word not in known))
    if 0 < len(own) <= 2 * len(own & stems(sentence)):
        return True
    return bool(_LIFE.search(folded(need.question)) and (_YEARS.search(sentence) or _LIFE.search(folded(sentence))))


def asked_rows(needs: Sequence[Need], title: str, rows: Sequence[str]) -> Collection[int]:
    """The rows of an article's table that hold a name or number of a need beside those of its title, with the rows next
    to them and the last one. All rows where a need asks for what no one row tells, or names what stands in none."""
    every, kept = range(len(rows)), {len(rows) - 1}
    said = [_words(row) for row in rows]
    for need in needs:
        places = [{n for n in every if name in said[n]} for name in names(need) - _words(title)]
        telling = [place for place in places if 2 * len(place) <= len(rows)]
        whole = need.aspect or reads_on(need) or _ORDER.search(folded(need.question)) is not None
        if whole or language(need.question) != "en" or not (telling and all(places)):
            return every
        kept |= {n + step for place in telling for n in place for step in (-1, 0, 1)}
    return kept & set(every)


def named(need: Need, documents: Sequence[ShortlistedDocument]) -> dict[str, list[str]]:
    """The names in the need that are titles, with the ids of the documents that have them. Of namesakes ("Mercury",
    "Mercury (planet)") it is the one whose addition the need mentions, else the one without, else all of them."""
    asked = common_names(need.question)
    question = folded_in_place(asked)
    by_name: dict[str, dict[str, int]] = {}  # how well the need tells each document of a name from the others
    for entry in documents:
        addition = _IN_BRACKETS.search(entry.title)
        name = _bare(entry.title)
        if name and _stands_as_name(name, question, asked):
            words = re.findall(r"\w+", folded_in_place(addition[1])) if addition else []
            fitting = 2 if any(word in question for word in words) else 0 if addition else 1
            by_name.setdefault(name, {})[entry.document_id] = fitting
    longest = [name for name in by_name if not any(name != other and name in other for other in by_name)]
    best = {name: max(by_name[name].values()) for name in longest}
    return {name: [id_ for id_, fitting in by_name[name].items() if fitting == best[name]] for name in longest}


def _bare(title: str) -> str:
    """A title without its addition in brackets, folded."""
    return folded_in_place(common_names(_IN_BRACKETS.sub("", title))).strip()


def _stands_as_name(name: str, question: str, written: str) -> bool:
    """Whether a folded name stands in a folded question as a whole name: capitalised, and no part of a longer one. What
    is written without spaces has neither capitals nor an end."""
    if is_unspaced(name):
        return stands_within(name, question)
    for match in re.finditer(rf"(?<!\w){re.escape(name)}s?(?!\w)", question):
        start, end = match.span()
        before, after = _WORD_BEFORE.search(written[:start]), _WORD_AFTER.search(written[end:])
        inside = (before and before.start() > 0 and before[1][0].isupper()) or (after and after[1][0].isupper())
        if not inside and not written[start].islower():
            return True
    return False


@dataclass(frozen=True, slots=True)
class ReadingPolicy:
    """How one need is read. `subjects` are the documents that the need names, `named` also the one where a model
    expects its fact. `least` is how many documents are read even if the first brings a value, `most` how many if none
    does. `fact_limit` documents with a value, or twice as many facts without one, end the reading whatever else holds.
    `subject` are the names of the need and `telling` those of several words, by which a value is known to be the right
    one. `thorough`: calls cost nothing, so documents are read until there are facts enough or a value is certain.
    """

    subjects: frozenset[str]
    named: frozenset[str]
    least: int
    most: int
    fact_limit: int
    subject: frozenset[str] = frozenset()
    telling: tuple[str, ...] = ()
    aspect: bool = False
    thorough: bool = False

    @classmethod
    def of(
        cls, need: Need, documents: Sequence[ShortlistedDocument], *, least: int, fact_limit: int, thorough: bool
    ) -> ReadingPolicy:
        """`least` is that of a reader that looks for other sources as well; 1 for one that does not."""
        titles, most = named(need, documents), min(MOST, len(documents))
        about = frozenset(document_id for ids in titles.values() for document_id in ids)
        if thorough:
            wanted, every = max(least, READING_ON) if reads_on(need) else least, len(documents)
            return cls(about, about, wanted, every, fact_limit, names(need), thorough=True)
        expected = frozenset(entry.document_id for entry in documents[:1] if is_titled(entry.title, need.see))
        likely = about | expected
        if least > 1 or (reads_on(need) and not (need.aspect or expected)):
            wanted = min(max(least, READING_ON), fact_limit)
            return cls(about, likely, wanted, max(wanted, most), fact_limit)
        if need.aspect:
            return cls(about, likely, 1, most, fact_limit, aspect=True)
        namesakes = any(len(ids) > 1 for ids in titles.values())
        if namesakes or (not expected and len(titles) > 1 and _COMPARING.search(folded_in_place(need.question))):
            return cls(about, likely, min(UNSURE, fact_limit), most, fact_limit)
        return cls(about, likely, 1, most, fact_limit, names(need), telling_names(need))

    def ordered(self, documents: Sequence[ShortlistedDocument]) -> list[ShortlistedDocument]:
        """The first document, unless it is a namesake of one that the need names; then those, then the others in their
        order."""
        named = {_bare(entry.title) for entry in documents if entry.document_id in self.named}
        first = [entry for entry in documents[:1] if entry.document_id in self.named or _bare(entry.title) not in named]
        rest = documents[len(first) :]
        return [*first, *sorted(rest, key=lambda entry: entry.document_id not in self.named)]

    def is_enough(self, facts: Sequence[Fact], read: Collection[str]) -> bool:
        """Whether the reading ends, with these facts about the need; `read` are the ids of the documents read. No one
        value settles an aspect of a text: the article on its subject does, whatever others have told of it; without
        such an article it takes several facts or documents."""
        values = [fact for fact in facts if is_value(fact)]
        if self.thorough:
            proved = [fact for fact in values if fact.score >= CERTAIN and fact.support is not Support.SILENT]
            certain = len(read) >= self.least and any(map(self._is_right, proved))
            sure = sum(fact.score >= SURE for fact in facts)
            return certain or len(values) >= self.fact_limit or sure >= FACTS_PER_VALUE * self.fact_limit
        if self.aspect and self.named:
            return bool(facts) and not self.named.isdisjoint(read)
        if self.aspect:
            return len(facts) >= self.fact_limit or (len(read) >= UNSURE and bool(facts))
        if len({fact.document_id for fact in values}) >= self.fact_limit:
            return True
        if self.least == 1 and any(self._is_right(fact) for fact in values):
            return True
        told = bool(values) or len(facts) >= FACTS_PER_VALUE * self.fact_limit
        return told and len(read) >= max(self.least, UNSURE)

    def _is_right(self, fact: Fact) -> bool:
        """Whether a value is known to be about what the need names: by the title of its document, or by its quote."""
        said = f"{fact.title} {fact.quote}"
        plain = plain_words(said) if self.telling else ""
        if fact.document_id in self.named or any(holds_words(plain, name) for name in self.telling):
            return True
        return bool(self.subject) and self.subject <= _names(said)


def within_limit(reading: NeedReading, most: int) -> NeedReading:
    """The reading with at most so many facts, those with a value first: one text may bring more. Facts that are not
    sure do not count; a list, and an aspect of a text, may be many facts of one document."""
    if reads_on(reading.need) or reading.need.aspect:
        return reading
    room, kept = FACTS_PER_VALUE * most, []
    for fact in sorted(reading.facts, key=lambda fact: not fact.value):
        if fact.score < SURE:
            kept.append(fact)
        elif room > 0:
            kept.append(fact)
            room -= FACTS_PER_VALUE if fact.value else 1
    facts = tuple(fact for fact in reading.facts if fact in kept)
    return replace(reading, record=replace(reading.record, facts=facts))
