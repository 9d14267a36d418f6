"""Windows for a model whose context is smaller than it was said to be: cut, once the server has refused a request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from iterative_rag.types import Window

# Shorter texts are not cut: what does not fit then is not the window.
SHORTEST = 400
# Where a text is cut, the best place first: behind a paragraph, a line, a sentence, a word.
_ENDS = ("\n\n", "\n", ". ", " ")


@dataclass(slots=True)
class WindowRoom:
    """How many characters of windows go into a call, as far as the server's refusals have told; 0 for no bound. One
    run's calls on several threads share it: each sets it to what it knows."""

    chars: int = 0

    def holds(self, windows: Sequence[Window]) -> bool:
        return not self.chars or sum(len(window.text) for window in windows) <= self.chars

    def halve(self, windows: Sequence[Window]) -> bool:
        """Learn that these did not fit; whether shorter ones can be asked."""
        refused = sum(len(window.text) for window in windows)
        self.chars = max(SHORTEST, min(self.chars or refused, refused // 2))
        return self.chars < refused

    def pieces(self, windows: Sequence[Window]) -> Iterator[tuple[int, Window]]:
        """The windows in pieces that have room, each with the place of its window. No text is in two of them."""
        for place, window in enumerate(windows):
            text = window.text
            while len(text) > self.chars > 0:
                end = _end(text, self.chars)
                yield place, replace(window, text=text[:end])
                text = text[end:]
            yield place, replace(window, text=text)


def _end(text: str, room: int) -> int:
    """Where the first piece of a text ends: at most `room` characters, at least half of them."""
    for mark in _ENDS:
        place = text.rfind(mark, room // 2, room)
        if place >= 0:
            return place + len(mark)
    return room
