"""A language model that follows the script of a case of `evaluation/corrections`, and is honest about it.

It plays every role. It knows which quote proves which link of the chain, and nothing else: it quotes what stands in the
text that it is shown, plans and answers from the facts that stand in the prompt, takes the result of a computation from
the prompt, and never looks at the expected answer. A pipeline that loses a fact therefore loses the case.
"""

from __future__ import annotations

from collections.abc import Callable

from fakes.case_following_agent import drive
from fakes.case_roles import PLAYED, Reply
from fakes.case_view import Script, View
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.protocols import ChatRequest


class CaseFollowingLLM:
    """One model for many cases, one after another: set `script` before each question."""

    def __init__(self) -> None:
        self.script: Script | None = None
        played = {**PLAYED, "agent": drive}
        self.llm = ScriptedLLM({role: self._player(play) for role, play in played.items()}, name="case-following")

    def _player(self, play: Callable[[View], Reply]) -> Callable[[ChatRequest], Reply]:
        def played(request: ChatRequest) -> Reply:
            assert self.script is not None, "no case is set"
            return play(View(self.script, request))

        return played
