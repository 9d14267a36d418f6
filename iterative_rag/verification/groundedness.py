"""Groundedness by rule: every claim of a draft against the quoted facts, without a call.

A claim is proved where one fact, or facts that are linked, hold all its names, numbers and dates, and its other words
too; it has failed where a name or a value stands nowhere; between the two it is open, and whoever reads may settle it.
The rule knows how seven languages write numbers, dates and function words, and no grammar.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.text.comparing import stands_in
from iterative_rag.text.languages import is_comparing, is_function_word, is_negation
from iterative_rag.text.names import same_name
from iterative_rag.text.values import Mention, Moment, Quantity
from iterative_rag.types import Claim, Draft, Inquiry
from iterative_rag.verification.claim_alignment import linked, placed
from iterative_rag.verification.claim_splitting import Piece, cut
from iterative_rag.verification.content_words import Word, Wording, alike, values, wording
from iterative_rag.verification.evidence import Evidence, Proof, evidence

# Facts that one claim may draw together, and the sets of that many that are looked at.
MOST_FACTS, MOST_TRIES = 4, 400
UNLINKED = "its parts stand in facts that are not linked"


class Standing(StrEnum):
    """What the rule makes of a claim."""

    PROVED = "proved"
    OPEN = "open"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with its standing; `claim.grounded` is true only where it is proved."""

    claim: Claim
    standing: Standing


@dataclass(frozen=True, slots=True)
class Anchor:
    """A name or a value of a claim: what must stand in a fact."""

    start: int
    end: int
    name: tuple[Word, ...] = ()
    value: Mention | None = None

    def stands_in(self, proof: Proof) -> bool:
        return proof.has_value(self.value) if self.value else proof.has_name(self.name)


def claims(inquiry: Inquiry, draft: Draft) -> tuple[Claim, ...]:
    """The claims of the draft's text, in order; none for a draft that answers nothing."""
    return tuple(checked.claim for checked in check(inquiry, draft))


def check(inquiry: Inquiry, draft: Draft) -> tuple[Checked, ...]:
    """The claims of the draft's text with what the rule makes of each."""
    if not draft.answered:
        return ()
    held = evidence(inquiry, draft)
    found: list[Checked] = []
    topic: list[tuple[int, Anchor]] = []
    pieces = cut(draft.text, draft.short_answer)
    for piece in pieces:
        text = wording(piece.text, held.code)
        if len(pieces) > 1 and all(is_function_word(word.low, text.code) for word in text.words) and not text.values:
            continue  # "Yes", "No": what follows says why
        anchors = _anchors(text, held)
        found.append(_checked(piece, text, anchors, topic, held, draft))
        topic += [(piece.sentence, anchor) for anchor in anchors if anchor.name]
    return tuple(found)


def _anchors(text: Wording, held: Evidence) -> list[Anchor]:
    """Names and values, left to right. A sentence's first word is a name where the facts have it as one."""
    anchors = [Anchor(value.start, value.end, value=value) for value in text.values if not _of_the_two(value)]
    anchors += [Anchor(name[0].start, name[-1].end, name=name) for name in text.names()]
    for word in text.words:
        if word.run < 0 and word.large and word.low in held.known and not is_function_word(word.low, text.code):
            anchors.append(Anchor(word.start, word.end, name=(word,)))
    return sorted(anchors, key=lambda anchor: anchor.start)


def _of_the_two(value: Mention) -> bool:
    """ "The elder of the two": a word that counts nothing which a fact would have to state."""
    reading = value.readings[0]
    two = isinstance(reading, Quantity) and reading.value == 2 and not (reading.unit or reading.counted)
    return value.worded and two


def _checked(
    piece: Piece,
    text: Wording,
    anchors: Sequence[Anchor],
    topic: Sequence[tuple[int, Anchor]],
    held: Evidence,
    draft: Draft,
) -> Checked:
    def result(standing: Standing, reason: str = "", facts: Sequence[int] = ()) -> Checked:
        return Checked(Claim(piece.text, standing is Standing.PROVED, tuple(facts), reason), standing)

    if missing := [anchor for anchor in anchors if not _known(anchor, held)]:
        named = ", ".join(repr(piece.text[anchor.start : anchor.end]) for anchor in missing)
        made = all(_made_up(anchor, held, draft) for anchor in missing)
        return result(Standing.OPEN if made else Standing.FAILED, f"stands in no fact: {named}")
    cited = [draft.cited[n - 1] for n in piece.cited if 0 < n <= len(draft.cited)]
    words = _meaning(text, anchors)
    reason, fewest = UNLINKED, len(words) + 1
    for proofs in _candidates(anchors, held, cited):
        wanting = [word for word in words if not _covered(word, proofs, held, text.code)]
        beside = _described(wanting, text, anchors, held)
        uncovered = [word for word in wanting if word not in beside]
        asked = [word for word in uncovered if any(alike(word.low, low) for low in held.question.lows)]
        if len(asked) == len(uncovered) <= len(words) - len(wanting):
            uncovered = []  # the question's own words around what the facts say
        if not uncovered:
            said = [word for word in words if word not in beside]
            if not (fault := _fault(piece, text, anchors, said, topic, proofs, held.central)):
                needed = (*proofs, *beside.values())
                return result(Standing.PROVED, facts=tuple(dict.fromkeys(n for proof in needed for n in proof.facts)))
            reason, fewest = fault, 0
        elif len(uncovered) < fewest:
            reason, fewest = f"not in the facts: {', '.join(word.low for word in uncovered)}", len(uncovered)
    return result(Standing.OPEN, reason)


def _known(anchor: Anchor, held: Evidence) -> bool:
    """Whether a name or value stands in any quote, title, computation or question."""
    if anchor.value:
        in_question = any(stands_in(anchor.value, value) for value in held.question.values)
        return in_question or any(anchor.stands_in(proof) for proof in held.proofs)
    return any(proof.has_name(anchor.name) for proof in held.proofs) or all(
        word.low in held.question.lows for word in anchor.name
    )


def _made_up(anchor: Anchor, held: Evidence, draft: Draft) -> bool:
    """Whether a part that no fact has may follow from them: a name put together from two, the difference of two values
    that the answer names."""
    if not anchor.value:
        return all(any(same_name(word.low, low) for low in held.known) for word in anchor.name)
    said = [value for value in values(draft.text, held.code) if any(proof.has_value(value) for proof in held.proofs)]
    amounts = {amount for value in said for amount in _amounts(value)}
    wanted = _amounts(anchor.value)
    return any(abs(one - other) in wanted for one, other in itertools.combinations(amounts, 2))


def _amounts(value: Mention) -> set[float]:
    """The numbers that a value may stand for; of a date its year."""
    years = {float(one.parts[0] or 0) for one in value.readings if isinstance(one, Moment)}
    return years or {one.value for one in value.readings if isinstance(one, Quantity)}


def _meaning(text: Wording, anchors: Sequence[Anchor]) -> list[Word]:
    inside = [(anchor.start, anchor.end) for anchor in anchors]
    return [word for word in text.meaning() if not any(start <= word.start < end for start, end in inside)]


def _covered(word: Word, proofs: Sequence[Proof], held: Evidence, code: str) -> bool:
    if any(proof.has_word(word.low) for proof in proofs) or any(proof.foreign for proof in proofs):
        return True
    comparing = len(proofs) > 1 or any(is_comparing(low, held.question.code) for low in held.question.lows)
    return comparing and is_comparing(word.low, code)


def _described(words: Sequence[Word], text: Wording, anchors: Sequence[Anchor], held: Evidence) -> dict[Word, Proof]:
    """The words that describe a name where it stands ("the chemist Oda Brenk", "Oda Brenk, a chemist, ..."), each with
    a proof that says so of the name."""
    found: dict[Word, Proof] = {}
    for word in words:
        for anchor in anchors:
            if not anchor.name or not _beside(word, anchor, text, anchors):
                continue
            proof = next((one for one in held.proofs if anchor.stands_in(one) and one.has_word(word.low)), None)
            if proof:
                found[word] = proof
    return found


def _beside(word: Word, anchor: Anchor, text: Wording, anchors: Sequence[Anchor]) -> bool:
    if word.end <= anchor.start:
        return not text.text[word.end : anchor.start].strip(" „“\"'«»")
    between = text.text[anchor.end : word.start]
    nearest = not any(anchor.end <= other.start < word.start for other in anchors)
    return nearest and between.startswith(", ") and between.count(",") == 1 and "," in text.text[word.end :]


def _candidates(anchors: Sequence[Anchor], held: Evidence, cited: Sequence[int]) -> list[tuple[Proof, ...]]:
    """Sets of proofs that hold all anchors and of which none can be spared: those cited first, the small before the
    large. A computation proves only what names its result."""
    first = held.proofs_of(cited)
    pool = [*first, *(proof for proof in held.proofs if proof not in first)]
    pool = [one for one in pool if not one.computed or any(a.value and one.results_in(a.value) for a in anchors)]
    holders = [{n for n, proof in enumerate(pool) if anchor.stands_in(proof)} for anchor in anchors]
    wanted = [holder for holder in holders if holder]
    if not wanted:
        return [(proof,) for proof in pool]
    useful = sorted({n for holder in wanted for n in holder})
    found = []
    for size in range(1, MOST_FACTS + 1):
        for chosen in itertools.islice(itertools.combinations(useful, size), MOST_TRIES):
            held_by = [holder & set(chosen) for holder in wanted]
            if all(held_by) and all({n} in held_by for n in chosen if size > 1):
                found.append(tuple(pool[n] for n in chosen))
    return found


def _fault(
    piece: Piece,
    text: Wording,
    anchors: Sequence[Anchor],
    words: Sequence[Word],
    topic: Sequence[tuple[int, Anchor]],
    proofs: Sequence[Proof],
    central: frozenset[str],
) -> str:
    """What speaks against these proofs though all parts of the claim stand in them; "" if nothing does."""
    if not linked(anchors, words, [anchor for _, anchor in topic], proofs):
        return UNLINKED
    if any(is_negation(word.low, text.code) for word in text.words) and not any(
        is_negation(low, part.code) for proof in proofs for part in proof.told for low in part.lows
    ):
        return "a negation that no fact has"
    same_sentence = [anchor for sentence, anchor in topic if sentence == piece.sentence]
    if not placed(anchors, words, same_sentence, proofs, central):
        return "the quote says it of something else"
    return ""
