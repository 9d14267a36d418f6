"""Whether the parts of a claim belong together in the facts that hold them: the test that swapped names fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from iterative_rag.text.comparing import stands_in
from iterative_rag.text.languages import is_function_word
from iterative_rag.text.names import same_name
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Mention
from iterative_rag.verification.content_words import Word, Wording, alike
from iterative_rag.verification.evidence import Proof

Place = tuple[int, int]
_IN_BRACKETS = lazy_pattern(r"\([^()]*\)")
CONJUNCTIONS = ("and", "und", "et", "y", "e", "en", "&")
AGENTS = ("by", "von", "par", "por", "da", "door")


class ClaimPart(Protocol):
    """A name or a value of a claim, with its place."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def name(self) -> tuple[Word, ...]: ...

    @property
    def value(self) -> Mention | None: ...

    def stands_in(self, proof: Proof) -> bool: ...


def linked(
    anchors: Sequence[ClaimPart], words: Sequence[Word], topic: Sequence[ClaimPart], proofs: Sequence[Proof]
) -> bool:
    """Whether the names and values of a claim hang together.

    Neighbours that one fact holds are linked. Where a claim falls into several groups, each must be a statement of its
    own (two parts of one fact), or be tied to the others by a name that both facts share and by a word of its own. A
    claim of one group without a name must be about what was spoken of before.
    """
    groups: list[list[ClaimPart]] = []
    for anchor in anchors:
        if groups and any(anchor.stands_in(proof) and groups[-1][-1].stands_in(proof) for proof in proofs):
            groups[-1].append(anchor)
        else:
            groups.append([anchor])
    if len(groups) <= 1:
        return any(anchor.name for anchor in anchors) or _continues(topic, proofs)
    return all(len(group) > 1 or _tied(group[0], groups, words, topic, proofs) for group in groups)


def _continues(topic: Sequence[ClaimPart], proofs: Sequence[Proof]) -> bool:
    return not topic or any(anchor.stands_in(proof) for anchor in topic for proof in proofs)


def _tied(
    part: ClaimPart,
    groups: Sequence[Sequence[ClaimPart]],
    words: Sequence[Word],
    topic: Sequence[ClaimPart],
    proofs: Sequence[Proof],
) -> bool:
    own = [proof for proof in proofs if part.stands_in(proof)]
    others = [proof for proof in proofs if proof not in own]
    said = any(
        any(proof.has_word(word.low) for proof in own) and not any(proof.has_word(word.low) for proof in others)
        for word in words
    )
    spoken_of = any(anchor.name and anchor.stands_in(proof) for anchor in topic for proof in own)
    shared = any(proof.names() & other.names() for proof in own for other in others)
    return said and (shared or spoken_of)


def placed(
    anchors: Sequence[ClaimPart],
    words: Sequence[Word],
    topic: Sequence[ClaimPart],
    proofs: Sequence[Proof],
    central: frozenset[str],
) -> bool:
    """Whether in the quotes the claim's own names and values stand nearest to its words, and not their rivals.

    "C designed B, helped by A" does not prove "A designed B": C stands nearer to "designed". Rivals are names that the
    claim does not speak of and the facts are about (`central`). Where a text does not hold both a word and the part,
    it cannot tell.
    """
    spoken_of = (*anchors, *topic)
    computed = [proof for proof in proofs if proof.computed]
    parts = [
        anchor
        for anchor in anchors
        if len(anchor.name) > 1 or (anchor.value and not any(proof.results_in(anchor.value) for proof in computed))
    ]
    return all(_in_place(part, spoken_of, words, proofs, central) for part in parts)


def _in_place(
    part: ClaimPart,
    spoken_of: Sequence[ClaimPart],
    words: Sequence[Word],
    proofs: Sequence[Proof],
    central: frozenset[str],
) -> bool:
    if part.name and any(proof.is_about(part.name) for proof in proofs):
        return True
    told = False
    for text in (text for proof in proofs for text in proof.told):
        own = _places(part, text)
        spots = [(other.start, other.end) for word in words for other in text.words if alike(word.low, other.low)]
        if not own or not spots:
            continue
        told = True
        rivals = _rivals(part, spoken_of, text, central)
        if any(not _nearer(spot, own, rivals, text) for spot in spots):
            return True
    return not told


def _nearer(spot: Place, own: Sequence[Place], rivals: Sequence[Place], text: Wording) -> bool:
    """Whether a rival stands nearer to a word than the claim's own part does."""
    best = min(_gap(spot, place, text) for place in own)
    return any(_gap(spot, rival, text) < best and not _joined(rival, own, text) for rival in rivals)


def _gap(spot: Place, place: Place, text: Wording) -> int:
    """Words between, brackets aside; a clause's end counts as many."""
    (_, end), (start, _) = sorted((spot, place))
    between = f" {_IN_BRACKETS.sub(' ', text.text[end:start])} "
    joints = sum(f" {word} " in between for word in CONJUNCTIONS)
    return len(between.split()) + 6 * sum(between.count(mark) for mark in ";.") + 2 * between.count(",") + 3 * joints


def _joined(rival: Place, own: Sequence[Place], text: Wording) -> bool:
    """Whether two names are named together: "P and Q", "P, Q and R", "P and her cousin Q"."""
    for place in own:
        (_, end), (start, _) = sorted((rival, place))
        between = text.text[end:start]
        conjunction = any(f" {word} " in f" {between} " for word in CONJUNCTIONS)
        meaning = [
            word for word in text.words if end <= word.start < start and not is_function_word(word.low, text.code)
        ]
        by = any(f" {word} " in f" {between} " for word in AGENTS)
        if (conjunction or between.strip() == ",") and len(meaning) <= 1 and not by and len(between.split()) <= 3:
            return True
    return False


def _places(part: ClaimPart, text: Wording) -> list[Place]:
    """Where a part stands in a text; of a name the last word, with those before it that are there too."""
    if part.value:
        return [(value.start, value.end) for value in text.values if stands_in(part.value, value)]
    places = []
    for n, word in enumerate(text.words):
        if not same_name(part.name[-1].low, word.low):
            continue
        first = n
        while first and any(same_name(name.low, text.words[first - 1].low) for name in part.name[:-1]):
            first -= 1
        places.append((text.words[first].start, word.end))
    return places


def _rivals(part: ClaimPart, spoken_of: Sequence[ClaimPart], text: Wording, central: frozenset[str]) -> list[Place]:
    """Central names of several words, or values, that the claim does not speak of."""
    mine = [place for anchor in spoken_of for place in _places(anchor, text)]
    if part.value:
        rivals = [(v.start, v.end) for v in text.values if v.is_time == part.value.is_time]
    else:
        names = [name for name in text.names() if len(name) > 1]
        names = [name for name in names if name[-1].low in central or _as_agent(name, text)]
        rivals = [(name[0].start, name[-1].end) for name in names]
    return [rival for rival in rivals if not any(start < rival[1] and rival[0] < end for start, end in mine)]


def _as_agent(name: Sequence[Word], text: Wording) -> bool:
    """Whether the text names who did something: "recorded by Q"."""
    before = [word for word in text.words if word.end <= name[0].start]
    return bool(before) and before[-1].low in AGENTS
