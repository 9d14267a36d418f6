"""A folder of .txt and .md files as documents."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from iterative_rag.corpus import front_matter
from iterative_rag.corpus.decoding import decode
from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.types import Document

SUFFIXES = (".txt", ".md", ".markdown")
MAX_BYTES = 64 * 1024 * 1024

_HEADING = re.compile(r"^#[ \t]+(.{1,300}?)[ \t#]*$", re.MULTILINE)
_TITLE_LOOK = 20_000  # characters in which a heading is looked for


class TextFiles:
    """Walks a folder in sorted order, or reads one file. Links that lead out of the folder are not followed."""

    def __init__(self, path: Path | str, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = Path(path).expanduser().absolute()
        self.max_bytes = max_bytes

    @property
    def root(self) -> str:
        """What the documents belong to: those of it that are not yielded any more have vanished."""
        return _shown(self.path)

    @property
    def total(self) -> int | None:
        """How many documents there are at most."""
        return sum(isinstance(entry, Path) for entry in self._entries())

    def documents(self) -> Iterator[Document | Skipped]:
        """Raises CorpusError when the path is missing or cannot be read, or holds no text file at all."""
        empty = True
        for entry in self._entries():
            empty = False
            yield entry if isinstance(entry, Skipped) else self._read(entry)
        if empty:
            raise CorpusError(
                f"{self.path} holds no {', '.join(SUFFIXES)} files.",
                hint="Give a folder of .txt or .md files, or a .jsonl of {title, text}.",
            )

    def _entries(self) -> Iterator[Path | Skipped]:
        if not self.path.exists():
            raise CorpusError(f"There is no file or folder {self.path}.", hint="Check the path.")
        if self.path.is_file():
            yield self.path
            return
        try:
            os.scandir(self.path).close()
        except OSError as error:
            raise CorpusError(
                f"The folder {self.path} cannot be read: {error.strerror}.", hint="Check its permissions."
            ) from error
        yield from self._walk(str(self.path), os.path.realpath(self.path))

    def _walk(self, folder: str, real_root: str) -> Iterator[Path | Skipped]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(_shown(folder), f"The folder cannot be read: {error.strerror}.")
            return
        for entry in entries:
            if entry.is_symlink():
                fault = _fault_of_link(entry.path, real_root)
                if fault and (os.path.isdir(entry.path) or _is_text(entry.name)):
                    yield Skipped(_shown(entry.path), fault)
                elif not fault and _is_text(entry.name):
                    yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    yield from self._walk(entry.path, real_root)
            elif _is_text(entry.name) and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)

    def _read(self, path: Path) -> Document | Skipped:
        source = _shown(path)
        try:
            size = path.stat().st_size
            if size > self.max_bytes:
                limit = self.max_bytes / 1e6
                return Skipped(source, f"It is larger ({size / 1e6:.0f} MB) than the limit of {limit:.0f} MB.")
            data = path.read_bytes()
        except OSError as error:
            return Skipped(source, f"It cannot be read: {error.strerror}.")
        decoded = decode(data)
        if not isinstance(decoded, str):
            return Skipped(source, decoded.reason)
        fields, text = front_matter.split(decoded)
        title = front_matter.text_of(fields, "title") or _title(text, Path(source).stem)
        if not text.strip():
            return Skipped(source, "It is empty.")
        relative = path.name if path == self.path else path.relative_to(self.path).as_posix()
        url = front_matter.text_of(fields, "url")
        url = url if url.startswith(("http://", "https://")) else ""
        return Document(hashlib.sha1(os.fsencode(relative)).hexdigest(), title, text, source, url or None)


def _shown(path: Path | str) -> str:
    """A path as text: file names may hold bytes that are none, which no database or terminal takes."""
    return os.fsencode(path).decode("utf-8", "replace")


def _is_text(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def _fault_of_link(path: str, real_root: str) -> str | None:
    """Why a symbolic link is not followed; None for a link to a file inside the folder."""
    real = os.path.realpath(path)
    if os.path.commonpath([real, real_root]) != real_root:
        return "It is a link that leads out of the folder."
    if os.path.isdir(real):
        return "It is a link to a folder, which would be read twice."
    if not os.path.exists(real):
        return "It is a link that leads nowhere."
    return None


def _title(text: str, stem: str) -> str:
    """The first `# ` heading, or the file name."""
    heading = _HEADING.search(text, 0, _TITLE_LOOK)
    return heading[1] if heading else stem.replace("_", " ")
