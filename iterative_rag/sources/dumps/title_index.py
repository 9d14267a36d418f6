"""The index beside a multistream dump: the byte at which the stream of 100 pages begins that holds a title."""

from __future__ import annotations

import bz2
import html
import re
from collections.abc import Collection, Generator, Iterator
from pathlib import Path

from iterative_rag.sources.dumps.pages_xml import DumpDamaged, DumpPage, DumpSite, PagesParser
from iterative_rag.sources.wikipedia.page_names import PageName

_DUMP = re.compile(r"(.*multistream)(\d*)\.xml(.*)\.bz2")
_BLOCK = 1 << 18
_MAX_LINE = 1 << 16
# A stream is 100 pages, and MediaWiki's own limit for one is 2 MB.
_MAX_STREAM = 512 * 1024 * 1024


def key_of(title: str) -> str:
    """The same for all spellings that a wiki takes for one title."""
    return PageName(" ".join(title.replace("_", " ").split())).key[1]


def index_of(dump: Path) -> Path | None:
    """The index beside a dump, if there is one."""
    named = _DUMP.fullmatch(dump.name)
    if named is None:
        return None
    name = f"{named[1]}-index{named[2]}.txt{named[3]}"
    return next((path for path in (dump.with_name(f"{name}.bz2"), dump.with_name(name)) if path.is_file()), None)


class Multistream:
    """Reads single streams of a dump. Raises OSError, EOFError or DumpDamaged where index or stream is damaged."""

    def __init__(self, dump: Path, index: Path, max_chars: int) -> None:
        self.dump = dump
        self.index = index
        self.max_chars = max_chars

    def site(self) -> DumpSite:
        """The wiki, which the first stream describes."""
        parser = PagesParser(self.max_chars)
        for data in self._stream(0):
            parser.feed(data)
        return parser.site

    def pages_of(self, keys: Collection[str]) -> Generator[DumpPage, None, None]:
        """The pages of the streams that hold these titles, others among them."""
        for offset in sorted(self._offsets(keys)):
            parser = PagesParser(self.max_chars)
            parser.feed(b"<mediawiki>")
            for data in self._stream(offset):
                parser.feed(data)
                yield from parser.take()

    def _offsets(self, keys: Collection[str]) -> set[int]:
        """Where the streams begin that hold these titles."""
        found: dict[str, int] = {}
        with (bz2.open if self.index.suffix == ".bz2" else open)(self.index, "rb") as file:
            while (line := file.readline(_MAX_LINE)) and len(found) < len(keys):
                offset, _, title = line.decode("utf-8", "replace").rstrip("\n").split(":", 2)
                key = key_of(html.unescape(title) if "&" in title else title)
                if key in keys:
                    found[key] = int(offset)
        return set(found.values())

    def _stream(self, offset: int) -> Iterator[bytes]:
        decompressor = bz2.BZ2Decompressor()
        length = 0
        with self.dump.open("rb") as file:
            file.seek(offset)
            while not decompressor.eof:
                compressed = file.read(_BLOCK) if decompressor.needs_input else b""
                if decompressor.needs_input and not compressed:
                    raise EOFError("it is cut off")
                data = decompressor.decompress(compressed, _BLOCK)
                length += len(data)
                if length > _MAX_STREAM:
                    raise DumpDamaged(f"a stream is larger than {_MAX_STREAM / 1e6:.0f} MB")
                yield data
