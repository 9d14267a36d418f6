"""Composes the answer from the facts, as a sentence where the question's own words make one, or abstains and states
what is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.language.function_words import PREPOSITIONS, QUESTION_WORDS
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.text_values import dates
from iterative_rag.builtin.question.need_query import read_query, wants_extract
from iterative_rag.builtin.question.question_planner import as_it_stands
from iterative_rag.builtin.reading.answer_form import is_of_kind
from iterative_rag.builtin.reading.findings import INCOMPLETE, NOTHING
from iterative_rag.builtin.reasoning.node_result import NodeResult, NodeValue
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation
from iterative_rag.text.folding import folded
from iterative_rag.text.markup import plain
from iterative_rag.text.mentions import with_unit
from iterative_rag.text.need_wording import asked_phrase, values_named
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import AnswerForm, Draft, Inquiry, Support
from iterative_rag.verification.confidence import least_support

_NAME = lazy_pattern(
    r"\bwhat (?P<verb>is|was) (?P<whose>her|his|its|their) (?P<name>(?:\w+ )?names?)\?$", re.IGNORECASE
)
_PARTICIPLE = r"(?:born|built|\w{3,}ed)"
_WHEN = lazy_pattern(
    rf"^(?:When|[Ii]n (?:what|which) year) (?P<verb>was|were) (?P<whom>[^,]+?)"
    rf"(?P<how> (?:first|last|finally|originally|officially))? (?P<done>{_PARTICIPLE})\?$"
)
_DIED = lazy_pattern(r"^(?:When|[Ii]n (?:what|which) year) did (?P<whom>[^,]+?) die\?$")
_WHERE_BORN = lazy_pattern(
    r"^(?:Where|[Ii]n (?:what|which) (?:city|town|village|country|state|place)) "
    r"(?P<verb>was|were) (?P<whom>[^,]+?) born\?$"
)


# The full stop of a value that is a sentence; "U.S." and "Jr." keep theirs.
_STOP = lazy_pattern(r"(?<=[a-z]{3})\.$")


def sentence(question: str, value: str, marks: str) -> str:
    """The answer with the marks of its citations: "Her name is Jane Ballou [3][6].", or the value alone."""
    said = _worded(" ".join(question.split()), value)
    if said.split(" ", 1)[0].islower():  # "the Elm"; "iPhone" keeps its spelling
        said = said[:1].upper() + said[1:]
    return f"{_STOP.sub('', said)} {marks}".rstrip() + "."


def _worded(question: str, value: str) -> str:
    if value in {"Yes", "No"}:
        return value
    if match := _NAME.search(question):
        return f"{match['whose']} {match['name']} {match['verb']} {value}"
    if (match := _WHEN.match(question)) and (when := _dated(value)):
        return f"{match['whom']} {match['verb']}{match['how'] or ''} {match['done']} {when}"
    if (match := _DIED.match(question)) and (when := _dated(value)):
        return f"{match['whom']} died {when}"
    if (match := _WHERE_BORN.match(question)) and value[:1].isupper():
        return f"{match['whom']} {match['verb']} born in {value}"
    phrase, verb = asked_phrase(question)
    return f"{phrase} {verb} {value}" if phrase else value


def _dated(value: str) -> str:
    """ "on November 19, 1831", "in 1831"; "" where the value is not a date alone."""
    days = dates(value)
    if len(days) != 1 or days[0][1:] != (0, len(value)):
        return ""
    return f"{'on' if days[0][0].day else 'in'} {value}"


# Passages of an extract, and the least score of one besides the best, as a share of the best one's.
QUOTED, ALSO_QUOTED = 3, 0.75
# What has no more words is a value, and no passage.
BARE = 6
# Said of a list of which entries may be missing.
MAY_LACK = "The list may be incomplete."
_ASKS_FIRST = lazy_pattern(
    rf"(?:(?:{'|'.join(sorted(PREPOSITIONS))}) )?(?:{'|'.join(sorted(QUESTION_WORDS))})\b"
    r"|(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)


def compose(inquiry: Inquiry, asked: str, outcome: NodeResult, evaluation: Evaluation, *, last_attempt: bool) -> Draft:
    """Draft the answer to the question as it was read (`asked`), or an abstention. In the `last_attempt`, facts found
    for the question as a whole count too if the plan, of which this is the `outcome`, could not be carried out."""
    if last_attempt and not (outcome.values or outcome.unnamed):
        outcome = replace(outcome, values=evaluation.of(as_it_stands(asked)).values)
    outcome = replace(outcome, values=tuple(value for value in _of_asked_kind(asked, outcome.values) if value.facts))
    if not outcome.values:
        return _abstention(inquiry, outcome)
    extract = wants_extract(asked)
    trust = outcome.values[0].score if extract else evaluation.trusted(asked, outcome.values)
    if trust < evaluation.caution.given:
        return _abstention(inquiry, outcome)
    if extract:
        return _extract(inquiry, outcome.values)
    best = _as_written(inquiry, outcome.values[0])
    cited = tuple(dict.fromkeys(best.facts))
    unsaid = least_support([inquiry.facts[index] for index in cited]) is Support.SILENT
    if unsaid and trust < evaluation.caution.unsaid:
        return _abstention(inquiry, outcome)
    return Draft(
        answered=True,
        text=sentence(asked, best.text, _marks(inquiry, asked, best, cited)),
        short_answer=best.text,
        cited=cited,
        confidence=round(trust, 3),
        computations=best.computations,
        caveats=(MAY_LACK,) if any(INCOMPLETE in inquiry.facts[index].statement for index in cited) else (),
    )


def _of_asked_kind(asked: str, values: tuple[NodeValue, ...]) -> tuple[NodeValue, ...]:
    """The values that are of the kind which the whole question asks for, however they came about. A choice has no one
    kind, and that of a question whose asking word comes late is not known: "The state where ...
    has how many ...?"."""
    query = read_query(asked)
    if _ASKS_FIRST.match(asked) is None or query.kind is AnswerKind.CHOICE:
        return values
    return tuple(value for value in values if is_of_kind(query, value.text))


def _extract(inquiry: Inquiry, values: Sequence[NodeValue]) -> Draft:
    """The best passages, quoted, in place of an answer: of a bare value, the sentence that it was read from."""
    best = [value for value in values if value.score >= ALSO_QUOTED * values[0].score][:QUOTED]
    cited = tuple(dict.fromkeys(value.facts[-1] for value in best if value.facts))
    quotes = {
        value.facts[-1]: plain(value.text if len(value.text.split()) > BARE else inquiry.facts[value.facts[-1]].quote)
        for value in reversed(best)
        if value.facts
    }
    return Draft(
        answered=True,
        text=" ".join(f"“{quotes[index]}” [{n}]" for n, index in enumerate(cited, start=1)),
        short_answer=next(iter(quotes[index] for index in cited), plain(best[0].text)),
        cited=cited,
        confidence=round(best[0].score, 3),
        form=AnswerForm.EXTRACT,
    )


def _as_written(inquiry: Inquiry, best: NodeValue) -> NodeValue:
    """The value without markup, with the unit that the quote of a fact that states it writes with it: for the sentence,
    since the engine adds it to the short answer alone."""
    stating = (inquiry.facts[index] for index in best.facts)
    quotes = (fact.quote for fact in stating if fact.value == best.text)
    return replace(best, text=plain(with_unit(best.text, *quotes)))


def _marks(inquiry: Inquiry, asked: str, best: NodeValue, cited: tuple[int, ...]) -> str:
    """The markers of what the answer itself rests on: the facts on whose values no other cited one builds, and those
    that it was computed from. The chain of an answer shows them all."""
    own = tuple(dict.fromkeys(best.facts))
    facts = [inquiry.facts[index] for index in own]
    values, known = [fact.value for fact in facts], f"{inquiry.original} {asked}"  # "the US" is spelled out
    led_on = {folded(values[n]) for fact in facts for n in values_named(fact.need.question, values, known)}
    computed = {index for step in best.computations for index in step.facts}
    return "".join(
        f"[{cited.index(index) + 1}]"
        for index, value in zip(own, values, strict=True)
        if index in computed or folded(value) not in led_on
    )


def _abstention(inquiry: Inquiry, outcome: NodeResult) -> Draft:
    if outcome.denied:
        return _denial(inquiry, outcome)
    answered = {fact.need.key for fact in inquiry.facts}
    missing = outcome.missing or tuple(need.question for need in inquiry.tried if need.key not in answered)
    said = "; ".join(dict.fromkeys(missing)) or inquiry.question
    return Draft(answered=False, text="", missing=said)


def _denial(inquiry: Inquiry, outcome: NodeResult) -> Draft:
    """The corpus says that there is none of what the question takes for granted; the quote that says so is cited."""
    denying = [index for index, fact in enumerate(inquiry.facts) if fact.value == NOTHING]
    said = "; ".join(dict.fromkeys(outcome.missing))
    missing = f"The question assumes something untrue: {said}"
    return Draft(answered=False, text="", cited=tuple(denying[:1]), missing=missing, false_premise=True)
