"""What has changed at the sources of a corpus since it was indexed. Compares hashes; embeds nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import version_of
from iterative_rag.index.corpora import Corpora
from iterative_rag.ingest import id_under
from iterative_rag.protocols import DocumentSource, Skipped


@dataclass(frozen=True, slots=True)
class Staleness:
    """Documents that are new, changed or gone at their sources; `unread` are sources that cannot be compared, with why.

    `roots` are the sources with a difference: what to index again.
    """

    new: int
    changed: int
    gone: int
    roots: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]


def staleness(corpora: Corpora, name: str, open_source: Callable[[str], DocumentSource]) -> Staleness:
    """Read every source of a corpus again. Raises CorpusNotFound or CorpusDamaged."""
    new = changed = gone = 0
    roots: list[str] = []
    unread: list[tuple[str, str]] = []
    for root, held in corpora.versions(name).items():
        seen: set[str] = set()
        counts = [0, 0]
        broken = unreadable = ""
        try:
            for document in open_source(root).documents():
                if isinstance(document, Skipped):
                    broken = document.reason if document.rest_unread else broken
                    unreadable = unreadable or ("" if document.empty else document.reason)
                    continue
                key = document.id if document.id in held else id_under(root, document.id)
                seen.add(key)
                counts[0] += key not in held
                counts[1] += key in held and held[key] != version_of(document)
        except CorpusError as error:
            unread.append((root, " ".join(filter(None, (str(error), error.hint)))))
            continue
        if not seen:
            broken = broken or unreadable  # indexing would refuse, too: it may be readable again
        if broken:
            unread.append((root, broken))
        missing = 0 if broken else len(held.keys() - seen)
        new, changed, gone = new + counts[0], changed + counts[1], gone + missing
        if any(counts) or missing:
            roots.append(root)
    return Staleness(new, changed, gone, tuple(roots), tuple(unread))
