"""The agent played by an LLM: which tools to use next, or what to submit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from iterative_rag.computing.display import shown
from iterative_rag.llm.prompts import fence, lines
from iterative_rag.llm.replies.forms import AnswerReply
from iterative_rag.llm.replies.tool_calls import AgentReply, submitted_so_far, tool_specs
from iterative_rag.llm.roles.answerer import draft_of
from iterative_rag.llm.roles.calculations import Calculations
from iterative_rag.llm.roles.role_call import LLMRole, renumbered
from iterative_rag.llm.roles.shown_facts import fact_lines
from iterative_rag.text.plurals import counted
from iterative_rag.types import AgentView, Computation, Draft, Inquiry, SubmitCall, ToolCall, ToolResult

# The share of a prompt's characters that facts may take; results and the log of calls need the rest.
FACT_SHARE = 0.4
NOTHING = "(none yet)"
# The highest number that a marker is taken for while an answer is written.
MOST_MARKERS = 999
ONLY_SUBMIT = (
    "A limit is reached: nothing more can be looked up. Submit now, from the facts and the results above; quote what "
    'you use of the results. If they do not prove an answer, leave "short_answer" empty.'
)


class LLMAgent(LLMRole[AgentReply]):
    def act(self, view: AgentView) -> tuple[ToolCall, ...]:
        call = replace(self.call, functions=tool_specs(only_submit=view.only_submit))
        computed = "\n".join(shown(step.expression, step.result) for step in view.computations)
        turns = f"{counted(view.turns_left, 'turn')} left, this one included."
        state = ONLY_SUBMIT if view.only_submit else turns
        # Which of the quotes of a submission are refused is not known yet, so its markers may still change.
        reply = call.ask(
            written=call.teller(MOST_MARKERS, submitted_so_far),
            question=view.question,
            facts=fact_lines(view.facts, int(call.fact_chars * FACT_SHARE)),
            computed=f"COMPUTED:\n{computed or NOTHING}",
            log=fence(lines(f"- {line}" for line in view.log), "calls") if view.log else NOTHING,
            results="\n\n".join(_result(result) for result in view.results) or NOTHING,
            state="\n".join(filter(None, (state, call.languages.for_answer(view.question)))),
        )
        return reply.typed_calls(only_submit=view.only_submit)

    def draft(
        self, submitted: SubmitCall, inquiry: Inquiry, places: Sequence[Sequence[int]], done: Sequence[Computation]
    ) -> Draft:
        # An answer without a short one is an answer all the same, unless the model says that something is missing.
        answered = submitted.short_answer or (submitted.answer and not submitted.missing)
        status = "answered" if answered else "not_in_facts"
        reply = AnswerReply.model_validate({**asdict(submitted), "status": status})
        numbers = {n: [index + 1 for index in quotes] for n, quotes in enumerate(places, start=1)}
        return draft_of(renumbered(reply, numbers), Calculations(inquiry.facts, inquiry.original, list(done)))


def _result(result: ToolResult) -> str:
    text = f"\n{fence(result.text, 'result')}" if result.text else ""
    return f"{lines([f'{result.call}: {result.told}'])}{text}"
