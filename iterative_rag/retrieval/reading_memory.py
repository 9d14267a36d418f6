"""What was read before: the texts that one run was shown, and what was extracted from windows in any run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iterative_rag.protocols import Cache, Extractor
from iterative_rag.remote.reply_limits import MAX_FIELD_CHARS
from iterative_rag.retrieval.spans import Span, merged, without
from iterative_rag.storage.cache import cache_key
from iterative_rag.types import Extract, Fact, Need, Window

# Which needs and which window an extract belongs to says the key, not the entry.
_TEXTS = ("statement", "quote", "value")
# The extracts of one window, far more than a model is asked for.
MOST_EXTRACTS = 1000


@dataclass(slots=True)
class ReadingMemory:
    """What one run was shown, for which needs, and what it held: no text is shown twice to a question, whatever the
    need. Of an article that has just become the subject only those sentences come again that may tell what is asked,
    and were not quoted: before, nobody looked for them. `_read` holds the spans by need, and whether that names the
    document."""

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


@dataclass(frozen=True, slots=True)
class ExtractCache:
    """Caches what was extracted from a window. Quotes are verified again by the reader: a cached extract is input, too.

    There is one entry for each need, whatever other needs a call asked for, so a window that was read for two needs is
    found for one of them alone, and the other way round. What serves another part of the question has an entry of its
    own, since it depends on the question; a need that another question asked before is found without it.
    """

    cache: Cache
    extractor: Extractor

    def get(self, needs: Sequence[Need], window: Window, question: str) -> tuple[Extract, ...] | None:
        """What the window says about all the needs and the question; None if it was not read for one of the needs."""
        gathered: list[Extract] = []
        for n, need in enumerate(needs):
            extracts = self.cache.get(self._key(window, need.key), _extracts)
            if extracts is None:
                return None
            gathered += [replace(extract, needs=(n,)) for extract in extracts]
        if question:
            gathered += self.cache.get(self._key(window, "question", Need(question).key), _extracts) or ()
        return tuple(gathered)

    def put(self, needs: Sequence[Need], window: Window, question: str, extracts: Sequence[Extract]) -> None:
        for n, need in enumerate(needs):
            served = [extract for extract in extracts if n in extract.needs]
            self._put(self._key(window, need.key), served)
        if question:
            unasked = [extract for extract in extracts if not extract.needs]
            self._put(self._key(window, "question", Need(question).key), unasked)

    def _put(self, key: str, extracts: Sequence[Extract]) -> None:
        self.cache.put(key, [{name: getattr(extract, name) for name in (*_TEXTS, "score")} for extract in extracts])

    def _key(self, window: Window, *asked: str) -> str:
        """The content, what was asked, and the version of model, prompt and schema: an edited document misses."""
        return cache_key("extract", self.extractor.fingerprint, window.title, window.text, *asked)


def _extracts(value: Any) -> tuple[Extract, ...]:
    """The extracts of a JSON value, which serve no need yet. Raises ValueError where it has another form."""
    if not isinstance(value, list) or len(value) > MOST_EXTRACTS or not all(map(_is_extract, value)):
        raise ValueError("not a list of facts")
    return tuple(Extract(**row, needs=()) for row in value)


def _is_extract(row: Any) -> bool:
    if not isinstance(row, dict) or row.keys() != {*_TEXTS, "score"}:
        return False
    short = all(isinstance(row[name], str) and len(row[name]) <= MAX_FIELD_CHARS for name in _TEXTS)
    return short and type(row["score"]) in (int, float) and 0 <= row["score"] <= 1
