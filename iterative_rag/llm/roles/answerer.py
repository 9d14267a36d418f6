"""Answering by an LLM: the answer to the original question, with a citation for every claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from iterative_rag.computing.display import wrong_equations
from iterative_rag.llm.replies.forms import AnswerReply, RecallReply, WrittenAnswer
from iterative_rag.llm.roles.calculations import Calculations, proves, with_computations
from iterative_rag.llm.roles.extractor import holds
from iterative_rag.llm.roles.role_call import LLMRole
from iterative_rag.llm.roles.shown_facts import nothing_found
from iterative_rag.text.citation_markers import MARKER, renumbered
from iterative_rag.types import Computation, Draft, Fact, Inquiry

# The highest confidence of an answer that cites no fact.
UNCITED_CONFIDENCE = 0.2
# The highest confidence of an answer whose own arithmetic is wrong.
MISCOUNTED_CONFIDENCE = 0.3
# How often a model is asked again with the results of the computations that it asked for.
COMPUTING_ROUNDS = 2
# Other values, and caveats, that are kept of one reply.
MOST_NOTES = 4
LAST_ATTEMPT = (
    "This is the last attempt: nothing more will be looked up. If the facts settle the question, answer it as always. "
    'If they only make one answer likely, give it as "answered" with a confidence below 0.5 and say in "caveats" what '
    "is unproved."
)
MORE_TO_COME = 'If a value is missing, say "not_in_facts" and name it in "missing".'


class LLMAnswerer(LLMRole[AnswerReply]):
    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        """A draft whose markers are 1.. in order of first use. Without any fact it abstains, without a call.

        What the model asks to have computed is computed, and it is asked again with the results.
        """
        if not inquiry.facts:
            return Draft(answered=False, text="", missing=nothing_found(inquiry))
        calculations = Calculations(inquiry.facts, inquiry.original, list(inquiry.computed))
        reply = self._ask(inquiry, calculations, last_attempt, advice, may_compute=True)
        for rounds_left in reversed(range(COMPUTING_ROUNDS)):
            if not reply.compute or not calculations.asks_for_more(reply.compute):
                break
            requested = reply.compute
            results = calculations.carry_out(requested)
            proved = reply.status == "answered" and len(results) == len(requested) and proves(results, reply)
            if proved or reply.status in ("not_in_facts", "false_premise"):  # no result brings a value that is missing
                break
            reply = self._ask(inquiry, calculations, last_attempt, advice, may_compute=rounds_left > 0)
        return draft_of(reply, calculations)

    def _ask(
        self, inquiry: Inquiry, calculations: Calculations, last_attempt: bool, advice: str, *, may_compute: bool
    ) -> AnswerReply:
        computed = calculations.lines()
        if computed and not may_compute:
            computed += "\nNothing more is computed: answer now."
        attempt = LAST_ATTEMPT if last_attempt else MORE_TO_COME
        spoken = self.call.languages.for_answer(inquiry.original)
        wrong = f"What was wrong with your answer before: {advice}" if advice else ""
        return self.call.about(
            inquiry,
            lambda reply: _complaint(reply, len(inquiry.facts), may_compute=may_compute),
            written=self.call.teller(len(inquiry.facts)),
            attempt="\n\n".join(part for part in (computed, attempt, wrong, spoken) if part),
        )


class LLMRecaller(LLMRole[RecallReply]):
    """Closed-book answering: the model alone, without a corpus. Only evaluations use it."""

    def recall(self, question: str) -> Draft:
        reply = self.call.ask(_without_short_answer, question=question)
        if reply.status != "answered" or not reply.short_answer:
            return Draft(answered=False, text="", missing="The model does not know it.", confidence=reply.confidence)
        return Draft(True, reply.short_answer, reply.short_answer, confidence=reply.confidence)


def _without_short_answer(reply: AnswerReply | RecallReply) -> str:
    empty = reply.status == "answered" and not reply.short_answer
    return 'the status is "answered", but "short_answer" is empty' if empty else ""


def written_draft(written: WrittenAnswer, inquiry: Inquiry) -> Draft | None:
    """The draft that came with an analysis; None where the answerer would not take it, or a text is asked for."""
    reply = AnswerReply(status="answered", **dict(written))
    if inquiry.form.is_text or _complaint(reply, len(inquiry.facts), may_compute=False):
        return None
    return draft_of(reply, Calculations(inquiry.facts, inquiry.original, list(inquiry.computed)))


def draft_of(reply: AnswerReply, calculations: Calculations) -> Draft:
    """The draft that a reply stands for, whose markers mean the places of the calculations' facts, from 1."""
    facts, computations = calculations.facts, (*calculations.done, *calculations.written_by(reply))
    text = reply.answer or (reply.short_answer if reply.status == "answered" else "")
    text, cited = renumbered(with_computations(text, computations), len(facts))
    if reply.status == "answered":
        return _with_notes(_answered(reply, text, cited, facts, computations), reply, len(facts))
    missing = reply.missing or renumbered(reply.answer, len(facts))[0] or "The facts found do not settle it."
    untrue = reply.status == "false_premise"
    if untrue:
        missing = f"The question assumes something untrue: {missing}"
    return Draft(False, text, "", cited, missing, reply.confidence, computations, false_premise=untrue)


def _answered(
    reply: AnswerReply, text: str, cited: tuple[int, ...], facts: Sequence[Fact], computations: tuple[Computation, ...]
) -> Draft:
    short = reply.short_answer or MARKER.sub("", reply.answer).strip()
    confidence = reply.confidence
    # Where no fact that is cited contains the answer, a reader wants to see one that does.
    added = () if _containing(short, [facts[index] for index in cited]) else _containing(short, facts)
    if not cited:  # the model was asked for markers twice; a fact that contains the answer proves it, else nothing does
        confidence = min(confidence, 0.5 if added else UNCITED_CONFIDENCE)
    cited = (*cited, *added)
    text += "".join(f" [{len(cited)}]" for _ in added)
    if _miscounted(reply):
        confidence = min(confidence, MISCOUNTED_CONFIDENCE)
    missing = "" if cited else "No fact was named as the proof of this answer."
    return Draft(True, text, short, cited, missing or reply.missing, confidence, computations)


def _with_notes(draft: Draft, reply: AnswerReply, count: int) -> Draft:
    """An answered draft with its other values and caveats; what it calls missing is a caveat. Another value counts only
    where it cites a fact."""
    also: list[str] = []
    caveats: list[str] = []
    cited = draft.cited
    for note in reply.also[:MOST_NOTES]:
        said, grown = renumbered(note, count, cited)
        if MARKER.search(said) and MARKER.sub("", said).strip(" .").casefold() != draft.short_answer.casefold():
            also, cited = [*also, said], grown
    for note in (*reply.caveats[:MOST_NOTES], draft.missing):
        said, cited = renumbered(note, count, cited)
        caveats += [said] if said and said not in caveats else []
    return replace(draft, also=tuple(also), caveats=tuple(caveats), cited=cited, weighed=True)


def _complaint(reply: AnswerReply, count: int, *, may_compute: bool) -> str:
    if wrong := _miscounted(reply):
        return f"it miscounts: {'; '.join(wrong[:3])}"
    if reply.status == "compute" and not (may_compute and reply.compute):
        return '"compute" names no expression' if may_compute else "nothing more can be computed; answer now"
    if reply.status != "answered":
        return ""
    marked = bool(renumbered(reply.answer, count)[1])
    unmarked = f'"answer" cites no fact; put [n] after each claim, with n from 1 to {count}'
    return _without_short_answer(reply) or ("" if marked else unmarked)


def _miscounted(reply: AnswerReply) -> list[str]:
    return wrong_equations(f"{reply.working}\n{reply.answer}")


def _containing(short: str, facts: Sequence[Fact]) -> tuple[int, ...]:
    """The position of the first fact whose value or quote contains the short answer."""
    wanted = short.strip(" .")
    stating = (n for n, fact in enumerate(facts) if wanted and holds(f"{fact.value} {fact.quote}", wanted))
    return tuple(islice(stating, 1))
