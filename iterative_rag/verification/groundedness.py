"""Groundedness by rule: every claim of a draft against the quoted facts, without a call.

A claim is proved where one fact, or facts that are linked, hold all its names, numbers and dates, and its other words
too; it has failed where a name or a value stands nowhere; between the two it is open, and whoever reads may settle it.
The rule knows how seven languages write numbers, dates and function words, and no grammar.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from iterative_rag.text.other_names import asks_nation
from iterative_rag.text.value_members import compared
from iterative_rag.text.values import Mention, Moment, Quantity
from iterative_rag.types import Claim, Draft, Fact, Inquiry, Need
from iterative_rag.verification.claim_alignment import UNLINKED, fault
from iterative_rag.verification.claim_matching import (
    ClaimPart,
    ClaimText,
    ClaimWord,
    MatchedClaim,
    match_claim,
    split_claims,
)
from iterative_rag.verification.evidence import Evidence, read_evidence

# Facts that one claim may draw together, and the sets of that many that are looked at.
MOST_FACTS, MOST_TRIES = 4, 400


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


def claims(inquiry: Inquiry, draft: Draft) -> tuple[Claim, ...]:
    """The claims of the draft's text, in order; none for a draft that answers nothing."""
    return tuple(checked.claim for checked in check(inquiry, draft))


def check(inquiry: Inquiry, draft: Draft) -> tuple[Checked, ...]:
    """The claims of the draft's text with what the rule makes of each: split, read, matched, judged, in this order."""
    return check_said(inquiry, draft, split_claims(draft.text, draft.short_answer)) if draft.answered else ()


def check_said(inquiry: Inquiry, draft: Draft, said: Sequence[ClaimText]) -> tuple[Checked, ...]:
    """The same for the claims of a draft that was split already; their markers are those of the draft. Claims and facts
    are read with each name in the form that names are compared in."""
    nationality = asks_nation(inquiry.original)
    plain = [replace(claim, text=compared(claim.text, nationality=nationality)) for claim in said]
    known = tuple(_in_compared(fact, nationality=nationality) for fact in inquiry.facts)
    asked = compared(inquiry.original, nationality=nationality)
    evidence = read_evidence(replace(inquiry, original=asked, facts=known), draft)
    matched = [(own, match_claim(claim, evidence)) for own, claim in zip(said, plain, strict=True)]
    if len(matched) > 1:
        matched = [pair for pair in matched if not pair[1].is_bare]  # what follows a "Yes" says why
    claims = [claim for _, claim in matched]
    amounts = {amount for claim in claims for part in claim.parts if part.held_by for amount in _amounts(part.value)}
    judged = [_judged(claim, claims[:n], evidence, draft, amounts) for n, claim in enumerate(claims)]
    return tuple(
        replace(checked, claim=replace(checked.claim, text=own.text), said=own)
        for (own, _), checked in zip(matched, judged, strict=True)
    )


def _in_compared(fact: Fact, *, nationality: bool) -> Fact:
    texts = (fact.quote, fact.title, fact.statement, fact.value, fact.need.question)
    quote, title, statement, value, need = (compared(text, nationality=nationality) for text in texts)
    return replace(fact, quote=quote, title=title, statement=statement, value=value, need=Need(need))


def _judged(
    claim: MatchedClaim, before: Sequence[MatchedClaim], evidence: Evidence, draft: Draft, amounts: set[float]
) -> Checked:
    cited = {draft.cited[n - 1] for n in claim.said.cited if 0 < n <= len(draft.cited)}
    astray, unrelated = _astray(claim, cited, evidence), _is_unrelated(claim, cited, evidence)

    def result(standing: Standing, reason: str = "", facts: Sequence[int] = ()) -> Checked:
        made = Claim(claim.said.text, standing is Standing.PROVED, tuple(facts), reason)
        return Checked(made, standing, claim.said, astray, unrelated)

    if missing := [part for part in claim.parts if not (part.held_by or part.asked)]:
        named = ", ".join(repr(claim.said.text[part.start : part.end]) for part in missing)
        follows = all(_may_follow(part, evidence, amounts) for part in missing)
        return result(Standing.OPEN if follows else Standing.FAILED, f"stands in no fact: {named}")
    reason, fewest = UNLINKED, len(claim.words) + 1
    for chosen in _proof_sets(claim, evidence, draft):
        lacking = [word for word in claim.words if not _covered(word, chosen, evidence)]
        if lacking and not _only_asked(lacking, len(claim.words) - len(lacking), evidence):
            if len(lacking) < fewest:
                fewest, reason = len(lacking), f"not in the facts: {', '.join(word.low for word in lacking)}"
            continue
        if not (against := fault(claim, claim.words, before, chosen, evidence)):
            facts = (n for proof in chosen for n in evidence.proofs[proof].facts)
            return result(Standing.PROVED, facts=tuple(dict.fromkeys(facts)))
        reason, fewest = against, 0
    return result(Standing.OPEN, reason)


def _astray(claim: MatchedClaim, cited: set[int], evidence: Evidence) -> tuple[str, ...]:
    """The numbers and dates that stand in facts or computations, but in none that the claim cites."""
    return tuple(
        claim.said.text[part.start : part.end]
        for part in claim.parts
        if part.value
        and part.held_by
        and not part.asked
        and all(cited.isdisjoint(evidence.proofs[n].facts) for n in part.held_by)
    )


def _is_unrelated(claim: MatchedClaim, cited: set[int], evidence: Evidence) -> bool:
    """Whether nothing of a claim stands in the facts that it cites; where they are in another language, names alone
    could tell."""
    proofs = {n for n, proof in enumerate(evidence.proofs) if not cited.isdisjoint(proof.facts)}
    if not proofs or any(evidence.proofs[n].foreign for n in proofs):
        return False
    held_by = [*(part.held_by for part in claim.parts), *(word.held_by for word in claim.words)]
    return all(holders.isdisjoint(proofs) for holders in held_by)


def _may_follow(part: ClaimPart, evidence: Evidence, amounts: set[float]) -> bool:
    """Whether a part that no fact has may follow from them: a name put together from two, the sum or the difference of
    two values that the answer names."""
    if part.name:
        return not any(forms.isdisjoint(evidence.borne_out) for forms in part.name)
    wanted = _amounts(part.value)
    return any(abs(a - b) in wanted or a + b in wanted for a, b in itertools.combinations(amounts, 2))


def _amounts(value: Mention | None) -> set[float]:
    """The numbers that a value may stand for; of a date its year."""
    readings = value.readings if value else ()
    years = {float(reading.parts[0] or 0) for reading in readings if isinstance(reading, Moment)}
    return years or {reading.value for reading in readings if isinstance(reading, Quantity)}


def _proof_sets(claim: MatchedClaim, evidence: Evidence, draft: Draft) -> Iterator[tuple[int, ...]]:
    """Sets of proofs that hold all parts and of which none can be spared: those cited first, the small before the
    large. A computation proves only what names its result."""
    cited = {draft.cited[n - 1] for n in claim.said.cited if 0 < n <= len(draft.cited)}
    results = frozenset[int]().union(*(part.result_of for part in claim.parts))
    usable = [n for n, proof in enumerate(evidence.proofs) if not proof.computed or n in results]
    pool = sorted(usable, key=lambda n: cited.isdisjoint(evidence.proofs[n].facts))
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
    return word.comparing and (len(chosen) > 1 or evidence.compares)


def _only_asked(words: Sequence[ClaimWord], proved: int, evidence: Evidence) -> bool:
    """Whether these are the question's own words around what the facts say."""
    return len(words) <= proved and not any(word.forms.isdisjoint(evidence.question.lows) for word in words)
