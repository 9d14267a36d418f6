"""Whether a short answer is what the sentence beside it says: a sentence is checked against quotes, a value beside it
is not, and often it is all that is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.comparing import ROUNDED, stands_in
from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.languages import is_comparing, is_function_word, is_negation, language
from iterative_rag.text.markup import plain
from iterative_rag.text.other_names import asks_nation
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.unspaced import is_unspaced, stands_within
from iterative_rag.text.value_members import compared, with_implied
from iterative_rag.text.values import Mention, Quantity
from iterative_rag.types import AnswerForm, Draft, Fact, Inquiry
from iterative_rag.verification.answer_type import affirms, asks_yes_or_no, yes_or_no
from iterative_rag.verification.text_reading import TextReading, Vocabulary, listed, read_text

# The most that an answer is trusted whose short form says something else than its sentence.
CONTRADICTED_CONFIDENCE = 0.6
# Words that a sentence may have besides those of a question that it affirms or denies as a whole.
_BESIDE = 3
# Shorter words of a name are particles and abbreviations: "St", "Jr", "van".
_SHORT_PART = 3
_EDGES = " .,;:!?\"'“”„«»()"
_WORDS = lazy_pattern(r"\w+")
_NUMBER_GOES_ON = lazy_pattern(r"\d[.,]#|#[.,]\d")


def with_said_short(inquiry: Inquiry, draft: Draft) -> Draft:
    """The draft with a short answer that its text says: its own, else the text. A contradiction leaves less trust."""
    if not (draft.answered and draft.text and draft.short_answer) or draft.form is not AnswerForm.VALUE:
        return draft
    text = " ".join(MARKER.sub("", draft.text).split())
    facts = [inquiry.facts[index] for index in draft.cited if index < len(inquiry.facts)]
    if says(text, draft.short_answer, inquiry.original, facts):
        return draft
    short = (asks_yes_or_no(inquiry.original) and yes_or_no(text)) or text
    return replace(draft, short_answer=short, confidence=min(draft.confidence, CONTRADICTED_CONFIDENCE))


def says(text: str, short: str, question: str, facts: Sequence[Fact] = ()) -> bool:
    """Whether a sentence says a short answer to a question, in whatever words: its values, names and polarity. Words of
    a name that the sentence leaves out may stand in the question or in one of the cited `facts`. Other words than those
    of the sentence are let pass beside what it says, since they may mean the same."""
    nation = asks_nation(question)
    sentence, other = (compared(said, nationality=nation) for said in (text, short))
    return _says(text, short, question, facts) or _says(sentence, other, question, facts)


def _says(text: str, short: str, question: str, facts: Sequence[Fact]) -> bool:
    code = language(text) or language(question)
    said, given, asked = (read_text(plain(wording), code) for wording in (text, short, question))
    if word := yes_or_no(short):
        if not (asks_yes_or_no(question) or yes_or_no(text)):
            return False
        told = yes_or_no(text) or _polarity(said, asked)
        agrees = not told or affirms(told) == affirms(word)
        rest = short.strip(_EDGES)[len(word) :].strip(_EDGES + "–—-")
        return agrees and (not rest or says(f"{text} {question}", rest, question, facts))
    says_nothing = all(_is_light(low, said.code) for low in said.lows) and not said.values
    if says_nothing and folded(short) in {folded(fact.value) for fact in facts}:  # "It is so": the fact says it
        return True
    if is_unspaced(short):
        return stands_within(short, text)
    if given.negated and not said.negated:
        return False
    places = _places(given, said)
    if places:
        return not all(_denied(said, start) for start in places) or given.negated
    return not says_nothing and _is_held(given, said, asked, facts)


def _is_held(given: TextReading, said: TextReading, asked: TextReading, facts: Sequence[Fact]) -> bool:
    quoted = [read_text(fact.quote, said.code) for fact in facts]
    exact = [value for reading in quoted for value in reading.values]
    told = with_implied(said.values, said.text)
    if not all(_has_value(value, told, exact) for value in given.values):
        return False
    words = [word for word in given.words if not _is_light(word.low, given.code)]
    vocabulary = Vocabulary(said.lows)
    missing = [word for word in words if not vocabulary.has(word.low)]
    if missing and len(missing) == len(words) and not given.values:
        return False
    named = (folded_words(f"{fact.title} {fact.value}") for fact in facts)
    beside = Vocabulary(asked.lows.union(*(reading.lows for reading in quoted), *named))
    held = {word for name in given.names for word in name if not set(name) <= set(missing)}
    names = [word for word in missing if word.capital and (word not in held or word.end - word.start > _SHORT_PART)]
    return all(beside.has(word.low) for word in names)


def _has_value(value: Mention, said: Sequence[Mention], exact: Sequence[Mention]) -> bool:
    """Whether the sentence states a value; a cited quote may state it more exactly than the sentence does."""
    if any(stands_in(value, mention) or _is_rounded(value, mention) for mention in said):
        return True
    return any(stands_in(mention, value) for mention in said) and any(stands_in(value, mention) for mention in exact)


def _is_rounded(value: Mention, other: Mention) -> bool:
    """Whether a whole number is the other one rounded: "267 miles" for 267.2 miles, but no "4" for 3.6."""
    amounts, others = ([q for q in mention.readings if isinstance(q, Quantity)] for mention in (value, other))
    return any(
        whole.unit == exact.unit
        and whole.value == round(exact.value)
        and abs(whole.value - exact.value) <= ROUNDED * abs(exact.value)
        for whole in amounts
        for exact in others
    )


def _polarity(said: TextReading, asked: TextReading) -> str:
    """ "yes" or "no" where the sentence affirms or denies all that was asked, and says little else; else ""."""
    lows = [word.low for word in asked.words if not is_function_word(word.low, asked.code)]
    own = [word.low for word in said.words if not is_function_word(word.low, said.code)]
    if asked.compares or asked.negated:
        return ""
    if asked.lows & set(listed("claims", "conjunctions")) or (said.lows | asked.lows) & set(listed("claims", "limits")):
        return ""
    vocabulary = Vocabulary(said.lows)
    held = all(map(vocabulary.has, lows)) and all(
        any(stands_in(value, mention) for mention in said.values) for value in asked.values
    )
    if not (lows and held) or len(own) > len(lows) + _BESIDE:
        return ""
    return "no" if said.negated else "yes"


def _places(given: TextReading, said: TextReading) -> list[int]:
    """Where the very words of a short answer stand in the sentence."""
    words, wanted = [*_WORDS.finditer(said.text)], folded_words(given.text)
    lows = [folded(word[0]) for word in words]
    starts = range(len(lows) - len(wanted) + 1) if wanted else ()
    runs = ((words[n].start(), words[n + len(wanted) - 1].end()) for n in starts if lows[n : n + len(wanted)] == wanted)
    # The 3 of 3.5 is another number.
    around = ((start, f"{said.text[max(0, start - 2) : start]}#{said.text[end : end + 2]}") for start, end in runs)
    return [start for start, beside in around if not _NUMBER_GOES_ON.search(beside)]


def _denied(said: TextReading, start: int) -> bool:
    """Whether a sentence says "not" of what stands at a place: right before it, function words aside ("not by Tove"),
    or where it names another thing instead ("not drawn by Tove but by Oda")."""
    instead = any(word.low in listed("claims", "instead") for word in said.words if word.start > start)
    left = 2 if instead else 0
    for word in reversed([word for word in said.words if word.end <= start]):
        if is_negation(word.low, said.code):
            return not any(mark in said.text[word.end : start] for mark in ".,;:")
        left -= not is_function_word(word.low, said.code)
        if left < 0:
            return False
    return False


def _is_light(low: str, code: str) -> bool:
    return is_function_word(low, code) or is_comparing(low, code) or is_negation(low, code)
