"""What the facts of an inquiry hold, ready to be compared with a claim: one proof a fact, and one a computation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from iterative_rag.text.comparing import stands_in
from iterative_rag.text.languages import language
from iterative_rag.text.names import same_name
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Mention, Quantity
from iterative_rag.types import Computation, Draft, Fact, Inquiry
from iterative_rag.verification.content_words import Word, Wording, alike, values, wording

# Words that may come between those of a name: "Oda Maria Brenk", "Oda von der Brenk".
MOST_BETWEEN = 2
# "(3 March 1874 – 1950)" after a name says birth and death; the words are put in so that they can be compared.
_DASH = r"\s*[–—-]\s*"
_LIVED = lazy_pattern(
    rf"\((?P<born>[^()]{{0,60}}?\d{{3,4}}[^()–—]{{0,40}}?){_DASH}(?P<died>[^()]{{0,60}}?\d{{3,4}}[^()]{{0,40}})\)"
)
_BORN = lazy_pattern(r"\(\s*(?:\*|née? le|b\.)\s*")
# What an expression counts: "days(28 July 1941, 17 July 1959)"; and two years between which years lie.
_COUNTING = lazy_pattern(r"\s*(?P<name>days|weeks|months|years|age)\s*\(", re.IGNORECASE)
_DIFFERENCE = lazy_pattern(r"\s[-−–]\s|\d[-−–]\d")
_DIED = lazy_pattern(r"[†✝]")


@dataclass(frozen=True, slots=True)
class Proof:
    """What one fact (or one computation from several) says. `facts` are positions in the inquiry.

    `quoted` are the texts in which names and values must stand (quote and title); `told` those in which words may:
    statement and need, too. `foreign` says that the quote is in another language than the answer.
    """

    facts: tuple[int, ...]
    quoted: tuple[Wording, ...]
    told: tuple[Wording, ...]
    titles: tuple[Wording, ...]
    foreign: bool = False
    computed: bool = False

    def results_in(self, value: Mention) -> bool:
        """Whether a computation comes to this value: `quoted` begins with its result."""
        return any(stands_in(value, result) for result in self.quoted[0].values)

    def has_value(self, value: Mention) -> bool:
        return any(stands_in(value, given) for text in self.quoted for given in text.values)

    def has_name(self, name: Sequence[Word]) -> bool:
        """Whether a name stands in the quote, the title, or what the fact was looked up for; a second first name or a
        particle may come between its words."""
        return any(_holds_name(text, name) for text in self.told)

    def is_about(self, name: Sequence[Word]) -> bool:
        """Whether a name is the title of a fact's document."""
        return any(_holds_name(title, name) for title in self.titles)

    def has_word(self, low: str) -> bool:
        return any(alike(low, other) for text in self.told for other in text.lows)

    def names(self) -> frozenset[str]:
        return frozenset(word.low for text in self.quoted for name in text.names() for word in name)


def _holds_name(text: Wording, name: Sequence[Word]) -> bool:
    lows = [word.low for word in text.words]
    for place, low in enumerate(lows):
        if not same_name(name[0].low, low):
            continue
        at = place
        for word in name[1:]:
            near = range(at + 1, min(at + 2 + MOST_BETWEEN, len(lows)))
            at = next((n for n in near if same_name(word.low, lows[n])), -1)
            if at < 0:
                break
        if at >= 0:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a draft may rest on. `known` are the words of names that the quotes, titles and questions hold,
    `central` those of titles, values and questions: what the facts are about."""

    proofs: tuple[Proof, ...]
    question: Wording
    code: str
    known: frozenset[str]
    central: frozenset[str]

    def proofs_of(self, facts: Iterable[int]) -> list[Proof]:
        wanted = set(facts)
        return [proof for proof in self.proofs if wanted & set(proof.facts)]


def evidence(inquiry: Inquiry, draft: Draft) -> Evidence:
    code = language(draft.text) or language(inquiry.original)
    proofs = [_proof(place, fact, code) for place, fact in enumerate(inquiry.facts)]
    for computation in draft.computations:
        below = [proofs[place] for place in computation.facts if 0 <= place < len(inquiry.facts)]
        result = _result(computation, code), wording(computation.expression, code)
        proofs.append(
            Proof(
                tuple(computation.facts),
                (*result, *(text for proof in below for text in proof.quoted)),
                (*result, *(text for proof in below for text in proof.told)),
                tuple(title for proof in below for title in proof.titles),
                foreign=any(proof.foreign for proof in below),
                computed=True,
            )
        )
    question = wording(inquiry.original, language(inquiry.original))
    about = [wording(text, code) for fact in inquiry.facts for text in (fact.title, fact.value, fact.need.question)]
    central = frozenset(low for text in (*about, question) for low in _large(text))
    named = frozenset(name for proof in proofs for text in proof.told for name in _large(text))
    return Evidence(tuple(proofs), question, code, named | frozenset(_large(question)), central)


def _result(computation: Computation, code: str) -> Wording:
    """What was computed, with the unit that is left out: days(a, b) comes to days, the difference of years to years."""
    result = wording(computation.result, code)
    if len(result.values) != 1 or not (unit := _unit_left_out(computation.expression, code)):
        return result
    value = result.values[0]
    readings = tuple(
        replace(reading, unit=unit) for reading in value.readings if isinstance(reading, Quantity) and not reading.unit
    )
    return replace(result, values=(replace(value, readings=readings or value.readings),))


def _unit_left_out(expression: str, code: str) -> str:
    if function := _COUNTING.match(expression):
        return {"age": "year"}.get(function["name"].lower(), function["name"].lower().removesuffix("s"))
    operands = values(expression, code)
    return "year" if _DIFFERENCE.search(expression) and sum(one.is_time for one in operands) >= 2 else ""


def _proof(place: int, fact: Fact, code: str) -> Proof:
    own = language(fact.quote) or language(fact.statement) or code
    quote, title = wording(_lives(fact.quote), own), wording(fact.title, own)
    need = wording(fact.need.question, language(fact.need.question) or code)
    told = (quote, title, wording(fact.statement, own), need, wording(fact.value, own))
    return Proof((place,), (quote, title), told, (title,), foreign=own != code)


def _lives(quote: str) -> str:
    quote = _LIVED.sub(lambda match: f"(born {match['born']}, died {match['died']})", quote)
    return _DIED.sub(" died ", _BORN.sub("(born ", quote))


def _large(text: Wording) -> set[str]:
    """The words of names: also those that begin a text alone, as in a title."""
    return {word.low for word in text.words if word.run >= 0 or (word.large and word.first)}
