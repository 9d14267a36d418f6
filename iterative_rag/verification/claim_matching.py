"""Cuts an answer into claims (sentences, and the clauses of a sentence that carry a marker of their own), and looks
each of their names, values and words up in the evidence, once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.text.comparing import stands_in
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_comparing, is_function_word
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentences
from iterative_rag.text.value_members import holds_name, listed_counts
from iterative_rag.text.values import Mention, Quantity
from iterative_rag.verification.evidence import Evidence, Proof
from iterative_rag.verification.text_reading import (
    TextReading,
    Word,
    names_subject,
    names_whole,
    read_text,
    speaks_of_another,
)

_MARKERS = lazy_pattern(r"(?:\s*\[\d{1,4}\])+")
# "37: Oda Brenk was born ...": the bare answer before what it rests on.
_BARE = lazy_pattern(r"^(?P<bare>.{1,80}?)\s*:\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A claim as it stands in the answer, without markers; `cited` are its marker numbers, `sentence` counts from 0."""

    text: str
    cited: tuple[int, ...]
    sentence: int


def split_claims(text: str, short: str = "") -> tuple[ClaimText, ...]:
    """The claims of an answer in its order; its `short` answer is one of its own where it comes first ("37: ...")."""
    return tuple(claim for n, sentence in enumerate(sentences(text)) for claim in _clauses(sentence, n, short))


def _clauses(sentence: str, n: int, short: str) -> list[ClaimText]:
    """The stretches of a sentence that end in a marker, and what follows the last one where it says something."""
    claims: list[ClaimText] = []
    start = 0
    bare = _BARE.match(sentence)
    if bare and short and folded(bare["bare"]).endswith(folded(short)):
        claims.append(ClaimText(_tidy(bare["bare"]), (), n))
        start = bare.end()
    for match in (*_MARKERS.finditer(sentence, start), None):
        said = _tidy(sentence[start : match.start() if match else None])
        cited = tuple(int(number) for number in re.findall(r"\d+", match[0])) if match else ()
        if re.search(r"\w", said):
            claims.append(ClaimText(said, cited, n))
        elif claims:
            claims[-1] = ClaimText(claims[-1].text, (*claims[-1].cited, *cited), n)
        start = match.end() if match else start
    return claims


def _tidy(text: str) -> str:
    return text.strip().lstrip(",;:—–. ").strip()


Name = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class ClaimPart:
    """A name or a value of a claim: what must stand in a fact.

    A name is given by the spellings that each of its words has in the evidence. `held_by` are the proofs that hold the
    part: in the quote, or a name that was not asked about elsewhere, unless the quote speaks of somebody else.
    `result_of` are the computations that come to it, `title_of` the proofs whose document is named so; `asked` says
    that the question has it.
    """

    start: int
    end: int
    name: Name
    value: Mention | None
    held_by: frozenset[int]
    result_of: frozenset[int] = frozenset()
    title_of: frozenset[int] = frozenset()
    asked: bool = False


@dataclass(frozen=True, slots=True)
class ClaimWord:
    """A word of meaning besides the parts, with its forms in the evidence and the proofs that have one of them."""

    low: str
    forms: frozenset[str]
    held_by: frozenset[int]
    comparing: bool


@dataclass(frozen=True, slots=True)
class MatchedClaim:
    """A claim against the evidence; its parts and words from left to right."""

    said: ClaimText
    reading: TextReading
    parts: tuple[ClaimPart, ...]
    words: tuple[ClaimWord, ...]

    @property
    def is_bare(self) -> bool:
        """Whether it is a "Yes" or "No": no more than function words."""
        return not (self.parts or self.words or self.reading.values)


def match_claim(said: ClaimText, text: str, evidence: Evidence) -> MatchedClaim:
    """`text` is that of the claim in the form in which the evidence was read."""
    reading = read_text(text, evidence.code)
    parts = [_value_part(value, reading, evidence) for value in reading.values if not _of_the_two(value)]
    parts += [_name_part(name, reading, evidence) for name in reading.names]
    words = []
    for word in reading.others:
        if is_function_word(word.low, reading.code):
            continue
        if word.capital and word.low in evidence.named:  # the first of a sentence, which the facts have as a name
            parts.append(_name_part((word,), reading, evidence))
        else:
            words.append(_claim_word(word, reading, evidence))
    parts.sort(key=lambda part: part.start)
    return MatchedClaim(said, reading, tuple(parts), tuple(words))


def _of_the_two(value: Mention) -> bool:
    """ "The elder of the two": a word that counts nothing which a fact would have to state."""
    reading = value.readings[0]
    two = isinstance(reading, Quantity) and reading.value == 2 and not (reading.unit or reading.counted)
    return value.worded and two


def _value_part(value: Mention, said: TextReading, evidence: Evidence) -> ClaimPart:
    asked = _is_among(value, evidence.question.values)
    held_by, result_of = set(), set()
    for n, proof in enumerate(evidence.proofs):
        titles = [title for title in proof.titles if _is_among(value, title.values)]
        named = any(asked or _is_named(title, proof, said) for title in titles)
        if named or _is_among(value, proof.values) or _is_counted(value, said, proof):
            held_by.add(n)
        if _is_among(value, proof.results):
            result_of.add(n)
    return ClaimPart(value.start, value.end, (), value, frozenset(held_by), frozenset(result_of), asked=asked)


def _is_counted(value: Mention, said: TextReading, proof: Proof) -> bool:
    """Whether a fact lists as many names as a claim counts, or counts by a rank: "season 2" is the "second season"."""
    number = value.readings[0]
    if not isinstance(number, Quantity) or number.unit or number.ordinal or value.named:
        return False
    if number.counted and any(number.value in listed_counts(text.text) for text in proof.texts):
        return True
    before = max((word for word in said.words if word.end <= value.start), key=lambda word: word.end, default=None)
    ranks = (mention.readings[0] for quote in proof.quotes for mention in mentions(quote.text, quote.code))
    return before is not None and any(
        isinstance(rank, Quantity) and rank.ordinal and rank.value == number.value and before.low in rank.counted[:1]
        for rank in ranks
    )


def _is_among(value: Mention, given: Sequence[Mention]) -> bool:
    return any(stands_in(value, other) for other in given)


def _is_named(title: TextReading, proof: Proof, said: TextReading) -> bool:
    """Whether a claim names a document by all of its title, and the quote speaks of what the document is about."""
    return names_whole(title, said) and not any(speaks_of_another(quote, title, said.lows) for quote in proof.quotes)


def _name_part(words: Sequence[Word], said: TextReading, evidence: Evidence) -> ClaimPart:
    name = tuple(evidence.vocabulary.spellings_of(word.low) or frozenset([word.low]) for word in words)
    asked = all(word.low in evidence.question.lows for word in words)
    held_by = [n for n, proof in enumerate(evidence.proofs) if _has_name(proof, name, said, asked=asked)]
    titled = frozenset(n for n in held_by if any(_holds(title, name) for title in evidence.proofs[n].titles))
    start, end = words[0].start, words[-1].end
    return ClaimPart(start, end, name, None, frozenset(held_by), title_of=titled, asked=asked)


def _claim_word(word: Word, said: TextReading, evidence: Evidence) -> ClaimWord:
    forms = evidence.vocabulary.forms_of(word.low)
    held_by = frozenset(
        n
        for n, proof in enumerate(evidence.proofs)
        if not all(forms.isdisjoint(text.lows) for text in proof.texts)
        or any(_is_named(title, proof, said) for title in proof.titles if not forms.isdisjoint(title.lows))
    )
    return ClaimWord(word.low, forms, held_by, is_comparing(word.low, said.code))


def _has_name(proof: Proof, name: Name, said: TextReading, *, asked: bool) -> bool:
    """Whether a name stands in the quote, or one that was asked about in the statement or what the fact was looked up
    for; else in one of these or the title, as that of the subject of which the quote speaks."""
    if any(_holds(quote, name) for quote in (*proof.quotes, *(proof.texts if asked else ()))):
        return True
    titles = [title for title in proof.titles if _holds(title, name)]
    if any(speaks_of_another(quote, title, said.lows) for quote, title in zip(proof.quotes, proof.titles, strict=True)):
        return False
    named = any(names_subject(title, name) or names_whole(title, said) for title in titles)
    return named or any(_holds(text, name) for text in proof.texts)


def _holds(text: TextReading, name: Name) -> bool:
    """Whether the words of a name stand in order."""
    return holds_name([word.low for word in text.words], name)
