"""Whether the parts of a claim belong together in the facts that hold them: the test that swapped names fail."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.text.comparing import stands_in
from iterative_rag.text.languages import is_negation
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.verification.claim_matching import ClaimPart, ClaimWord, MatchedClaim
from iterative_rag.verification.evidence import Evidence
from iterative_rag.verification.text_reading import TextReading, Word
from iterative_rag.verification.word_matching import words as listed

UNLINKED = "its parts stand in facts that are not linked"
NEGATED = "a negation that no fact has"
MISPLACED = "the quote says it of something else"
Place = tuple[int, int]
_IN_BRACKETS = lazy_pattern(r"\([^()]*\)")


def fault(
    claim: MatchedClaim,
    words: Sequence[ClaimWord],
    before: Sequence[MatchedClaim],
    chosen: Sequence[int],
    evidence: Evidence,
) -> str:
    """What speaks against the `chosen` proofs though all parts of a claim stand in them; "" if nothing does.

    `words` are those that these proofs must say of the parts, `before` the claims that the draft makes before this one.
    """
    topic = [part for earlier in before for part in earlier.parts if part.name]
    if not _linked(claim.parts, topic, frozenset(chosen)):
        return UNLINKED
    texts = [text for n in chosen for text in evidence.proofs[n].texts]
    if claim.negated and not any(is_negation(low, text.code) for text in texts for low in text.lows):
        return NEGATED
    spoken_of = [
        part
        for earlier in before
        if earlier.said.sentence == claim.said.sentence
        for part in earlier.parts
        if part.name
    ]
    # What a text says of a name that its document bears, and what was computed, cannot be of something else.
    parts = [part for part in claim.parts if len(part.name) > 1 or part.value]
    parts = [part for part in parts if (part.title_of | part.result_of).isdisjoint(chosen)]
    if not all(_in_place(part, [*claim.parts, *spoken_of], words, texts, evidence.central) for part in parts):
        return MISPLACED
    return ""


def _linked(parts: Sequence[ClaimPart], topic: Sequence[ClaimPart], chosen: frozenset[int]) -> bool:
    """Whether the names and values of a claim hang together.

    Neighbours that one proof holds are linked. Where a claim falls into several groups, each must be a statement of its
    own: two parts of one proof. A claim of one group without a name must be about what was spoken of before.
    """
    groups: list[list[ClaimPart]] = []
    for part in parts:
        if groups and chosen & part.held_by & groups[-1][-1].held_by:
            groups[-1].append(part)
        else:
            groups.append([part])
    if len(groups) <= 1:
        continues = not topic or any(chosen & part.held_by for part in topic)
        return continues or any(part.name for part in parts)
    return all(len(group) > 1 for group in groups)


def _in_place(
    part: ClaimPart,
    spoken_of: Sequence[ClaimPart],
    words: Sequence[ClaimWord],
    texts: Sequence[TextReading],
    central: frozenset[str],
) -> bool:
    """Whether in some text a name or value of the claim stands nearest to its words, and not a rival.

    "C designed B, helped by A" does not prove "A designed B": C stands nearer to "designed". Where no text holds both
    the part and a word, they cannot tell.
    """
    told = False
    for text in texts:
        own = _places(part, text)
        spots = [(other.start, other.end) for word in words for other in text.words if other.low in word.forms]
        if not own or not spots:
            continue
        told = True
        rivals = _rivals(part, spoken_of, text, central)
        if any(not _is_nearer(spot, own, rivals, text) for spot in spots):
            return True
    return not told


def _is_nearer(spot: Place, own: Sequence[Place], rivals: Sequence[Place], text: TextReading) -> bool:
    """Whether a rival stands nearer to a word than the claim's own part does."""
    best = min(_gap(spot, place, text) for place in own)
    return any(_gap(spot, rival, text) < best for rival in rivals)


def _gap(spot: Place, place: Place, text: TextReading) -> int:
    """Words between, brackets aside; a clause's end counts as many."""
    (_, end), (start, _) = sorted((spot, place))
    between = f" {_IN_BRACKETS.sub(' ', text.text[end:start])} "
    joints = sum(f" {word} " in between for word in listed("claims", "conjunctions"))
    return len(between.split()) + 6 * sum(between.count(mark) for mark in ";.") + 2 * between.count(",") + 3 * joints


def _places(part: ClaimPart, text: TextReading) -> list[Place]:
    """Where a part stands in a text; of a name the last word, with those before it that are there too."""
    if part.value:
        return [(value.start, value.end) for value in text.values if stands_in(part.value, value)]
    places = []
    for n, word in enumerate(text.words):
        if word.low not in part.name[-1]:
            continue
        first = n
        while first and any(text.words[first - 1].low in forms for forms in part.name[:-1]):
            first -= 1
        places.append((text.words[first].start, word.end))
    return places


def _rivals(part: ClaimPart, spoken_of: Sequence[ClaimPart], text: TextReading, central: frozenset[str]) -> list[Place]:
    """What the claim does not speak of: values, or names of several words that the facts are about or that did it."""
    mine = [place for other in spoken_of for place in _places(other, text)]
    if part.value:
        rivals = [(v.start, v.end) for v in text.values if v.is_time == part.value.is_time]
    else:
        names = [name for name in text.names if len(name) > 1]
        names = [name for name in names if name[-1].low in central or _as_agent(name, text)]
        rivals = [(name[0].start, name[-1].end) for name in names]
    return [rival for rival in rivals if not any(start < rival[1] and rival[0] < end for start, end in mine)]


def _as_agent(name: Sequence[Word], text: TextReading) -> bool:
    """Whether the text names who did something: "recorded by Q"."""
    before = [word for word in text.words if word.end <= name[0].start]
    return bool(before) and before[-1].low in listed("claims", "agents")
