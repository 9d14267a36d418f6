"""A text that grows at its end and is searched for pieces of it again and again."""

from __future__ import annotations

import re

_WORD = re.compile(r"(?<!\S)\S")
_CHARS = 24  # of an anchor
_EACH = 16  # of so many beginnings of words one is an anchor, by chance


class GrowingText:
    """Finds pieces as `str.find` does, without a look at the whole text for each.

    Anchors, some beginnings of words with what follows them, are noted with their places. A piece that holds one can
    stand nowhere else; one that holds none, as in languages without spaces, is searched for in the whole text.
    """

    def __init__(self) -> None:
        self.text = ""
        self._places: dict[str, list[int]] = {}
        self._noted = 0

    def __len__(self) -> int:
        return len(self.text)

    def add(self, text: str) -> None:
        # A string that one variable alone holds grows in place; with an attribute all of it would be copied each time.
        whole, self.text = self.text, ""
        whole += text
        self.text = whole
        del whole
        end = len(self.text) - _CHARS + 1
        for word in _WORD.finditer(self.text, self._noted, max(end, self._noted)):
            anchor = self.text[word.start() : word.start() + _CHARS]
            if _is_anchor(anchor):
                self._places.setdefault(anchor, []).append(word.start())
        self._noted = max(end, self._noted)

    def find(self, piece: str) -> int:
        """The first place of a piece; -1 for none."""
        for word in _WORD.finditer(piece, 1, max(len(piece) - _CHARS + 1, 1)):
            anchor = piece[word.start() : word.start() + _CHARS]
            if _is_anchor(anchor):
                places = (place - word.start() for place in self._places.get(anchor, ()))
                return next((at for at in places if at >= 0 and self.text.startswith(piece, at)), -1)
        return self.text.find(piece)


def _is_anchor(text: str) -> bool:
    return hash(text) % _EACH == 0
