"""Writing by an LLM: an explanation, a summary, a table, or one section of a report, with a citation in every sentence.

Every sentence is checked afterwards, and one without a citation is not shown.
"""

from __future__ import annotations

from iterative_rag.llm.replies.forms import WritingReply
from iterative_rag.llm.replies.json_parsing import answer_so_far
from iterative_rag.llm.roles.role_call import LLMRole, RoleCall
from iterative_rag.llm.roles.shown_facts import nothing_found
from iterative_rag.settings.model import Length
from iterative_rag.text.citation_markers import MARKER, cited_numbers, renumbered
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.text.sentences import sentences
from iterative_rag.types import AnswerForm, Draft, Inquiry, OutlineSection

# The share of a text's sentences that may lack a marker before the model is asked for them once more.
UNMARKED = 0.34
# A text of fewer words says too little for a question that asks for one.
FEWEST_WORDS = 5
LAST_ATTEMPT = (
    'This is the last attempt: nothing more will be looked up. Write what the facts do say, and name in "missing" what '
    "they do not."
)
_TASKS = {
    "short": "Write 1 to 5 sentences in one paragraph, no more than the question needs.",
    "paragraph": "Write 2 to 5 paragraphs, one for each aspect on which there are facts, 300 words at most in all.",
    "report": "Write 3 to 7 paragraphs, one for each aspect on which there are facts, 450 words at most in all.",
}
_TABLE = (
    "Write a Markdown table that compares the things named in the question: a row for each thing, a column for each "
    "respect, or the other way round where that reads better."
)


class LLMWriter(LLMRole[WritingReply]):
    def __init__(self, call: RoleCall[WritingReply], length: Length = "short") -> None:
        super().__init__(call)
        self._length = length

    def write(
        self,
        inquiry: Inquiry,
        *,
        section: OutlineSection | None = None,
        before: str = "",
        last_attempt: bool = False,
        advice: str = "",
    ) -> Draft:
        """A draft whose markers are 1.. in order of first use. Without any fact it abstains, without a call."""
        if not inquiry.facts:
            return Draft(answered=False, text="", missing=nothing_found(inquiry), form=inquiry.form)
        count = len(inquiry.facts)

        def so_far(reply: str) -> str:
            """What has come of a reply, behind the sections before it."""
            answer = answer_so_far(reply)
            return "\n\n".join(filter(None, (before, answer))) if answer else ""

        reply = self.call.about(
            inquiry,
            lambda reply: _complaint(reply, inquiry.form, count),
            written=self.call.teller(count, so_far),
            task=self._task(inquiry, section, last_attempt=last_attempt, advice=advice),
        )
        return _draft_of(reply, inquiry)

    def _task(self, inquiry: Inquiry, section: OutlineSection | None, *, last_attempt: bool, advice: str) -> str:
        parts = [_TABLE if inquiry.form is AnswerForm.TABLE else _TASKS[self._length]]
        if inquiry.form is AnswerForm.REPORT and section is None:
            parts = [_TASKS["report"]]
        if section is not None:
            others = "; ".join(other.heading for other in inquiry.outline if other is not section)
            asked = " ".join(need.question for need in section.needs)
            parts = [
                f'Write the section "{section.heading}" of a report: 1 to 3 paragraphs, 200 words at most, without its '
                f"heading. It is about: {asked} The other sections, to which you leave what is theirs: {others or '-'}."
            ]
        if last_attempt:
            parts.append(LAST_ATTEMPT)
        if advice:
            parts.append(f"What was wrong with your text before: {advice}")
        return " ".join(filter(None, (*parts, self.call.languages.for_answer(inquiry.original))))


def _complaint(reply: WritingReply, form: AnswerForm, count: int) -> str:
    """What is wrong with a readable reply, in words for the model."""
    if reply.status != "answered":
        return ""
    lines = [line for line in reply.answer.splitlines() if line.strip()]
    if form is AnswerForm.TABLE and not any(is_row(line) for line in lines):
        return '"answer" holds no Markdown table'
    said = [sentence for line in lines if not (is_row(line) or line.startswith("#")) for sentence in sentences(line)]
    if not renumbered(reply.answer, count)[1]:
        return f'"answer" cites no fact; put [n] behind every sentence, with n from 1 to {count}'
    if form is not AnswerForm.TABLE and len(MARKER.sub("", reply.answer).split()) < FEWEST_WORDS:
        return '"answer" is a bare value; write sentences that explain it'
    unmarked = [sentence for sentence in said if not cited_numbers(sentence)]
    if len(unmarked) > UNMARKED * len(said):
        return f"{len(unmarked)} of {len(said)} sentences have no marker [n]; put it behind every one"
    return ""


def _draft_of(reply: WritingReply, inquiry: Inquiry) -> Draft:
    count = len(inquiry.facts)
    # Some models escape line breaks twice.
    written = reply.answer if "\n" in reply.answer else reply.answer.replace("\\n", "\n")
    text, cited = renumbered(written, count)
    missing = MARKER.sub("", reply.missing).strip()
    if reply.status != "answered" or not text:
        untrue = reply.status == "false_premise"
        said = missing or MARKER.sub("", text).strip() or "The facts found do not say it."
        told = f"The question assumes something untrue: {said}" if untrue else said
        return Draft(False, text, "", cited, told, reply.confidence, false_premise=untrue, form=inquiry.form)
    caveats = (missing,) if missing else ()
    short = MARKER.sub("", reply.short_answer).strip()
    return Draft(True, text, short, cited, "", reply.confidence, caveats=caveats, weighed=True, form=inquiry.form)
