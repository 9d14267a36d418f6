"""The computations behind an answer: carried out, shown to the model, and listed with the answer."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import found_in, right_equations, shortened, shown
from iterative_rag.llm.replies.forms import AnswerReply, RequestedComputation
from iterative_rag.llm.roles.shown_facts import fact_numbers
from iterative_rag.text.citation_markers import MARKER
from iterative_rag.text.dates import dates
from iterative_rag.text.languages import language
from iterative_rag.text.numerals import with_digits
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Computation, Fact

# Expressions of one reply that are carried out.
MOST_AT_ONCE = 12
_NUMBER = lazy_pattern(r"\d+(?:,\d{3})*(?:\.\d+)?")
_AND = lazy_pattern(r" and (?=\d)")
_CALL, _YEARS = lazy_pattern(r"\b[a-z]+\([^()]*\)"), lazy_pattern(r"\d+ years(?=, )")
_WITH_UNIT = lazy_pattern(r"(\d+(?:\.\d+)?)(?: ?[^\W\d]+| ?%)?")


@dataclass(slots=True)
class Calculations:
    """What was computed and refused for one answer, from the facts and the question of its inquiry."""

    facts: Sequence[Fact]
    question: str = ""
    done: list[Computation] = field(default_factory=list)
    _refused: dict[str, str] = field(default_factory=dict)

    def carry_out(self, requests: Sequence[RequestedComputation]) -> list[Computation]:
        """Compute the new requests; returns the results of all requests that could be computed."""
        results = []
        for request in requests[:MOST_AT_ONCE]:
            expression = request.expression
            known = next((step for step in self.done if step.expression == expression), None)
            if known is None and (known := self._computed(expression, request.facts)) is not None:
                self.done.append(known)
            if known is not None:
                results.append(known)
        return results

    def asks_for_more(self, requests: Sequence[RequestedComputation]) -> bool:
        """Whether a request was neither carried out nor refused before."""
        seen = {step.expression for step in self.done} | self._refused.keys()
        return any(request.expression not in seen for request in requests[:MOST_AT_ONCE])

    def lines(self) -> str:
        """The results so far, as shown to the model; "" if there are none."""
        numbers, lines = fact_numbers(self.facts), []
        for step in self.done:
            marks = dict.fromkeys(f"[{numbers[index]}]" for index in step.facts)
            lines.append(f"{shown(step.expression, step.result)} {''.join(marks)}".rstrip())
        lines += [f"{shortened(expression)}: refused, {reason}" for expression, reason in self._refused.items()]
        return "COMPUTED:\n" + "\n".join(lines) if lines else ""

    def written_by(self, reply: AnswerReply) -> list[Computation]:
        """The parts of expressions that the answer names, and the model's own correct equations that lead to it, over
        numbers from the facts, the question and earlier ones of these equations; at least one number is from a fact."""
        known = {step.result for step in self.done}
        steps: list[Computation] = []
        for left, result in right_equations(f"{reply.working}\n{reply.answer}"):
            earlier = [step for step in steps if _holds(left, step.result)]
            if result not in known and self._is_given(_NUMBER.findall(left), earlier):
                below = (index for step in earlier for index in step.facts)
                steps.append(Computation(left, result, tuple(dict.fromkeys((*below, *self._facts_with(left))))))
        given = f"{reply.short_answer} {reply.answer}"
        leading = [part for step in self.done for part in _parts(step) if _holds(given, part.result)]
        for step in reversed(steps):
            text = " ".join([given, *(later.expression for later in leading)])
            leading[:0] = [step] if _holds(text, step.result) else _rounded(step, reply.short_answer)
        return leading

    def _is_given(self, numbers: Sequence[str], earlier: Sequence[Computation]) -> bool:
        known = [
            bool(self._places(number)) or any(_holds(step.result, number) for step in earlier) for number in numbers
        ]
        asked = [_holds(self.question, number) for number in numbers]
        return any(known) and all(map(operator.or_, known, asked))

    def _computed(self, expression: str, numbers: Sequence[int]) -> Computation | None:
        try:
            result = compute(expression)
        except ComputeError as error:
            self._refused[expression] = str(error)
            return None
        named = tuple(dict.fromkeys(n - 1 for n in numbers if 1 <= n <= len(self.facts)))
        return Computation(expression, result, named or self._facts_with(expression))

    def _facts_with(self, expression: str) -> tuple[int, ...]:
        """The first fact with each number of an expression, for an expression that names no facts."""
        numbers = _NUMBER.findall(expression)
        # The day of a date stands in many facts; its year tells them apart.
        telling = [number for number in numbers if len(number) > 2] or numbers
        return tuple(dict.fromkeys(index for number in telling for index in self._places(number)[:1]))

    def _places(self, number: str) -> list[int]:
        return [n for n, fact in enumerate(self.facts) if _holds(_in_digits(f"{fact.value} {fact.quote}"), number)]


def proves(results: Sequence[Computation], reply: AnswerReply) -> bool:
    """Whether a reply need not be asked for again: its short answer is the last of the results, or it contains them
    all; perhaps rounded. A comparison that holds need not be told."""
    results = [step for step in results if step.result != "true"]
    told = (reply.short_answer, " ".join((reply.short_answer, *reply.also, reply.answer, reply.working)))
    short, given = (_in_digits(MARKER.sub("", text)) for text in told)
    return not results or _says(short, results[-1].result) or all(_says(given, step.result) for step in results)


def _rounded(step: Computation, text: str) -> list[Computation]:
    """The step with its result as a text rounds it: a working ends on 28.03, and the answer is "about 28 times"."""
    decimals = len(step.result.partition(".")[2])
    for number in _NUMBER.findall(MARKER.sub("", text)):
        places = len(number.partition(".")[2])
        expression = f"round({step.expression.replace(',', '')}, {places})"
        with suppress(ComputeError, ValueError):  # a result with a unit
            if places < decimals and float(number.replace(",", "")) == float(compute(expression)):
                return [replace(step, expression=expression, result=number)]
    return []


def _parts(step: Computation) -> list[Computation]:
    """The functions within an expression, with their results: age(...) - age(...) rests on two ages."""
    parts: list[Computation] = []
    for call in _CALL.findall(step.expression):
        with suppress(ComputeError):  # a text within the expression
            parts += [replace(step, expression=call, result=compute(call))] if call != step.expression else []
    return parts


def _says(text: str, result: str) -> bool:
    """Whether a text has a result, of a duration its years: "22 years" for 22 years, 3 months and 13 days."""
    years = _YEARS.match(result)
    return _holds(text.replace(" and ", " "), years[0] if years else result) or _rounded_in(text, result)


def _rounded_in(text: str, result: str) -> bool:
    """Whether a text has a number that is this result at fewer decimals, or that without its unit: "4.33" for 4.333333,
    "3,654" for "3654 days"."""
    if (number := _WITH_UNIT.fullmatch(result)) is None:
        return False
    value = float(number[1])
    numbers = (written.replace(",", "") for written in _NUMBER.findall(text))
    decimals = ((written, len(written.partition(".")[2])) for written in numbers)
    return any(round(value, places) == float(written) for written, places in decimals if places or value.is_integer())


def with_computations(text: str, computations: Sequence[Computation]) -> str:
    """The text with each computation in it; its facts are cited as `[n]`, their number in the inquiry (from 1)."""
    for computation in computations:
        marks = f"[{', '.join(str(index + 1) for index in computation.facts)}]" if computation.facts else ""
        match = found_in(text, computation.expression, computation.result)
        if match is None:
            text = f"{text} {shown(computation.expression, computation.result)} {marks}".strip()
        elif not re.match(r"\s*[\[【]", text[match.end() :]):
            text = f"{text[: match.end()]} {marks}".rstrip() + text[match.end() :]
    return text


def _in_digits(text: str) -> str:
    """A text, and behind it the same with its numerals as digits, and its dates as results write them: "sixty years"
    holds 60, and "August 9, 2014" 9 August 2014."""
    digits = with_digits(text, code := language(text)).text
    return "; ".join([text, digits, *(str(found.date) for found in dates(digits, code))])


def _holds(text: str, value: str) -> bool:
    """Whether a text has a value, with or without thousands separators: also "3 years and 2 months" for "3 years, 2
    months"."""
    plain, wanted = (_AND.sub(" ", said.casefold().replace(",", "")) for said in (text, value))
    return re.search(rf"(?<![\w.]){re.escape(wanted)}(?!\w|\.\d)", plain) is not None
