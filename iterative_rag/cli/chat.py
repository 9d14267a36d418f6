"""`iterative-rag chat`: questions and follow-ups one after the other, on a terminal or line by line from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

import typer

from iterative_rag.cli import interrupts, say
from iterative_rag.cli.ask import ConversationName, exit_code, opened, run_question
from iterative_rag.cli.console import clean, err, out
from iterative_rag.cli.history import ExportFormat, print_answer
from iterative_rag.cli.options import takes_settings
from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.text.control_characters import without_controls

if TYPE_CHECKING:
    from iterative_rag.app.conversations import ConversationSession
    from iterative_rag.app.factory import IterativeRAG
    from iterative_rag.settings import Settings

PROMPT = "> "
_HELP = (
    ("/help", "this list"),
    ("/edit QUESTION", "what the last follow-up meant: it is asked instead"),
    ("/new [NAME]", "a new conversation"),
    ("/quit", "leave, as ^D does; ^C stops an answer"),
)


@takes_settings(without=("fact_limit",))
def chat(*, settings: Settings, conversation: ConversationName = None) -> None:
    """Ask one question after another; follow-ups are understood, and the conversation is kept."""
    terminal = sys.stdin is not None and sys.stdin.isatty()
    with closing(opened(settings, conversation or "")) as rag:
        rag.check(rag.settings.strategy)  # also imports what a run needs: ^C would end the chat in the midst of that
        if terminal:
            interrupts.raise_the_first(["chat"])
        code = Chat(rag, conversation or "", terminal=terminal).run(typed_lines() if terminal else piped_lines())
    raise typer.Exit(0 if terminal else code)


class Chat:
    """The state of a chat: what answers, and the conversation."""

    def __init__(self, rag: IterativeRAG, conversation: str, *, terminal: bool) -> None:
        """Raises what cannot be opened."""
        self._rag, self._terminal = rag, terminal
        self._session: ConversationSession = rag.conversation(conversation)
        self._asked = ""  # the last question as it was typed, also where it was not understood
        self._code = 0

    def run(self, lines: Iterator[str]) -> int:
        """Carry out line after line; returns the exit code of the last one."""
        self._greet()
        for line in lines:
            text = line.strip()
            if text in ("/quit", "/exit"):
                break
            if text:
                self._guarded(partial(self._line, text))
        return self._code

    def _greet(self) -> None:
        if not self._terminal:
            return
        name = self._session.conversation.name
        about = f"“{clean(name)}”, {len(self._session.turns)} so far" if name else "A new conversation"
        err().line((f"{about} · corpus {clean(self._rag.corpus.name)} · {self._rag.backend.name} · /help", "dim"))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Errors and ^C end one line, and not the chat."""
        self._code = 0
        if self._terminal:
            interrupts.raise_the_first(["chat"], again=True)
        try:
            try:
                work()
            finally:
                interrupts.noticed()
        except IterativeRAGError as error:
            if interrupts.raised():
                self._stopped()
                return
            self._code = error.exit_code
            say(str(error), error.hint)
        except KeyboardInterrupt:
            self._stopped()
        sys.stdout.flush()

    def _stopped(self) -> None:
        """Go on after ^C. Where lines come from a pipe there is nobody to type the next one: it ends the chat."""
        if not self._terminal:
            raise KeyboardInterrupt
        self._code = interrupts.INTERRUPTED
        err().blank()
        err().line(("Stopped: what was read so far is in the cache. /quit leaves.", "yellow"))
        interrupts.raise_the_first(["chat"])

    def _line(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        match name.casefold(), rest.strip():
            case "/help", _:
                for command, said in _HELP:
                    out().line((f"{command:<16}", "cyan"), said)
            case "/edit", question if question and self._asked:
                self._ask(self._asked, question)
            case "/edit", _:
                raise UsageError("There is nothing to edit.", hint="/edit QUESTION, after a follow-up: what it meant.")
            case "/new", wanted:
                session = self._rag.conversation(wanted)
                if session.turns:
                    raise UsageError(f"There is a conversation {wanted!r} already.", hint="Choose another name.")
                self._session, self._asked = session, ""
                err().line(("A new conversation.", "dim"))
            case _ if text.startswith("/"):
                raise UsageError(f"There is no command {name!r}.", hint="/help lists them; a question needs no slash.")
            case _:
                self._ask(text)

    def _ask(self, text: str, meaning: str = "") -> None:
        from iterative_rag.app.factory import checked_question

        self._asked = text
        steps = partial(self._session.steps, meaning=meaning)
        answer = run_question(self._rag, checked_question(text), None, quiet=False, live=True, steps=steps)
        self._rag.notice = ""  # said once
        print_answer(answer, ExportFormat.TEXT)
        out().blank()
        if answer.fault:
            say(answer.fault.message, answer.fault.hint)
        self._code = exit_code(answer)


# --- the lines of a chat: typed on a terminal, or read from a pipe ---------------------------


def piped_lines() -> Iterator[str]:
    if sys.stdin is None:
        raise UsageError(
            "There is no stdin to read questions from.", hint="Run it on a terminal, or pipe lines into it."
        )
    try:
        for line in sys.stdin:
            yield without_controls(line)
    except UnicodeDecodeError as error:
        raise UsageError("A line on stdin is not UTF-8 text.", hint="Convert it with iconv.") from error


def typed_lines() -> Iterator[str]:
    """Lines from the terminal, which readline edits where there is one."""
    with suppress(ImportError):
        import readline  # noqa: F401 - `input` takes it once it is imported
    while True:
        try:
            yield without_controls(input(PROMPT))
        except EOFError:
            sys.stderr.write("\n")
            return
        except KeyboardInterrupt:  # drops what was typed
            sys.stderr.write("\n")
            interrupts.raise_the_first(["chat"])
