"""The index beside a multistream dump: at which byte the stream of 100 pages begins that holds a title."""

from __future__ import annotations

import bz2
import html
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from iterative_rag.sources.dumps.pages_xml import DumpDamaged, DumpPage, DumpSite, PagesParser
from iterative_rag.sources.wikipedia.page_names import PageName

_DUMP = re.compile(r"(.*multistream)(\d*)\.xml(.*)\.bz2")
_BLOCK = 1 << 18
_MOST_LINE = 1 << 16
# A stream is 100 pages, and MediaWiki's own limit for one is 2 MB.
_MOST_STREAM = 512 * 1024 * 1024


def key_of(title: str) -> str:
    """The same for all spellings of a title that a wiki takes for one."""
    return PageName(" ".join(title.replace("_", " ").split())).key[1]


def index_of(dump: Path) -> Path | None:
    """The index that lies beside a dump, if one does."""
    named = _DUMP.fullmatch(dump.name)
    if named is None:
        return None
    name = f"{named[1]}-index{named[2]}.txt{named[3]}"
    return next((place for place in (dump.with_name(f"{name}.bz2"), dump.with_name(name)) if place.is_file()), None)


class Multistream:
    """Reads single streams of a dump. Raises OSError, EOFError or DumpDamaged where index or stream is damaged."""

    def __init__(self, dump: Path, index: Path, most_chars: int) -> None:
        self.dump = dump
        self.index = index
        self.most_chars = most_chars

    def site(self) -> DumpSite:
        """What the first stream, which holds no page, says of the wiki."""
        parser = PagesParser(self.most_chars)
        with self.dump.open("rb") as file:
            for data in self._stream(file, 0):
                parser.feed(data)
        return parser.site

    def offsets(self, keys: Collection[str]) -> dict[str, int]:
        """Where the streams begin that hold these titles; titles that are not there are left out."""
        found: dict[str, int] = {}
        with self._open_index() as file:
            while (line := file.readline(_MOST_LINE)) and len(found) < len(keys):
                offset, _, title = line.decode("utf-8", "replace").rstrip("\n").split(":", 2)
                key = key_of(html.unescape(title) if "&" in title else title)
                if key in keys:
                    found[key] = int(offset)
        return found

    def pages(self, offset: int) -> Iterator[DumpPage]:
        parser = PagesParser(self.most_chars)
        parser.feed(b"<mediawiki>")
        with self.dump.open("rb") as file:
            for data in self._stream(file, offset):
                parser.feed(data)
                yield from parser.taken()

    def _open_index(self) -> BinaryIO:
        if self.index.suffix == ".bz2":
            return cast(BinaryIO, bz2.open(self.index, "rb"))
        return self.index.open("rb")

    def _stream(self, file: BinaryIO, offset: int) -> Iterator[bytes]:
        file.seek(offset)
        unpack = bz2.BZ2Decompressor()
        length = 0
        while not unpack.eof:
            packed = file.read(_BLOCK) if unpack.needs_input else b""
            if unpack.needs_input and not packed:
                raise EOFError("it is cut off")
            data = unpack.decompress(packed, _BLOCK)
            length += len(data)
            if length > _MOST_STREAM:
                raise DumpDamaged(f"a stream is larger than {_MOST_STREAM / 1e6:.0f} MB")
            yield data
