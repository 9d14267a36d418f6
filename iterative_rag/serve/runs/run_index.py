"""What lists and searches show of the runs of the past, kept in memory so that a trace is read once.

An entry belongs to the size and the time of change of its trace, so it cannot outlive what it was made from.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from iterative_rag.serve.rag_pool import asked_only
from iterative_rag.serve.runs.events import PastError
from iterative_rag.storage.past_runs import PastRun, read_run, trace_files
from iterative_rag.types import Status

# Entries that are kept, most of them of 1 or 2 kB; older runs are read each time.
_MOST = 2_000
# How much of question and answer is searched.
_SEARCHED_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in a list; the fields are those of `PastRun`. `standing` is how far its ending can be trusted: the word of
    confidence, or else the status. `searched` are question and answer, case-folded, `cited` the titles of
    the documents that the answer cites."""

    run_id: str
    question: str
    at: datetime | None
    status: str
    short_answer: str
    reason: str
    standing: str
    corpus: str
    backend: str
    strategy: str
    searched: str
    cited: frozenset[str]


class RunIndex:
    """The runs of the data folder. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Path, tuple[tuple[int, int], RunEntry]] = {}

    def runs(self, served: Iterable[str], words: str = "") -> Iterator[RunEntry]:
        """The runs over corpora of `served` alone whose question or answer holds all the words, the newest first.
        Raises CorpusError."""
        corpora, wanted = frozenset(served), words.casefold().split()
        files = trace_files()
        with self._lock:
            for gone in self._known.keys() - set(files[:_MOST]):
                del self._known[gone]
        for number, path in enumerate(files):
            entry = self._entry(path, keep=number < _MOST)
            if entry and asked_only(entry.corpus, corpora) and all(word in entry.searched for word in wanted):
                yield entry

    def _entry(self, path: Path, *, keep: bool) -> RunEntry | None:
        """None for a trace that was deleted meanwhile."""
        try:
            stat = path.stat()
            written = stat.st_mtime_ns, stat.st_size
            known = self._known.get(path)
            if known and known[0] == written:
                return known[1]
            entry = run_entry(read_run(path))
        except FileNotFoundError:
            return None
        if keep:
            with self._lock:
                self._known[path] = written, entry
        return entry


def run_entry(run: PastRun) -> RunEntry:
    """A run as lists show it."""
    answer = run.answer
    cited = answer.get("citations")
    titles = (one.get("title") for one in cited if isinstance(one, dict)) if isinstance(cited, list) else ()
    said = f"{run.question}\n{run.short_answer}\n{answer.get('text', '')}"
    return RunEntry(
        run_id=run.run_id,
        question=run.question,
        at=run.at,
        status=run.status,
        short_answer=run.short_answer,
        reason=run.reason,
        standing=_standing(run),
        corpus=run.corpus,
        backend=run.backend.split("?")[0].split("@")[0],
        strategy=str(run.first.get("strategy", "")),
        searched=said[:_SEARCHED_CHARS].casefold(),
        cited=frozenset(title for title in titles if isinstance(title, str)),
    )


def _standing(run: PastRun) -> str:
    if run.status != Status.ANSWERED:
        return run.status
    return run.confidence_word or run.status


def past_state(status: str) -> str:
    """That of a run of the past, by how it ended or was answered: done, failed, stopped or unfinished."""
    if status in ("failed", "stopped"):
        return status
    return "unfinished" if status in ("unfinished", "damaged") else "done"


def past_error(run: PastRun) -> PastError:
    """The error that ended a run."""
    return PastError(str(run.last.get("error", "")), run.reason)
