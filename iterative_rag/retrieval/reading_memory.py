"""What one run was shown, for which needs, and what it held: no text is shown twice to a question, whatever the need.
Of an article that has just become the subject only those sentences come again that may tell what is asked, and were
not quoted: before, nobody looked for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iterative_rag.retrieval.spans import Span, merged, without
from iterative_rag.types import Fact, Need, Window


@dataclass(slots=True)
class ReadingMemory:
    """The spans that were read of each document, by need, whether that names the document, and the facts that they
    brought."""

    _read: dict[str, list[tuple[Need, tuple[Span, ...], bool]]] = field(default_factory=dict)
    _facts: dict[str, list[Fact]] = field(default_factory=dict)

    def note(self, needs: Sequence[Need], window: Window, *, named: bool) -> None:
        """A window was read for these needs, one of which has `named` its document."""
        self._read.setdefault(window.document_id, []).extend((need, window.spans, named) for need in needs)

    def keep(self, fact: Fact) -> None:
        self._facts.setdefault(fact.document_id, []).append(fact)

    def facts(self, need: Need, document_id: str) -> list[Fact]:
        """What a document is known to say about a need that was asked before."""
        return [fact for fact in self._facts.get(document_id, ()) if fact.need.key == need.key]

    def has_asked(self, need: Need, document_id: str) -> bool:
        """Whether a document was read for this very need; one that could not be read may be listed again."""
        return any(spans and other.key == need.key for other, spans, _ in self._read.get(document_id, ()))

    def spans(self, document_id: str) -> list[Span]:
        """What was shown of a document, in order."""
        return list(merged(span for _, spans, _ in self._read.get(document_id, ()) for span in spans))

    def unquoted(self, document_id: str) -> list[Span]:
        """What was shown of a document and brought no fact; nothing once a need has `named` it."""
        if any(named for _, _, named in self._read.get(document_id, ())):
            return []
        return without(self.spans(document_id), [(fact.start, fact.end) for fact in self._facts.get(document_id, ())])
