"""Analysis by an LLM: which facts are missing next? And rephrasing: the question with what was found put into it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.llm.replies.forms import AnalysisReply, ContinuationReply, RephrasingReply
from iterative_rag.llm.roles.answerer import written_draft
from iterative_rag.llm.roles.role_call import LLMRole
from iterative_rag.llm.roles.shown_facts import fact_lines, new_fact_marks
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Analysis, AnswerForm, Continuation, Fact, Inquiry, Known, Need, Needs, Stuck

MOST_NEEDS = 8
_SEE = lazy_pattern(r"\s*\(see (?:[\"“„«]([^\"”“»]+)[\"”“»]|([^()]+))\)", re.IGNORECASE)
# A question should get simpler; one that grew beyond this has copied from a document.
GROWTH, SPARE = 3.0, 300


class LLMAnalyst(LLMRole[AnalysisReply]):
    def analyse(self, inquiry: Inquiry) -> Analysis:
        return _analysis(self.call.about(inquiry, lambda reply: _complaint(reply, inquiry)), inquiry)


class LLMRephraser(LLMRole[RephrasingReply]):
    def rephrase(self, inquiry: Inquiry, new_facts: Sequence[Fact]) -> str:
        """The new question, given all facts, also those of earlier hops; the current one where nothing was found or the
        model offers no usable one."""
        if not new_facts:
            return inquiry.question
        facts = (*inquiry.facts, *new_facts)
        reply = self.call.about(
            inquiry,
            lambda reply: _unusable(reply.question, inquiry),
            facts=fact_lines(facts, self.call.fact_chars),
            new=new_fact_marks(facts, len(new_facts)),
        )
        return inquiry.question if _unusable(reply.question, inquiry) else " ".join(reply.question.split())


class LLMJointAnalyst(LLMRole[ContinuationReply]):
    """Both in one call, and the answer where nothing is missing any more: it needs no call of its own then."""

    def proceed(self, inquiry: Inquiry, new_facts: Sequence[Fact]) -> Continuation:
        """Both halves, as far as the model wrote them. A question that is known needs no rewriting any more."""

        def complaint(reply: ContinuationReply) -> str:  # a half that is missing is asked for by its own role
            wrong = _unusable(reply.question, inquiry) if reply.question else ""
            return wrong or (_complaint(reply.analysis, inquiry) if reply.analysis else "")

        reply = self.call.about(inquiry, complaint, new=new_fact_marks(inquiry.facts, len(new_facts)))
        question = " ".join(reply.question.split()) or None
        if question and _unusable(question, inquiry):
            question = inquiry.question
        if reply.analysis is None:
            return Continuation(question)
        analysis = _analysis(reply.analysis, replace(inquiry, question=question or inquiry.question))
        if not isinstance(analysis, Known):
            return Continuation(question, analysis)
        spoken = self.call.languages.for_answer(inquiry.original)  # another language is a matter of the answerer's
        draft = written_draft(reply.answer, inquiry) if reply.answer and not spoken else None
        return Continuation(question or inquiry.question, analysis, draft)


def _unusable(question: str, inquiry: Inquiry) -> str:
    """What is wrong with a rephrased question, in words for the model."""
    if not question:
        return 'the field "question" is empty'
    if len(question) > GROWTH * max(len(inquiry.question), len(inquiry.original)) + SPARE:
        return "the question became far too long; put in the bare names and values alone"
    return ""


def _analysis(reply: AnalysisReply, inquiry: Inquiry) -> Analysis:
    """What a readable reply says about `inquiry`."""
    if reply.status == "stuck":
        return Stuck(reply.reason or "The model sees no further fact that would help.")
    needs, then, form = _needs(reply.needs), _needs(reply.then), AnswerForm(reply.form) if reply.form else None
    if reply.status == "needs" and needs:
        # What has its value is not looked up again; the numbers in what follows count it.
        open_ = needs if then else tuple(need for need in needs if not inquiry.has_value(need))
        return Needs(open_, reply.last, form, then) if open_ else Known(form)
    # "known" without a fact, or "needs" without a need, twice: look the question itself up before giving up.
    itself = Need(inquiry.question)
    if (reply.status == "needs" or not inquiry.facts) and itself not in inquiry.tried:
        return Needs((itself,), form=form)
    return Known(form)


def _complaint(reply: AnalysisReply, inquiry: Inquiry) -> str:
    """What is wrong with a readable analysis, in words for the model."""
    if reply.status == "known" and not inquiry.facts:
        return 'the status is "known", but there are no facts yet; name the first ones to look up'
    if reply.status != "needs":
        return ""
    needs = _needs(reply.needs)
    if not needs:
        return 'the status is "needs", but "needs" names no question'
    if all(inquiry.looks(need) for need in needs) and not all(map(inquiry.has_value, needs)):
        return (
            "every need was tried already; use the facts found, ask for something else or in other words, "
            'or choose "known" or "stuck"'
        )
    return ""


def _needs(texts: Sequence[str]) -> tuple[Need, ...]:
    unique = {need.key: need for need in map(named_need, reversed(texts))}
    return tuple(need for key, need in reversed(unique.items()) if key)[:MOST_NEEDS]


def named_need(text: str) -> Need:
    """The need that a model wrote; the article that it expects to state it, (see "Velm Tower"), is no part of it."""
    question, see = " ".join(text.split()), ""
    if match := _SEE.search(question):
        question, see = f"{question[: match.start()]}{question[match.end() :]}".strip(), (match[1] or match[2]).strip()
    return Need(question, see)
