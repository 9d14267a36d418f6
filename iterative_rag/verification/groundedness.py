"""Groundedness by rule: every claim of a draft against the quoted facts, without a call.

A claim is proved where one fact, or facts that are linked, hold all its names, numbers and dates, and its other words
too; it has failed where a name or a value stands nowhere; between the two it is open, and whoever reads may settle it.
The rule knows how seven languages write numbers, dates and function words, and no grammar.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from iterative_rag.text.comparing import stands_in
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word
from iterative_rag.text.other_names import asks_nation
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.unspaced import is_unspaced, stands_within
from iterative_rag.text.value_members import compared, holds_name, members
from iterative_rag.text.values import Mention, Moment, Quantity
from iterative_rag.types import Claim, Draft, Inquiry, Need
from iterative_rag.verification.claim_matching import (
    ClaimPart,
    ClaimText,
    ClaimWord,
    MatchedClaim,
    match_claim,
    split_claims,
)
from iterative_rag.verification.evidence import Evidence, read_evidence
from iterative_rag.verification.text_reading import TextReading, Word, listed, pattern, read_text

# Facts that one claim may draw together, and the sets of that many that are looked at.
MOST_FACTS, MOST_TRIES = 4, 400
# Words of a text that may stand between those of a name which a claim puts together from it: "Ann and Bo, her children
# with Karl Orm".
LONG = 30


class Standing(StrEnum):
    """What the rule makes of a claim."""

    PROVED = "proved"
    OPEN = "open"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with its standing; `claim.grounded` is true only where it is proved. `said` is where it stands and what
    it cites. `astray` are its numbers and dates that stand in facts, but in none that it cites; `unrelated`: it shares
    no name, value or word with what it cites."""

    claim: Claim
    standing: Standing
    said: ClaimText
    astray: tuple[str, ...] = ()
    unrelated: bool = False


def check(inquiry: Inquiry, draft: Draft) -> tuple[Checked, ...]:
    """The claims of the draft's text with what the rule makes of each: split, read, matched, judged, in this order;
    none for a draft that answers nothing."""
    return check_said(inquiry, draft, split_claims(draft.text, draft.short_answer)) if draft.answered else ()


def check_said(inquiry: Inquiry, draft: Draft, said: Sequence[ClaimText]) -> tuple[Checked, ...]:
    """The same for the claims of a draft that was split already; their markers are those of the draft. Claims and facts
    are read with each name in the form that names are compared in."""
    form = partial(compared, nationality=asks_nation(inquiry.original))
    facts = []
    for fact in inquiry.facts:
        quote, title, statement, value = map(form, (fact.quote, fact.title, fact.statement, fact.value))
        need = Need(form(fact.need.question))
        facts.append(replace(fact, quote=quote, title=title, statement=statement, value=value, need=need))
    evidence = read_evidence(replace(inquiry, original=form(inquiry.original), facts=tuple(facts)), draft)
    matched = [match_claim(claim, form(claim.text), evidence) for claim in said]
    if len(matched) > 1:
        matched = [claim for claim in matched if not claim.is_bare]  # what follows a "Yes" says why
    amounts = {amount for claim in matched for part in claim.parts if part.held_by for amount in _amounts(part.value)}
    told = Counter(claim.said.sentence for claim in matched for part in claim.parts if part.value and part.held_by)
    in_short = len(members(draft.short_answer))
    checked = [
        _judged(claim, matched[:n], evidence, draft, amounts, {in_short, told[claim.said.sentence]} - {1})
        for n, claim in enumerate(matched)
    ]
    short = draft.short_answer  # one that no sentence says is replaced later
    if short and _is_nobody(short, evidence):
        for n, claim in enumerate(matched):
            if folded(short) in folded(claim.said.text):
                invented = Claim(claim.said.text, False, (), f"stands in no fact: {short!r}")
                checked[n] = replace(checked[n], claim=invented, standing=Standing.FAILED)
    return tuple(checked)


def _is_nobody(short: str, evidence: Evidence) -> bool:
    """Whether who is named stands in no fact and not in the question, in whatever letters: without capitals, nothing
    else in a text tells names from words. Facts in another language cannot tell."""
    if not re.search(pattern("questions", "person"), folded(evidence.question.text)):
        return False
    if any(proof.foreign for proof in evidence.proofs):
        return False
    if is_unspaced(short):
        texts = (text for proof in evidence.proofs for text in (*proof.texts, *proof.titles))
        return not any(stands_within(short, text.text) for text in (evidence.question, *texts))
    said = read_text(short, evidence.code)
    words = [word.low for word in said.words if not is_function_word(word.low, said.code)]
    return bool(words) and not said.values and not any(map(evidence.vocabulary.has, words))


def _judged(
    claim: MatchedClaim,
    before: Sequence[MatchedClaim],
    evidence: Evidence,
    draft: Draft,
    amounts: set[float],
    counts: set[int],
) -> Checked:
    facts = {draft.cited[n - 1] for n in claim.said.cited if 0 < n <= len(draft.cited)}
    cited = {n for n, proof in enumerate(evidence.proofs) if not facts.isdisjoint(proof.facts)}
    astray, unrelated = _astray(claim, cited), _is_unrelated(claim, cited, evidence)

    def result(standing: Standing, reason: str = "", facts: Sequence[int] = ()) -> Checked:
        made = Claim(claim.said.text, standing is Standing.PROVED, tuple(facts), reason)
        return Checked(made, standing, claim.said, astray, unrelated)

    if missing := [part for part in claim.parts if not (part.held_by or part.asked)]:
        named = ", ".join(repr(claim.reading.text[part.start : part.end]) for part in missing)
        follows = all(_may_follow(part, evidence, amounts, counts) for part in missing)
        return result(Standing.OPEN if follows else Standing.FAILED, f"stands in no fact: {named}")
    reason, fewest = UNLINKED, len(claim.words) + 1
    for chosen in _proof_sets(claim, cited, evidence):
        lacking = [word for word in claim.words if not _covered(word, chosen, evidence)]
        # The question's own words around what the facts say need no proof.
        asked = not any(word.forms.isdisjoint(evidence.question.lows) for word in lacking)
        if lacking and not (asked and 2 * len(lacking) <= len(claim.words)):
            if len(lacking) < fewest:
                fewest, reason = len(lacking), f"not in the facts: {', '.join(word.low for word in lacking)}"
            continue
        if not claim.reading.negated and _is_denied(claim, chosen, evidence):
            return result(Standing.FAILED, "the quote denies it")
        if not (against := _fault(claim, before, chosen, evidence)):
            proved = dict.fromkeys(n for proof in chosen for n in evidence.proofs[proof].facts)
            return result(Standing.PROVED, facts=tuple(proved))
        reason, fewest = against, 0
    return result(Standing.OPEN, reason)


def _astray(claim: MatchedClaim, cited: set[int]) -> tuple[str, ...]:
    """The numbers and dates that proofs hold, but none that the claim cites."""
    return tuple(
        claim.reading.text[part.start : part.end]
        for part in claim.parts
        if part.value and part.held_by and not part.asked and part.held_by.isdisjoint(cited)
    )


def _is_unrelated(claim: MatchedClaim, cited: set[int], evidence: Evidence) -> bool:
    """Whether nothing of a claim stands in the proofs that it cites; where they are in another language, names alone
    could tell."""
    if not cited or any(evidence.proofs[n].foreign for n in cited):
        return False
    held_by = [*(part.held_by for part in claim.parts), *(word.held_by for word in claim.words)]
    return all(map(cited.isdisjoint, held_by))


def _may_follow(part: ClaimPart, evidence: Evidence, amounts: set[float], counts: set[int]) -> bool:
    """Whether a part that no fact has may follow from them: a name put together from two, the sum or the difference of
    two values that the answer names, how many things it lists."""
    if part.name:
        if any(forms.isdisjoint(evidence.borne_out) for forms in part.name):
            return False
        # "Oskar Brandt, whose daughter was Ida" names no Ida Oskar; what cells of a row name may be put together.
        texts = [quote for proof in evidence.proofs for quote in proof.quotes if "|" not in quote.text]
        whole = [text for text in texts if not any(forms.isdisjoint(text.name_words) for forms in part.name)]
        return not whole or any(holds_name([word.low for word in text.words], part.name, LONG) for text in whole)
    wanted = _amounts(part.value)
    if wanted & counts:
        return True
    return any(abs(a - b) in wanted or a + b in wanted for a, b in itertools.combinations(amounts, 2))


def _amounts(value: Mention | None) -> set[float]:
    """The numbers that a value may stand for; of a date its year."""
    readings = value.readings if value else ()
    years = {float(reading.parts[0] or 0) for reading in readings if isinstance(reading, Moment)}
    return years or {reading.value for reading in readings if isinstance(reading, Quantity)}


def _proof_sets(claim: MatchedClaim, cited: set[int], evidence: Evidence) -> Iterator[tuple[int, ...]]:
    """Sets of proofs that hold all parts and of which none can be spared: those cited first, the small before the
    large. A computation proves only what names its result."""
    results = frozenset[int]().union(*(part.result_of for part in claim.parts))
    usable = [n for n, proof in enumerate(evidence.proofs) if not proof.computed or n in results]
    pool = sorted(usable, key=lambda n: n not in cited)
    wanted = [holders for part in claim.parts if (holders := part.held_by.intersection(pool))]
    if not wanted:
        yield from ((n,) for n in pool)
    useful = [n for n in pool if any(n in holders for holders in wanted)]
    for size in range(1, MOST_FACTS + 1):
        for chosen in itertools.islice(itertools.combinations(useful, size), MOST_TRIES):
            held = [holders.intersection(chosen) for holders in wanted]
            if all(held) and all({n} in held for n in chosen if size > 1):
                yield chosen


def _covered(word: ClaimWord, chosen: Sequence[int], evidence: Evidence) -> bool:
    """Whether these proofs have a word, or need not: one of another language, what a comparison concludes."""
    if not word.held_by.isdisjoint(chosen) or any(evidence.proofs[n].foreign for n in chosen):
        return True
    return word.comparing and (len(chosen) > 1 or evidence.question.compares)


UNLINKED = "its parts stand in facts that are not linked"
Place = tuple[int, int]
_IN_BRACKETS = lazy_pattern(r"\([^()]*\)")


def _fault(claim: MatchedClaim, before: Sequence[MatchedClaim], chosen: Sequence[int], evidence: Evidence) -> str:
    """What speaks against the `chosen` proofs though all parts of a claim stand in them; "" if nothing does. `before`
    are the claims that the draft makes before this one."""
    topic = [part for earlier in before for part in earlier.parts if part.name]
    if not _linked(claim.parts, topic, frozenset(chosen)):
        return UNLINKED
    texts = [text for n in chosen for text in evidence.proofs[n].texts]
    if claim.reading.negated and not any(text.negated for text in texts):
        return "a negation that no fact has"
    same = [earlier for earlier in before if earlier.said.sentence == claim.said.sentence]
    spoken_of = [*claim.parts, *(part for earlier in same for part in earlier.parts if part.name)]
    # What a text says of a name that its document bears, and what was computed, cannot be of something else.
    parts = [part for part in claim.parts if len(part.name) > 1 or part.value]
    parts = [part for part in parts if (part.title_of | part.result_of).isdisjoint(chosen)]
    if not all(_in_place(part, spoken_of, claim.words, texts, evidence.central) for part in parts):
        return "the quote says it of something else"
    return ""


def _is_denied(claim: MatchedClaim, chosen: Sequence[int], evidence: Evidence) -> bool:
    """Whether the quotes have a word of the claim, or a name that was not asked about, only behind a "not": "she did
    not marry Bo Orm". A "not" that an "until" or an "only" may take back is none."""
    quotes = [quote for n in chosen for quote in evidence.proofs[n].quotes]
    names = [part.name[0] for part in claim.parts if part.name and not part.asked]
    for forms in (*(word.forms for word in claim.words), *names):
        saying = [quote for quote in quotes if not quote.lows.isdisjoint(forms)]
        if saying and all(quote.denies(forms) for quote in saying):
            return all(quote.lows.isdisjoint(listed("claims", "limits")) for quote in saying)
    return False


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
        for spot in spots:
            nearest = min(_gap(spot, place, text) for place in own)
            if all(nearest <= _gap(spot, rival, text) for rival in rivals):
                return True
    return not told


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
