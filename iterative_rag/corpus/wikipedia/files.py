"""A folder of pages: one readable .md a page, with where it comes from in its front matter."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.corpus import front_matter
from iterative_rag.corpus.front_matter import text_of
from iterative_rag.corpus.wikipedia.names import PageName
from iterative_rag.errors import CorpusError, CorpusHeld

_HEAD_CHARS = front_matter.MOST_CHARS + 1000
_UNFIT = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|%]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)  # names of devices on Windows
_NAME_BYTES = 160
_TEMPORARY = ".fetching-"


@dataclass(frozen=True, slots=True)
class PageFile:
    """A page as it is stored. `redirects` are the titles that were asked for and led here; dates are ISO 8601, UTC."""

    title: str
    url: str
    revision: int
    revised: str
    fetched: str
    licence: str
    language: str
    redirects: tuple[str, ...]
    text: str


class PageFolder:
    """What is stored in a folder, and under which titles. Usable from several threads of one process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[tuple[str, str], Path] = {}
        self._titles: dict[Path, str] = {}
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the folder against other processes and learn what is in it. Raises CorpusError or CorpusHeld."""
        from filelock import FileLock, Timeout

        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock", timeout=0, thread_local=False)
            lock.acquire()
        except Timeout as error:
            raise CorpusHeld(
                f"Another process fetches pages into {self.path}.", hint="Wait until it is done, or stop it."
            ) from error
        except OSError as error:
            raise _unwritable(self.path, error) from error
        try:
            self._read()
            yield
        finally:
            lock.release()

    def find(self, name: PageName) -> tuple[str, Path] | None:
        """The title and file of a page that is stored under this title or a redirect to it."""
        place = self._places.get(name.key)
        return (self._titles[place], place) if place else None

    def write(self, page: PageFile) -> Path:
        """Store a page, whole or not at all: a process that is killed leaves no half of it."""
        with self._lock:
            place = self._places.get(PageName(page.title, page.language).key) or self._new_place(page)
            self._taken.add(place.name.casefold())
        fields = {
            "title": page.title,
            "url": page.url,
            "revision": str(page.revision),
            "revised": page.revised,
            "fetched": page.fetched,
            "licence": page.licence,
            "language": page.language,
            "redirects": page.redirects,
        }
        self._replace(place, front_matter.join(fields) + page.text)
        self._remember(place, page.title, page.language, page.redirects)
        return place

    def add_redirects(self, place: Path, titles: Sequence[str]) -> None:
        """Say in a stored page's front matter that these titles lead to it."""
        fields, text = front_matter.split(_read_text(place))
        before = fields.get("redirects", ())
        known = (before,) if isinstance(before, str) else before
        fields["redirects"] = tuple(dict.fromkeys([*known, *titles]))
        self._replace(place, front_matter.join(fields) + text)
        self._remember(place, text_of(fields, "title"), text_of(fields, "language"), titles)

    def _read(self) -> None:
        try:
            entries = sorted(os.scandir(self.path), key=lambda entry: entry.name)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        for entry in entries:
            place = self.path / entry.name
            if entry.name.startswith(_TEMPORARY):
                place.unlink(missing_ok=True)  # of a process that was killed
            if not entry.name.endswith(".md"):
                continue
            self._taken.add(entry.name.casefold())
            if entry.is_file(follow_symlinks=False):  # nothing outside the folder is read through a link in it
                fields, _ = front_matter.split(_read_text(place, _HEAD_CHARS))
                redirects = fields.get("redirects", ())
                redirects = (redirects,) if isinstance(redirects, str) else redirects
                if title := text_of(fields, "title"):
                    self._remember(place, title, text_of(fields, "language"), redirects)

    def _remember(self, place: Path, title: str, language: str, redirects: Sequence[str]) -> None:
        with self._lock:
            self._titles[place] = title
            for one in (title, *redirects):
                self._places[PageName(one, language).key] = place

    def _new_place(self, page: PageFile) -> Path:
        """A file name that says the title and that no other page has, on file systems that ignore case too."""
        name, exact = _file_name(page.title)
        if not exact or f"{name}.md".casefold() in self._taken:
            name = f"{name}~{hashlib.sha1(f'{page.language}:{page.title}'.encode()).hexdigest()[:8]}"
        return self.path / f"{name}.md"

    def _replace(self, place: Path, text: str) -> None:
        try:
            temporary = self.path / f"{_TEMPORARY}{threading.get_ident()}"
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, place)
        except OSError as error:
            raise _unwritable(place, error) from error


def _read_text(place: Path, chars: int = -1) -> str:
    try:
        with place.open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read(chars)
    except OSError as error:
        raise CorpusError(f"{place} cannot be read: {error.strerror}.", hint="Check its permissions.") from error


def _unwritable(place: Path, error: OSError) -> CorpusError:
    return CorpusError(f"{place} cannot be written: {error.strerror}.", hint="Check the folder and the disk.")


def _file_name(title: str) -> tuple[str, bool]:
    """A title as a file name, and whether no other title makes the same one."""
    wanted = title.replace(" ", "_")
    name = _UNFIT.sub("_", wanted).lstrip(".")
    name = name.encode()[:_NAME_BYTES].decode(errors="ignore") or "_"
    return name, name == wanted and not _RESERVED.fullmatch(name)
