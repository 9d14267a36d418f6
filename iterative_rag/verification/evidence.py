"""What a draft may rest on, read once: a proof for each fact of the inquiry, and one for each computation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from iterative_rag.text.languages import language
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.value_members import with_implied
from iterative_rag.text.values import Mention, Quantity
from iterative_rag.types import Computation, Draft, Fact, Inquiry
from iterative_rag.verification.text_reading import (
    TextReading,
    Vocabulary,
    is_plain_name,
    read_text,
    read_title,
    speaks_of_another,
)

# "(3 March 1874 – 1950)" after a name says birth and death; the words are put in so that they can be compared.
_DASH = r"\s*[–—-]\s*"
_LIVED = lazy_pattern(
    rf"\((?P<born>[^()]{{0,60}}?\d{{3,4}}[^()–—]{{0,40}}?){_DASH}(?P<died>[^()]{{0,60}}?\d{{3,4}}[^()]{{0,40}})\)"
)
_BORN = lazy_pattern(r"\(\s*(?:\*|née? le|b\.)\s*")
_DIED = lazy_pattern(r"[†✝]")
# What an expression counts: "days(28 July 1941, 17 July 1959)"; and two years between which years lie.
_COUNTING = lazy_pattern(r"\s*(?P<name>days|weeks|months|years|age)\s*\(", re.IGNORECASE)
_DIFFERENCE = lazy_pattern(r"\s[-−–]\s|\d[-−–]\d")
# How many values are averaged or compared may be told as well.
_LISTED = lazy_pattern(r"[\[{]([^\[\]{}]+)[\]}]")


@dataclass(frozen=True, slots=True)
class Proof:
    """What one fact (or one computation from several) says. `facts` are positions in the inquiry.

    Values must stand in the quote or in `results` of a computation: `values`. Names and words may also stand in the
    statement and the need: `texts`, the `quotes` first. A title says what its document is about and nothing else, so it
    is in none of them. `foreign` says that the quote is in another language than the answer.
    """

    facts: tuple[int, ...]
    texts: tuple[TextReading, ...]
    quotes: tuple[TextReading, ...]
    titles: tuple[TextReading, ...]
    values: tuple[Mention, ...]
    results: tuple[Mention, ...]
    foreign: bool
    computed: bool = False

    @property
    def borne_out(self) -> Iterator[frozenset[str]]:
        """The words of names that quotes hold, and of subjects that they speak of."""
        for quote, title in zip(self.quotes, self.titles, strict=True):
            yield quote.name_words
            if is_plain_name(title) and not speaks_of_another(quote, title, frozenset()):
                yield title.name_words


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that a draft may rest on; `code` is its language. `vocabulary` are the folded words of all texts, `named`
    those of names, `borne_out` those of the names of quotes, of their subjects and of the question, `central` those of
    names in titles, values and questions: what the facts are about."""

    proofs: tuple[Proof, ...]
    question: TextReading
    code: str
    vocabulary: Vocabulary
    named: frozenset[str]
    borne_out: frozenset[str]
    central: frozenset[str]


def read_evidence(inquiry: Inquiry, draft: Draft) -> Evidence:
    """The facts of the inquiry and the computations of the draft, in this order."""
    code = language(draft.text) or language(inquiry.original)
    question = read_text(inquiry.original, language(inquiry.original))
    told: dict[tuple[str, str], list[int]] = {}
    for index, fact in enumerate(inquiry.facts):
        told.setdefault((fact.document_id, fact.statement), []).append(index)
    facts = [_of_fact(told[fact.document_id, fact.statement], fact, inquiry.facts, code) for fact in inquiry.facts]
    proofs = (*facts, *(_of_computation(computation, facts, code) for computation in draft.computations))
    about = [read_text(text, code) for fact in inquiry.facts for text in (fact.title, fact.value, fact.need.question)]
    texts = [text for proof in proofs for text in (*proof.texts, *proof.titles)]
    return Evidence(
        proofs,
        question,
        code,
        vocabulary=Vocabulary(question.lows.union(*(text.lows for text in texts))),
        named=question.name_words.union(*(text.name_words for text in texts)),
        borne_out=question.name_words.union(*(words for proof in proofs for words in proof.borne_out)),
        central=question.name_words.union(*(text.name_words for text in about)),
    )


def _of_fact(places: Sequence[int], fact: Fact, facts: Sequence[Fact], code: str) -> Proof:
    """What a fact says by all quotes of its statement, which has these places among the `facts`."""
    own = language(fact.quote) or language(fact.statement) or code
    quotes = {facts[index].start: facts[index].quote for index in places}
    quote = read_text(with_life("\n".join(quotes[start] for start in sorted(quotes))), own)
    title = read_title(fact.title, own)
    need = read_text(fact.need.question, language(fact.need.question) or code)
    texts = (quote, read_text(fact.statement, own), need, read_text(fact.value, own))
    dated = [value for value in title.values if value.is_time]  # the year of a day in the quote, and no more than that
    return Proof(
        facts=tuple(places),
        texts=texts,
        quotes=(quote,),
        titles=(title,),
        values=tuple(value for value in with_implied((*dated, *quote.values), quote.text) if value not in dated),
        results=(),
        foreign=own != code,
    )


def _of_computation(computation: Computation, facts: Sequence[Proof], code: str) -> Proof:
    below = [facts[index] for index in computation.facts if 0 <= index < len(facts)]
    expression = read_text(computation.expression, code)
    result = _told(read_text(computation.result, code), expression)
    sizes = read_text(" ".join(str(len(items.split(","))) for items in _LISTED.findall(expression.text)), code).values
    return Proof(
        facts=tuple(computation.facts),
        texts=(result, expression, *(text for proof in below for text in proof.texts)),
        quotes=tuple(quote for proof in below for quote in proof.quotes),
        titles=tuple(title for proof in below for title in proof.titles),
        values=(*result.values, *expression.values, *sizes, *(value for proof in below for value in proof.values)),
        results=result.values,
        foreign=any(proof.foreign for proof in below),
        computed=True,
    )


def with_life(quote: str) -> str:
    """A quote with words for the birth and death that its brackets say by their form."""
    quote = _LIVED.sub(lambda match: f"(born {match['born']}, died {match['died']})", quote)
    return _DIED.sub(" died ", _BORN.sub("(born ", quote))


def _told(result: TextReading, expression: TextReading) -> TextReading:
    """The result with the unit that is left out (days(a, b) comes to days, the difference of years to years), and as
    the whole number that it may be told as: 17,382 for 17,382.25."""
    if counting := _COUNTING.match(expression.text):
        unit = {"age": "year"}.get(counting["name"].lower(), counting["name"].lower().removesuffix("s"))
    else:
        apart = _DIFFERENCE.search(expression.text) and sum(value.is_time for value in expression.values) >= 2
        unit = "year" if apart else ""

    def meant(value: Mention) -> Mention:
        numbers = [replace(said, unit=said.unit or unit) for said in value.readings if isinstance(said, Quantity)]
        whole = [replace(said, value=float(round(said.value))) for said in numbers if said.value % 1]
        return replace(value, readings=(*numbers, *whole)) if numbers else value

    return replace(result, values=tuple(map(meant, result.values)))
