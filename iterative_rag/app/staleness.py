"""What has changed at the sources of a corpus, or of one answer, since it was indexed. Compares hashes; embeds
nothing."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape, iglob
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import version_of
from iterative_rag.index.corpora import Corpora
from iterative_rag.protocols import Corpus, DocumentSource, Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import format_in_folder, shown
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Answer, Citation, Document

_PLACE_IN_FILE = lazy_pattern(r"[:#][^/]*$")
# A larger file is not read for an answer: that it was written again says enough.
MOST_READ = 16 * 1024 * 1024


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
    from iterative_rag.index.ingest import id_under

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
        # Where nothing was read, indexing would refuse, too: it may be readable again.
        if broken := broken or ("" if seen else unreadable):
            unread.append((root, broken))
        missing = 0 if broken else len(held.keys() - seen)
        new, changed, gone = new + counts[0], changed + counts[1], gone + missing
        if any(counts) or missing:
            roots.append(root)
    return Staleness(new, changed, gone, tuple(roots), tuple(unread))


def changed_since(answer: Answer, corpus: Corpus) -> str:
    """A sentence for the user where files do not hold any more what an answer cites of them; "" where all do. Only a
    file that was written after the corpus was made is read."""
    made_at = getattr(corpus, "made_at", math.inf)  # the files of a collection that another program wrote are unknown
    cited: dict[str, list[Citation]] = {}
    for citation in answer.citations:
        if not citation.retrieved and Path(citation.source).is_absolute():
            cited.setdefault(citation.source, []).append(citation)
    files = {source: _files_of(source) for source in cited}
    told = [
        f"{''.join(f'[{citation.n}]' for citation in citations)} {source}"
        for source, citations in cited.items()
        if any(_is_newer(file, made_at) for file in files[source])
        and not any(_holds(file, citations) for file in files[source])
    ]
    if not told:
        return ""
    status = shlex.join(["iterative-rag", "corpus", "status", answer.citations[0].corpus or corpus.name])
    return f"Changed since it was indexed: {', '.join(told)}. The quote may be old; to see what to index: {status}"


def _files_of(source: str) -> list[Path]:
    """The files that a source may lie in: that of a record has its line or number behind it, that of an archive a name.
    Bytes of a name that are no text are shown as U+FFFD, so several files may be shown alike."""
    paths = (Path(source), Path(_PLACE_IN_FILE.sub("", source)), *Path(source).parents)
    for path in paths:
        alike = map(Path, iglob(escape(str(path)).replace("\ufffd", "*")))
        if files := [file for file in alike if file.is_file() and shown(file) == str(path)]:
            return files
    return [paths[1]]


def _is_newer(path: Path, made_at: float) -> bool:
    """Whether a file was written or moved here after the corpus was made, or is gone; False where it cannot be told."""
    try:
        at = path.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return max(at.st_mtime, at.st_ctime) >= made_at


def _holds(path: Path, cited: Sequence[Citation]) -> bool:
    """Whether every quote stands at its place in a document of the file."""
    if not path.exists() or format_in_folder(path.name) is None or path.stat().st_size > MOST_READ:
        return False
    missing = {(citation.start, citation.end, citation.quote) for citation in cited}
    with suppress(CorpusError):
        for document in Folder(path).documents():
            if isinstance(document, Document):
                missing = {quote for quote in missing if document.text[quote[0] : quote[1]] != quote[2]}
    return not missing
