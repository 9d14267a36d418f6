"""The indexes of words and titles that a ZIM file brings, asked in a child process: a damaged one keeps libzim busy for
ever, or crashes it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iterative_rag.system.child_process import ChildProcess, asked_lines

if TYPE_CHECKING:  # the child imports this module, and nothing that it does not need
    from iterative_rag.errors import CorpusError
    from iterative_rag.sources.zim_file import ZimFile

# Of the child. All queries of a need took 0.1 s of processor time at a million articles; a disk may be slow.
_MEGABYTES, _CPU_SECONDS, REPLY_SECONDS = 512, 8, 60

# What is asked, "text" or "title"; words; and how many paths are wanted.
Query = tuple[str, str, int]


class FileIndexes:
    """Safe to use from several threads; one asks at a time. Raises CorpusError where the index is damaged."""

    def __init__(self, file: ZimFile) -> None:
        self._file, self._lock = file, threading.Lock()
        self._child: ChildProcess | None = None
        self.fault: CorpusError | None = None

    def frequency(self, words: str) -> int:
        """About how many pages hold all of these words."""
        return self.ask([("text", words, 0)])[0][0]

    def titled(self, words: str, limit: int) -> list[str]:
        """The paths of the best pages, or redirects, whose title holds words that begin so."""
        return self.ask([("title", words, limit)])[0][1]

    def ask(self, queries: Sequence[Query]) -> list[tuple[int, list[str]]]:
        """For each query about how many pages there are, and the paths of the best: those that hold all of its words,
        stemmed as the index does, or whose title holds words that begin so."""
        with self._lock:
            if self.fault:
                raise self.fault
            child = self._child = self._child or ChildProcess(__name__, str(self._file.path), self._file.identity)
            child.ask(json.dumps(queries).encode())
            line = child.reply(REPLY_SECONDS)
            if not line.endswith(b"\n"):
                self._child = None
                told = f"its index keeps libzim busy for ever, or crashes it ({child.close()})"
                self.fault = self._file.damaged(told)
                raise self.fault
            reply = json.loads(line)
            if isinstance(reply, str):
                raise self._file.damaged(reply)
            return [(int(count), list(map(str, paths))) for count, paths in reply]

    def close(self) -> None:
        with self._lock:
            child, self._child = self._child, None
            if child:
                child.close()


def serve(path: str, identity: str) -> None:
    """Reply to the queries of each line of input, until it ends."""
    from libzim.reader import Archive  # type: ignore[import-untyped]
    from libzim.search import Query as Words  # type: ignore[import-untyped]
    from libzim.search import Searcher
    from libzim.suggestion import SuggestionSearcher  # type: ignore[import-untyped]

    archive = searcher = suggester = None
    for line, output in asked_lines(_MEGABYTES, _CPU_SECONDS):
        replies: list[tuple[int, list[str]]] = []
        fault = ""
        try:
            archive = archive or Archive(path)
            if str(archive.uuid) != identity:
                raise RuntimeError("another file has been put in its place")
            for kind, words, limit in json.loads(line):
                if kind == "text" and not archive.has_fulltext_index:
                    replies.append((0, []))
                    continue
                if kind == "text":
                    searcher = searcher or Searcher(archive)
                    matches = searcher.search(Words().set_query(words))
                else:
                    suggester = suggester or SuggestionSearcher(archive)
                    matches = suggester.suggest(words)
                paths = [*matches.getResults(0, limit)] if limit else []
                replies.append((int(matches.getEstimatedMatches()) if kind == "text" else len(paths), paths))
        except Exception as error:  # noqa: BLE001 - the boundary: whatever libzim raises is told by the parent
            fault = str(error) or type(error).__name__
        output.write(json.dumps(fault or replies).encode() + b"\n")
        output.flush()
