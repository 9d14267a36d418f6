"""Analysis by an LLM: which facts are missing next?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.llm.prompts import as_field, fence, lines
from iterative_rag.llm.replies.forms import AnalysisReply
from iterative_rag.llm.roles.corpus_languages import AS_ASKED, CorpusLanguages
from iterative_rag.llm.roles.role_call import RoleCall, fact_lines, fact_numbers
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Analysis, AnswerForm, Inquiry, Known, Need, Needs, Stuck

MOST_NEEDS = 4
_SEE = lazy_pattern(r"\s*\(see (?:[\"“„«]([^\"”“»]+)[\"”“»]|([^()]+))\)", re.IGNORECASE)
NOTHING_TRIED = "(nothing yet)"


@dataclass(frozen=True, slots=True)
class LLMAnalyst:
    """`fact_chars`: how many characters of facts a prompt may hold."""

    role_call: RoleCall[AnalysisReply]
    fact_chars: int
    languages: CorpusLanguages = AS_ASKED

    def analyse(self, inquiry: Inquiry) -> Analysis:
        reply = self.role_call.ask(
            lambda reply: complaint(reply, inquiry),
            original=inquiry.original,
            question=inquiry.question,
            facts=fact_lines(inquiry.facts, self.fact_chars),
            tried=tried_needs(inquiry),
            languages=self.languages.for_needs(inquiry),
        )
        return analysis(reply, inquiry)


def analysis(reply: AnalysisReply, inquiry: Inquiry) -> Analysis:
    """What a readable reply says about `inquiry`."""
    if reply.status == "stuck":
        return Stuck(reply.reason or "The model sees no further fact that would help.")
    needs, form = _needs(reply), AnswerForm(reply.form) if reply.form else None
    if reply.status == "needs" and needs:
        return Needs(needs, reply.last, form)
    # "known" without a fact, or "needs" without a need, twice: look the question itself up before giving up.
    itself = Need(inquiry.question)
    if (reply.status == "needs" or not inquiry.facts) and itself not in inquiry.tried:
        return Needs((itself,), form=form)
    return Known(form)


def complaint(reply: AnalysisReply, inquiry: Inquiry) -> str:
    """What is wrong with a readable analysis, in words for the model."""
    if reply.status == "known" and not inquiry.facts:
        return 'the status is "known", but there are no facts yet; name the first ones to look up'
    if reply.status != "needs":
        return ""
    needs = _needs(reply)
    if not needs:
        return 'the status is "needs", but "needs" names no question'
    if all(inquiry.looks(need) for need in needs):
        return (
            "every need was tried already; use the facts found, ask for something else or in other words, "
            'or choose "known" or "stuck"'
        )
    return ""


def _needs(reply: AnalysisReply) -> tuple[Need, ...]:
    unique = {need.key: need for need in map(named_need, reversed(reply.needs))}
    return tuple(need for key, need in reversed(unique.items()) if key)[:MOST_NEEDS]


def named_need(text: str) -> Need:
    """The need that a model wrote; the article that it expects to state it, (see "Velm Tower"), is no part of it."""
    question, see = " ".join(text.split()), ""
    if found := _SEE.search(question):
        question, see = f"{question[: found.start()]}{question[found.end() :]}".strip(), (found[1] or found[2]).strip()
    return Need(question, see)


def tried_needs(inquiry: Inquiry) -> str:
    """Each need once, with the numbers of the facts found for it, marked where none of them has the value or where the
    article that it named was not found. Facts that were noted for another part of the question are about no need that
    was tried. Then the lists that turned out to have no rows; their names are text of documents."""
    found: dict[Need, list[int]] = {need: [] for need in inquiry.tried}
    valued: set[Need] = set()
    for n, fact in zip(fact_numbers(inquiry.facts), inquiry.facts, strict=True):
        if fact.need in found:
            found[fact.need].append(n)
        if fact.value:
            valued.add(fact.need)
    tried = []
    for need, ns in found.items():
        marks = "".join(f"[{n}]" for n in dict.fromkeys(ns)) or "nothing found"
        partly = " (partly: the value itself is not stated)" if ns and need not in valued else ""
        named = dict.fromkeys(one.see for one in inquiry.tried if one == need and one.see in inquiry.absent)
        absent = "".join(f'; no article "{as_field(title)}" was found' for title in named)
        tried.append(f"- {need.question} -> {marks}{partly}{absent}")
    shown = lines(tried)
    if inquiry.lost_lists:
        shown += "\n\nLISTS WITHOUT ROWS (their headings are in the documents, their rows are not):\n"
        shown += fence(lines(f"- {as_field(one)}" for one in inquiry.lost_lists), "lists")
    return shown or NOTHING_TRIED
