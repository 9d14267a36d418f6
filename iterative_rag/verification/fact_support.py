"""Whether the quote of a fact bears out its value: the one check that every fact goes through, whoever extracted it.

Rules say what they have understood: a kind, an opposite or a name that the quote gives otherwise, and names, numbers or
a relation that it leaves out. The rest is asked of a reader, as a second pair of eyes: does this quote alone, with the
title of its document, answer this need with this value?
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest

from iterative_rag.protocols import QuoteReader
from iterative_rag.text.comparing import same_name, stands_in
from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.languages import is_function_word, language, language_of
from iterative_rag.text.markdown_rows import is_row, row_cells, row_header
from iterative_rag.text.markup import without_struck
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.text_blocks import first_sentence
from iterative_rag.text.units import unit_of
from iterative_rag.types import Fact, Support
from iterative_rag.types.loop import DOUBTFUL_BELOW
from iterative_rag.verification.answer_type import is_of_kind
from iterative_rag.verification.evidence import with_life
from iterative_rag.verification.text_reading import TextReading, Vocabulary, pattern, read_text, senses

# From which chance on the reader agrees, and is sure, and below which a quote does not say it; chosen on values of
# questions and articles set aside (builtin/MODEL_CARD.md). A row that leaves out the names or the relation has to
# convince the reader; of a sentence that does, it has to be sure.
AGREES, SURE, UNREAD = 0.5, 0.92, 0.02
# Where the quote alone does not tell, what stands around it may: so many characters on each side, and the least chance.
AROUND, TOLD_AROUND = 300, 0.5
# What is left of the trust in a value that its quote does not bear out: nothing is built on it.
DOUBTED = DOUBTFUL_BELOW - 0.05
# Values of more words are texts.
LONGEST = 12
# "None" denies what the need takes for granted: no answer that a reader could look for.
_DECISIONS, _DENIED = frozenset({"yes", "no"}), "none"
# The opposites that choose one of several.
_RANKS = frozenset({"rank", "size", "height", "length", "age"})
_TURNED = str.maketrans("+-", "-+")
_KIND = lazy_pattern(r"\b(?:which|what) (\w+)")
_PHRASE = lazy_pattern(r"\b(?P<head>\w{4,}) (?P<link>of|in|for) (?:the )?(?P<name>[A-ZÀ-Þ]\w+)")


@dataclass(frozen=True, slots=True)
class FactSupport:
    """Implements protocols.FactCheck. Without a `reader`, and for texts that are not English, the rules judge alone.

    With `overruled`, an LLM that reads better than the reader gave the value: the reader's "no" leaves it unproved, and
    only a rule can refuse it.
    """

    reader: QuoteReader | None = None
    overruled: bool = False

    def __call__(self, fact: Fact, text: str) -> Fact:
        if fact.value in {"", _DENIED} or fact.is_doubtful or len(fact.value.split()) > LONGEST:
            return fact
        support = self._support(fact, text)
        score = min(fact.score, DOUBTED) if support is Support.DISAGREES else fact.score
        return replace(fact, support=support, score=score)

    def _support(self, fact: Fact, text: str) -> Support | None:
        need, value, shown = fact.need.question, fact.value, _shown(fact, text)
        ruled = by_rules(need, value, fact.title, shown, row=is_row(fact.quote))
        english = language(need) in {"", "en"} and language(shown) in {"", "en"}
        if ruled is Support.DISAGREES or self.reader is None or not english:
            return ruled if ruled is Support.DISAGREES else None
        held = set(folded_words(f"{fact.title} {shown}"))
        if folded(value) not in _DECISIONS and not held.issuperset(folded_words(value) or ("",)):
            return None  # counted or computed: no reader finds it
        if is_row(fact.quote) and _proves(shown, need, fact.title, ruled):
            return Support.AGREES
        refused = Support.SILENT if self.overruled else Support.DISAGREES
        told = _introduced(fact, shown, text)
        chance = self.reader.chance(need, value, fact.title, told)
        if is_row(fact.quote) and chance < (UNREAD if ruled is Support.AGREES else AGREES):
            # The row of an infobox that is labelled with the kind asked for: "Country" for "of which country".
            labelled = folded(shown.partition(": ")[0]) in _KIND.findall(folded(need))
            return Support.SILENT if ruled is Support.AGREES and labelled else refused
        if chance < UNREAD:
            around = text[max(0, fact.start - AROUND) : fact.end + AROUND]
            near = self.reader.chance(need, value, fact.title, around) >= TOLD_AROUND
            return Support.SILENT if near else refused
        if chance >= SURE and (told != shown or not is_row(fact.quote)):
            return Support.AGREES
        return ruled if chance >= AGREES else Support.SILENT


def by_rules(need: str, value: str, title: str, shown: str, *, row: bool = False) -> Support:
    """What the rules make of a value and its quote as it is `shown`, with the headers of a row."""
    code = language(need)
    asked, quoted, named = read_text(need, code), read_text(with_life(shown), language(shown)), read_text(title, code)
    if not is_of_kind(need, value) or _lacks_kind(need, f"{value} {shown} {title}"):
        return Support.DISAGREES
    tables = ("opposites", "opposite_labels") if row else ("opposites",)
    opposed = folded(value) not in folded(title) and any(_says_opposite(asked, quoted, table) for table in tables)
    if folded(value) != "no" and (opposed or (not row and _denies(asked, quoted))):
        return Support.DISAGREES
    told = quoted.lows | named.lows
    values = (*quoted.values, *named.values)
    if _says_of_another(need, shown, told):
        return Support.DISAGREES
    held = all(any(stands_in(mention, given) for given in values) for mention in asked.values)
    return Support.AGREES if held and _holds_names(asked, told) and _holds_relation(asked, told) else Support.SILENT


def _lacks_kind(need: str, told: str) -> bool:
    """Whether a place of a kind that texts tell is asked for ("on which island"), and nothing tells it of the value."""
    within = re.match(pattern("questions", "within"), folded(need))
    return within is not None and not any(word.startswith(within["kind"]) for word in folded(told).split())


def _says_of_another(need: str, shown: str, told: frozenset[str]) -> bool:
    """Whether the quote has a phrase of the need with another name: "Prize in Physics" for "Prize in Chemistry"."""
    phrases = {(match["head"], match["link"]) for match in _PHRASE.finditer(shown)}
    return any(
        folded(match["name"]) not in told and (match["head"], match["link"]) in phrases
        for match in _PHRASE.finditer(need)
    )


def _says_opposite(asked: TextReading, quoted: TextReading, table: str) -> bool:
    """Whether the quote says the opposite of a word of the need, and not the word: "closed" for "opened"."""
    wanted = senses((word.low for word in asked.others), table)
    other = senses((word.low for word in quoted.others), table)
    own = senses(quoted.lows, table)
    return any(side.translate(_TURNED) in other - wanted and side not in own for side in wanted)


def _denies(asked: TextReading, quoted: TextReading) -> bool:
    """Whether the quote says a word of the need only with a "not" before it: "never received it" for "won"."""
    if asked.negated:
        return False
    vocabulary = Vocabulary(quoted.lows)
    return any(quoted.denies(said) for said in map(vocabulary.forms_of, _relation(asked)))


def _holds_names(asked: TextReading, told: frozenset[str]) -> bool:
    """Whether half of the names of the need, or more, stand in the quote or its title with a word."""
    held = [any(same_name(word.low, other) for word in name for other in told) for name in asked.names]
    return 2 * sum(held) >= len(held)


def _holds_relation(asked: TextReading, told: frozenset[str]) -> bool:
    """Whether the quote or its title has a form of a word that the need says of its names, if it says any."""
    said, forms = _relation(asked), Vocabulary(told)
    return not said or any(forms.forms_of(word) for word in said)


def _proves(row: str, need: str, title: str, ruled: Support) -> bool:
    """Whether the headers of a row prove what a reader of the one row cannot see: it was chosen among others, as the
    longest, the third or the next, or it is of the subject's own infobox and labelled with all that the need says."""
    code = language(need)
    asked = read_text(need, code)
    ordinal = any(getattr(mention.readings[0], "ordinal", False) for mention in mentions(need, code))
    beside = re.search(rf"\b{pattern('questions', 'beside')}\b", folded(need)) is not None
    ranked = ordinal or beside or any(_is_rank(word.low) for word in asked.others)
    if " | " in row:
        return ranked and _holds_relation(asked, read_text(row, "").lows)
    label, colon, _ = row.partition(": ")
    said = [word for word in _relation(asked) if not unit_of(word)]  # "the height in feet" of a row in metres
    forms = Vocabulary(read_text(label, "").lows)
    named = [word.low for name in asked.names for word in name]
    if ranked or ruled is not Support.AGREES or not (said and colon):
        return False
    return all(map(forms.forms_of, said)) and read_text(title, "").lows.issuperset(named)


def _relation(asked: TextReading) -> list[str]:
    """The words of meaning that a need says of its names, but for those that choose one of several."""
    asking = language_of(asked.code).question_words
    words = (word.low for word in asked.others if word.low not in asking and not _is_rank(word.low))
    return [word for word in words if not is_function_word(word, asked.code)]


def _is_rank(word: str) -> bool:
    return any(side[1:] in _RANKS for side in senses([word], "opposites"))


def _shown(fact: Fact, text: str) -> str:
    """The quote, a row with the headers of its table: "Opera: Tosca | Year: 1900"."""
    quote = without_struck(fact.quote)
    if not is_row(quote) or "\n" in quote:
        return quote
    cells = [cell.text for cell in row_cells(quote)]
    names = row_header(text, fact.start)
    if len(cells) == 2 and not (names and names[-1]):
        return ": ".join(cells)
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in zip_longest(names, cells, fillvalue=""))


def _introduced(fact: Fact, shown: str, text: str) -> str:
    """What a reader is shown: where the value is the subject of the article, the row of a table ("Opera: Tosca") behind
    the sentence that says who or what that is."""
    own = " | " in shown and is_row(fact.quote) and folded(fact.value) == folded(fact.title.partition(" (")[0])
    return f"{first_sentence(text)} {shown}" if own else shown
