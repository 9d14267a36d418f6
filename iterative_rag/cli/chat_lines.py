"""The lines of a chat: typed on a terminal, with a history that the up key brings back, or read from a pipe."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator

from iterative_rag.cli import interrupts

PROMPT = "> "
# Lines of earlier chats that are remembered.
_HISTORY_LINES = 1000


def piped_lines() -> Iterator[str]:
    from iterative_rag.errors import UsageError
    from iterative_rag.text.control_characters import without_controls

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
    from iterative_rag.text.control_characters import without_controls

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
