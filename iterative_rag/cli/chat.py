"""`iterative-rag chat`: questions and follow-ups one after the other, on a terminal or line by line from a pipe."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from iterative_rag.cli import interrupts, say
from iterative_rag.cli.ask import ConversationName, as_asked_before, exit_code, run_question
from iterative_rag.cli.console import clean, err, out, write, write_file
from iterative_rag.cli.conversations import exported
from iterative_rag.cli.history import ExportFormat, print_answer
from iterative_rag.cli.options import announce_starter, settings_from, takes_settings
from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.text.control_characters import without_controls

if TYPE_CHECKING:
    from iterative_rag.app.conversations import ConversationSession
    from iterative_rag.app.factory import IterativeRAG
    from iterative_rag.settings import Settings
    from iterative_rag.types import Answer

PROMPT = "> "
_HISTORY_LINES = 1000  # of earlier chats
# Characters of the article before and after a quote.
_AROUND = 400
_HELP = (
    ("/help", "this list"),
    ("/corpus [NAME]", "the corpus that is asked, or another one"),
    ("/backend [SPEC]", "the model that answers, or another one: builtin, ollama/MODEL ..."),
    ("/sources", "the sources of the last answer"),
    ("/show N", "source N in its article"),
    ("/edit QUESTION", "what the last follow-up meant: it is asked instead"),
    ("/export [FILE]", "the conversation as Markdown, or as JSON to a file whose name ends in .json"),
    ("/new [NAME]", "a new conversation"),
    ("/quit", "leave, as ^D does; ^C stops an answer"),
)


@takes_settings(without=("fact_limit",))
def chat(*, settings: Settings, conversation: ConversationName = None) -> None:
    """Ask one question after another; follow-ups are understood, and the conversation is kept."""
    terminal = sys.stdin is not None and sys.stdin.isatty()
    chatting = Chat(settings, conversation or "", terminal=terminal)
    if terminal:
        interrupts.raise_the_first(["chat"], stay=True)
    try:
        code = chatting.run(typed_lines() if terminal else piped_lines())
    finally:
        chatting.close()
    raise typer.Exit(0 if terminal else code)


class Chat:
    """The state of a chat: its settings, what answers, and the conversation."""

    def __init__(self, settings: Settings, conversation: str, *, terminal: bool) -> None:
        """Raises what cannot be opened: a corpus, a model, a conversation."""
        self._settings, told = as_asked_before(settings, conversation)
        self._terminal = terminal
        self._rag = _opened(self._settings)
        self._rag.notice = "\n".join(filter(None, (told, self._rag.notice)))
        self._session: ConversationSession = self._rag.conversation(conversation)
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

    def close(self) -> None:
        self._rag.close()

    def _greet(self) -> None:
        if not self._terminal:
            return
        name = self._session.conversation.name
        about = f"“{clean(name)}”, {len(self._session.turns)} so far" if name else "A new conversation"
        err().line((f"{about} · corpus {clean(self._rag.corpus.name)} · {self._rag.backend.name} · /help", "dim"))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Errors and ^C end one line, and not the chat."""
        self._code = 0
        try:
            work()
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
        interrupts.raise_the_first(["chat"], stay=True)

    def _line(self, text: str) -> None:
        if not text.startswith("/"):
            self._ask(text)
            return
        name, _, rest = text.partition(" ")
        if name.casefold() not in (shown.partition(" ")[0] for shown, _ in _HELP):
            raise UsageError(f"There is no command {name!r}.", hint="/help lists them; a question needs no slash.")
        getattr(self, f"_{name.casefold()[1:]}")(rest.strip())

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

    # --- commands, by their names ------------------------------------------------------------

    def _help(self, rest: str) -> None:
        width = max(len(name) for name, _ in _HELP)
        for name, said in _HELP:
            out().line((f"{name:<{width}}", "cyan"), f"  {said}", hang=" " * (width + 2))

    def _corpus(self, name: str) -> None:
        self._changed("corpus", name)
        self._tell(f"Corpus: {self._rag.corpus.name}")

    def _backend(self, spec: str) -> None:
        self._changed("llm", spec)
        self._tell(f"Answering: {self._rag.backend.name}")

    def _changed(self, setting: str, value: str) -> None:
        """Open what the changed setting needs; the former stays where that fails."""
        if not value:
            return
        given = {name: getattr(self._settings, name) for name in self._settings.given}
        settings = settings_from(**given | {setting: value})
        opened = _opened(settings)
        self._rag.close()
        self._settings, self._rag, self._session.rag = settings, opened, opened

    def _sources(self, rest: str) -> None:
        from iterative_rag.cli.answer_view import show_citation

        for citation in self._last().citations:
            show_citation(citation, out())

    def _show(self, rest: str) -> None:
        from iterative_rag.text.text_blocks import unwrapped

        citations = {str(cited.n): cited for cited in self._last().citations}
        citation = citations.get(rest.strip("[] "))
        if citation is None:
            known = f"1 to {len(citations)}" if citations else "none"
            raise UsageError(f"The last answer has no source {rest!r}.", hint=f"/show N, with N: {known}")
        span = (citation.source, citation.start, citation.end)
        fact = next(fact for fact in self._session.turns[-1].facts if (fact.source, fact.start, fact.end) == span)
        document = self._rag.corpus.document(fact.document_id)
        text = unwrapped(document.text) if document.pages else document.text
        out().line((f"[{citation.n}] ", "cyan"), (clean(citation.title), "bold"))
        # Its lines stay lines: headings, entries, rows of tables.
        start, end = fact.start, fact.end
        before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
        out().line((before.lstrip("\n"), "dim"), (text[start:end], "bold"), (after.rstrip("\n"), "dim"))

    def _edit(self, question: str) -> None:
        if not question or not self._asked:
            raise UsageError("There is nothing to edit.", hint="/edit QUESTION, after a follow-up: what it meant.")
        self._ask(self._asked, question)

    def _export(self, file: str) -> None:
        form = "json" if file.endswith(".json") else "md"
        text = exported(self._session.conversation, form)
        if not file:
            write(text)
            return
        write_file(Path(file).expanduser(), text, new=True)
        self._tell(f"Written: {file}")

    def _new(self, name: str) -> None:
        session = self._rag.conversation(name)
        if session.turns:
            raise UsageError(f"There is a conversation {name!r} already.", hint="Choose another name.")
        self._session, self._asked = session, ""
        self._tell("A new conversation.")

    def _last(self) -> Answer:
        if not self._session.turns:
            raise UsageError("There is no answer yet.", hint="Ask a question first.")
        return self._session.turns[-1].answer

    def _tell(self, words: str) -> None:
        err().line((clean(words), "dim"))


def _opened(settings: Settings) -> IterativeRAG:
    from iterative_rag.app.factory import IterativeRAG

    announce_starter(settings)
    rag = IterativeRAG.from_settings(settings)
    try:
        rag.check(settings.strategy)  # also imports what a run needs: ^C would end the chat in the midst of that
    except BaseException:
        rag.close()
        raise
    return rag


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
    """Lines from the terminal, edited and remembered by readline where there is one."""
    with _History():
        while True:
            try:
                yield without_controls(input(PROMPT))
            except EOFError:
                sys.stderr.write("\n")
                return
            except KeyboardInterrupt:  # drops what was typed
                sys.stderr.write("\n")
                interrupts.raise_the_first(["chat"], stay=True)


class _History:
    """The lines of earlier chats, in a private file of the data folder. Without readline there are none."""

    def __enter__(self) -> None:
        from iterative_rag.settings import home

        self._path, self._new = home() / "chat_history", 0
        try:
            import readline
        except ImportError:
            self._readline = None
            return
        self._readline = readline
        readline.set_history_length(_HISTORY_LINES)
        if self._path.is_file():
            try:
                readline.read_history_file(self._path)
            except OSError as error:
                _not_kept(error)
        self._new = readline.get_current_history_length()

    def __exit__(self, *error: object) -> None:
        if self._readline is None:
            return
        from iterative_rag.system.private_files import make_private, private_folder

        added = self._readline.get_current_history_length() - self._new
        try:
            private_folder(self._path.parent)
            make_private(self._path)
            self._readline.append_history_file(max(0, added), self._path)
        except OSError as fault:
            _not_kept(fault)


def _not_kept(error: OSError) -> None:
    logging.getLogger(__name__).warning("The lines typed in chats are not kept: %s.", error.strerror or error)
