"""Update a corpus: documents -> passages -> vectors -> index, only for new and changed documents."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.index.catalogue import DocumentEntry, Version, version_of, without_variants
from iterative_rag.index.corpora import Chunking, Corpora, CorpusWriter
from iterative_rag.index.embedders.engines import Engine, LocalEngine, RemoteBatch
from iterative_rag.index.indexing_progress import Progress, ProgressMeter
from iterative_rag.index.sqlite_errors import roots_of
from iterative_rag.index.vector_store import VectorPoint
from iterative_rag.protocols import DocumentSource, Embedder, Skipped, Vectors
from iterative_rag.retrieval import chunking
from iterative_rag.retrieval.lost_rows import with_lost_rows
from iterative_rag.sources.folder import reads
from iterative_rag.sources.metadata import kinds_not_read
from iterative_rag.system.threads import refuse_stopped
from iterative_rag.text.spoken_language import language_of_document
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field

# Passages that are embedded and written in one go at most. Where embedding is slow, a batch holds what takes so many
# seconds, so that a process that is killed loses no more than that.
BATCH = 512
COMMIT_SECONDS = 5.0
# The first batch is one passage, for nothing is known about the embedder; the next are at most so many times larger.
_GROWTH = 8


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What changed. `passages` were embedded in this run; `skipped` says what is no document
    and why, `not_read` how many parts of a kind the documents lack ("charts without text", 3).

    `language` is that of most documents of the corpus, "" where that is English or not clear.
    `covered`: paths that were given but belong to a folder of the corpus, each with that folder, which was indexed
    instead. `notice` says so where most documents are in a language that the built-in models do not read.
    """

    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    passages: int
    seconds: float
    covered: tuple[tuple[str, str], ...] = ()
    language: str = ""
    notice: str = ""
    not_read: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document that was "added", "changed" or "removed", by where it was found."""

    kind: str
    source: str


def ingest(
    sources: Sequence[DocumentSource],
    corpora: Corpora,
    name: str,
    embedder: Embedder,
    *,
    chunk_chars: int = 500,
    chunk_overlap: int = 80,
    alone: bool = False,
    adding: Collection[str] = (),
    engine: Engine | None = None,
    progress: Callable[[Progress], None] | None = None,
    noticed: Callable[[DocumentChange], None] | None = None,
) -> IngestReport:
    """Index the sources into the corpus `name`: an unchanged document is only hashed, a vanished one removed.

    Documents of other sources in the same corpus stay, unless the corpus is to hold these sources `alone`. To the roots
    in `adding` documents are only added: what they held before and do not yield now stays. What was
    indexed by itself and lies in a folder that is indexed now belongs to that folder from then on.
    While a batch is embedded, the next is read and cut. `engine` embeds elsewhere, and is left open.
    Killed or interrupted, the next run goes on, also within a document: at most `engine.ahead` batches (one without an
    engine) are embedded again. Another embedder or chunk size makes the corpus
    anew if the sources hold all of it.
    Each change is `noticed` when it is found, which is before it is written.
    Raises CorpusError, CorpusHeld, CorpusMismatch, EmbedderError or UsageError.
    """
    if chunk_overlap >= chunk_chars:
        message = f"An overlap of {chunk_overlap} characters does not fit into passages of {chunk_chars}."
        raise UsageError(message, hint="Make chunk_overlap less than chunk_chars.")
    if not sources:
        raise UsageError("There is nothing to index.", hint="Give a folder or a file: iterative-rag index PATH")
    sources = list({source.root: source for source in sources}.values())
    cut = Chunking(chunk_chars, chunk_overlap)
    roots = {source.root for source in sources}
    known = set(roots_of(corpora.folder(name))) - roots
    absorbed = [indexed for indexed in known if any(reads(root, indexed) for root in roots)]
    given = [*(source.root for source in sources), *absorbed]
    readings = [(source.root, source.documents()) for source in sources]  # what is not there is said before any writing
    with corpora.writer(name, embedder, cut, given, adding=adding, alone=alone) as writer, ExitStack() as opened:
        engine = engine or opened.enter_context(closing(LocalEngine(embedder)))
        report = _Ingestion(sources, writer, engine, ProgressMeter(sources, progress), adding, noticed).run(readings)
        superseded = [document_id for root in sorted(absorbed) for document_id in writer.view.ids_under(root)]
        superseded += writer.others() if alone else []
        if superseded:
            writer.remove(superseded)
        language = writer.main_language()
    return replace(report, removed=report.removed + len(superseded), language=language)


def id_under(root: str, document_id: str) -> str:
    """The id of a document if a document of another root has taken its own."""
    return hashlib.sha1(f"{root}\n{document_id}".encode()).hexdigest()


class _Job:
    """A document being indexed: its points are written batch by batch, then it is committed."""

    def __init__(self, entry: DocumentEntry, unwritten: int) -> None:
        self.entry = entry
        self.announced = False
        self.unwritten = unwritten


@dataclass(frozen=True, slots=True)
class _Batch:
    """Points on their way to the embedder and back, and when they were sent."""

    points: list[tuple[_Job, VectorPoint]]
    embedding: Future[Vectors] | RemoteBatch
    sent: float


@dataclass(slots=True)
class _Ingestion:
    sources: Sequence[DocumentSource]
    writer: CorpusWriter
    engine: Engine
    progress: ProgressMeter
    adding: Collection[str]
    noticed: Callable[[DocumentChange], None] | None
    queue: list[tuple[_Job, VectorPoint]] = field(default_factory=list)
    embedding: deque[_Batch] = field(default_factory=deque)
    batch_size: int = 1
    last_sent: float = field(default_factory=time.monotonic)
    last_received: float = field(default_factory=time.monotonic)
    seen: dict[str, str] = field(default_factory=dict)  # id -> root
    skipped: list[Skipped] = field(default_factory=list)
    not_read: Counter[str] = field(default_factory=Counter)
    unread: set[str] = field(default_factory=set)  # roots that broke off
    counts: Counter[str] = field(default_factory=Counter)  # of changes, as the report names them
    passages: int = 0

    def run(self, readings: Iterable[tuple[str, Iterable[Document | Skipped]]]) -> IngestReport:
        for root, documents in readings:
            for item in documents:  # raises CorpusError if there is none
                refuse_stopped()
                if isinstance(item, Skipped):
                    self.skipped.append(item)
                    if item.rest_unread:
                        self.unread.add(root)
                else:
                    self._take(item, root)
                self._write()
                self.progress.document(self.passages)
        if not self.seen and self.skipped and not self._emptied():
            first, count = self.skipped[0], len(self.skipped)
            which = "the only file or line was" if count == 1 else f"all {count:,} files or lines were"
            message = f"Nothing could be indexed: {which} skipped."
            raise CorpusError(message, hint=f"The first is {first.source}: {first.reason}")
        self._write(everything=True)
        self._remove_vanished()
        self.writer.finish(broken_off=self.unread)
        self.progress.finished(self.passages)
        counts = self.counts["added"], self.counts["changed"], self.counts["unchanged"], self.counts["removed"]
        run = tuple(self.skipped), self.passages, self.progress.seconds
        return IngestReport(*counts, *run, not_read=tuple(self.not_read.items()))

    def _emptied(self) -> bool:
        """Whether the sources used to hold documents, were read to the end, and hold none now."""
        held = any(self.writer.view.ids_under(source.root) for source in self.sources)
        return held and not self.unread and all(skipped.empty for skipped in self.skipped)

    def _take(self, document: Document, root: str) -> None:
        document = with_lost_rows(without_variants(self._with_free_id(document, root)))
        self.seen[document.id] = root
        self.not_read += kinds_not_read(document)
        content = version_of(document)
        known = self.writer.view.known(document.id)
        if known is not None and known.content == content:
            self.counts["unchanged"] += 1
            self.progress.taken(0)
            if (known.source, known.metadata) != (document.source, document.metadata):
                self.writer.redescribe(document)
            return
        self._notice("changed" if known else "added", document.source)
        version = Version(content, language_of_document(document.text))
        cut = self.writer.chunking
        points = [
            VectorPoint(document.id, version.name, ordinal, part.start, part.end, part.embedded_text, version.language)
            for ordinal, part in enumerate(chunking.chunk(document, size=cut.chars, overlap=cut.overlap))
        ]
        held = self.writer.held(document.id, version.name, len(points))
        missing = [point for point in points if point.ordinal not in held]
        job = _Job(DocumentEntry(document, root, version, len(points)), len(missing))
        self.progress.taken(len(missing))
        if held and not missing:
            self.writer.commit([job.entry])
        self.queue += [(job, point) for point in missing]

    def _notice(self, kind: str, source: str) -> None:
        self.counts[kind] += 1
        if self.noticed:
            self.noticed(DocumentChange(kind, source))

    def _with_free_id(self, document: Document, root: str) -> Document:
        """The document with an id of its own. Ids are relative to a root, so two roots may have the same one."""
        known = self.writer.view.known(document.id)
        owner = self.seen.get(document.id) or (known.root if known else root)
        if owner == root:
            return document
        return replace(document, id=id_under(root, document.id))

    def _write(self, *, everything: bool = False) -> None:
        """Send full batches to be embedded, and write those that come back: bounded memory, documents in order. Where
        the sources are slow, what has come is sent and written after COMMIT_SECONDS, though no batch is full."""
        overdue = time.monotonic() - self.last_sent >= COMMIT_SECONDS
        while len(self.queue) >= self.batch_size or (self.queue and (everything or overdue)):
            self._send_batch()
        while self.embedding and (everything or (overdue and self.embedding[0].embedding.done())):
            self._write_batch()

    def _send_batch(self) -> None:
        refuse_stopped()
        if len(self.embedding) >= self.engine.ahead:
            self._write_batch()
        batch, self.queue = self.queue[: self.batch_size], self.queue[self.batch_size :]
        # Neighbours of similar length need the least padding.
        batch.sort(key=lambda pair: len(pair[1].embedded_text))
        self.last_sent = time.monotonic()
        embedding = self.engine.submit([point.embedded_text for _, point in batch])
        self.embedding.append(_Batch(batch, embedding, self.last_sent))

    def _write_batch(self) -> None:
        first = self.embedding.popleft()
        batch, vectors = first.points, first.embedding.result()
        self._adapt(first)
        jobs = list({id(job): job for job, _ in batch}.values())
        if coming := [job for job in jobs if not job.announced]:
            self.writer.announce(job.entry.points for job in coming)
            for job in coming:
                job.announced = True
        self.writer.write([point for _, point in batch], vectors)
        self.passages += len(batch)
        for job, _ in batch:
            job.unwritten -= 1
        self.writer.commit([job.entry for job in jobs if not job.unwritten])
        self.progress.show(self.passages)

    def _adapt(self, received: _Batch) -> None:
        """Size the next batches to what is embedded in COMMIT_SECONDS."""
        now = time.monotonic()
        seconds = max(now - max(received.sent, self.last_received), 1e-6)
        self.last_received = now
        fitting = len(received.points) * COMMIT_SECONDS / seconds
        self.batch_size = max(1, int(min(BATCH, _GROWTH * self.batch_size, fitting)))

    def _remove_vanished(self) -> None:
        unread = [as_field(skipped.source) for skipped in self.skipped if skipped.unread or skipped.extra]
        for source in self.sources:
            if source.root in self.unread or source.root in self.adding:
                continue
            vanished = []
            for document in (stored for stored in self.writer.view.ids_under(source.root) if stored not in self.seen):
                known = self.writer.view.known(document)
                if known and any(_is_of(known.source, path) for path in unread):
                    continue
                vanished.append(document)
                self._notice("removed", known.source if known else document)
            if vanished:
                self.writer.remove(vanished)


def _is_of(source: str, path: str) -> bool:
    """Whether a document comes from this file, is a record of it, or comes from a file in this folder."""
    return source.startswith(path) and source[len(path) : len(path) + 1] in ("", ":", os.sep)
