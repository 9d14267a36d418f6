"""Texts of office programs (Word, OpenDocument) as HTML for our reader of pages, and what of them is not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import html
from iterative_rag.sources.metadata import not_read
from iterative_rag.types import Document


class OfficeHtml:
    """The blocks of a text. What is anchored in the words of a block stands behind it, notes stand at the end."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.filled = False
        self.beside: list[str] = []  # what is anchored in the words read so far: boxes, objects, comments
        self.notes: list[str] = []

    def documents(
        self, blocks: Iterable[str], source: str, title: str, said: Iterable[tuple[str, str]] = ()
    ) -> Iterator[Document | Skipped]:
        """The document of these blocks, with what is `said` of it; none where they hold no text. Raises FetchError."""
        whole = [*blocks]
        whole += self.notes
        headings = [at for at, block in enumerate(whole[:5]) if block.startswith("<h2>")]
        if headings and not any(block.startswith("<h1>") for block in whole):  # then it is the title
            whole[headings[0]] = whole[headings[0]].replace("h2>", "h1>")
        if self.filled:
            yield html.page("".join(whole), source, title, [*not_read(self.kinds), *said])

    def paragraph(self, tag: str, label: str, words: str) -> Iterator[str]:
        if words.strip():
            self.filled = True
            yield f"<{tag}>{escape(f'{label} ' if label else '')}{words}</{tag}>"

    def waiting(self) -> list[str]:
        """What is anchored in the words read so far, to be written behind them."""
        beside, self.beside = self.beside, []
        return beside

    def apart(self, blocks: Iterable[str]) -> list[str]:
        """Blocks that stand within a paragraph, of which some may wait."""
        waiting, self.beside = self.beside, []
        held = [*blocks]
        self.beside = waiting
        return held

    def note(self, sign: str, blocks: Iterable[str]) -> str:
        """The mark of a note, which stands at the end under its sign."""
        self.notes += labelled(sign, self.apart(blocks))
        return f"<sup>{sign}</sup>"


def labelled(label: str, blocks: list[str]) -> list[str]:
    """Blocks with a label before the text of the first."""
    return [block.replace(">", f">{escape(label)} ", 1) for block in blocks[:1]] + blocks[1:]


def marked(words: str, shift: str, *, struck: bool) -> str:
    """Words that are raised, lowered (`shift` begins with "sup" or "sub") or struck."""
    if shift[:3] in ("sup", "sub"):
        words = f"<{shift[:3]}>{words}</{shift[:3]}>"
    return f"<s>{words}</s>" if struck and words.strip() else words


def table(rows: Iterable[Iterable[str]]) -> str:
    """Rows of written cells as a table."""
    return '<table class="wikitable"><tr>' + "</tr><tr>".join(map("".join, rows)) + "</tr></table>"
