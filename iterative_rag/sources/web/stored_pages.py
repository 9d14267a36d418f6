"""A folder of fetched pages: one Markdown file per page, with its origin in the front matter."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.errors import CorpusHeld
from iterative_rag.sources import front_matter
from iterative_rag.sources.formats.format import unreadable
from iterative_rag.sources.front_matter import Fields, text_of
from iterative_rag.system.files import UNFINISHED, unwritable, write_whole

_HEAD_CHARS = front_matter.MAX_CHARS + 1000  # which hold the front matter of a page
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|%]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)  # names of devices on Windows
_NAME_BYTES = 160


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in the folder. `others` are further names that lead to it."""

    title: str
    place: Path
    others: tuple[str, ...]


class StoredPages:
    """One process holds the folder, and pages are written atomically. Usable from several threads. A page is found by
    the name in one field of its front matter, or by those in another, in the spelling of `_key`."""

    _name, _others = "title", "redirects"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[tuple[str, str], StoredPage] = {}
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    def _key(self, name: str, language: str) -> tuple[str, str]:
        return language, name

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Lock the folder against other processes and read what is in it. Raises CorpusError or CorpusHeld."""
        from filelock import FileLock, Timeout

        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock", timeout=0, thread_local=False)
            lock.acquire()
        except Timeout as error:
            message = f"Another process is fetching pages into {self.path}."
            raise CorpusHeld(message, hint="Wait until it is done, or stop it.") from error
        except OSError as error:
            raise unwritable(self.path, error) from error
        try:
            self._read()
            yield
        finally:
            lock.release()

    def store(self, fields: Fields, text: str) -> Path:
        """Store a page under its front matter, in place of an older one of its names; the names of that one stay."""
        language, name, others = text_of(fields, "language"), text_of(fields, self._name), listed(fields, self._others)
        with self._lock:
            keys = [self._key(known, language) for known in (name, *others)]
            older = next((self._found[key] for key in keys if key in self._found), None)
            path = older.place if older else self._new_place(text_of(fields, "title"), f"{language}:{name}")
        names = dict.fromkeys([*(older.others if older else ()), *others])
        fields = {**fields, self._others: tuple(known for known in names if known != name)}
        write_whole(path, (front_matter.join(fields) + text).encode())
        self._learn(path, fields)
        return path

    def _learn(self, path: Path, fields: Fields) -> None:
        title, language, others = text_of(fields, "title"), text_of(fields, "language"), listed(fields, self._others)
        with self._lock:
            for name in filter(None, (text_of(fields, self._name), *others)):
                self._found[self._key(name, language)] = StoredPage(title, path, others)

    def _read(self) -> None:
        try:
            entries = sorted(os.scandir(self.path), key=lambda entry: entry.name)
        except OSError as error:
            raise unwritable(self.path, error) from error
        for entry in entries:
            path = self.path / entry.name
            if entry.name.startswith(UNFINISHED):
                path.unlink(missing_ok=True)  # left by a process that was killed
            if not entry.name.endswith(".md"):
                continue
            self._taken.add(entry.name.casefold())
            if not entry.is_file(follow_symlinks=False):
                continue  # nothing outside the folder is read through a link in it
            try:
                with path.open(encoding="utf-8", errors="replace", newline="") as file:
                    self._learn(path, front_matter.split(file.read(_HEAD_CHARS))[0])
            except OSError as error:
                raise unreadable(path, error) from error

    def _new_place(self, title: str, identity: str) -> Path:
        """A file for the title that no other page has, on file systems that ignore case too."""
        wanted = title.replace(" ", "_")
        name = _FORBIDDEN.sub("_", wanted).lstrip(".")
        name = name.encode()[:_NAME_BYTES].decode(errors="ignore") or "_"
        if name != wanted or _RESERVED.fullmatch(name) or f"{name}.md".casefold() in self._taken:
            name = f"{name}~{hashlib.sha1(identity.encode()).hexdigest()[:8]}"
        self._taken.add(f"{name}.md".casefold())
        return self.path / f"{name}.md"


def listed(fields: Fields, key: str) -> tuple[str, ...]:
    """A field as a list, also where it holds one value; () where it is missing."""
    value = fields.get(key, ())
    return (value,) if isinstance(value, str) else value
