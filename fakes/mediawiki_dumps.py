"""Writes small MediaWiki dumps: XML as a wiki exports it, plain or packed."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
<siteinfo><sitename>Mill Wiki</sitename><dbname>millwiki</dbname><base>https://mill.example/wiki/Main_Page</base>
<namespaces><namespace key="0" case="first-letter" /><namespace key="1" case="first-letter">Talk</namespace>
<namespace key="6" case="first-letter">Datei</namespace></namespaces></siteinfo>
"""


def page(
    title: str, text: str = "Text.", number: int = 1, *, ns: int = 0, to: str = "", model: str = "wikitext"
) -> str:
    redirect = f"<redirect title={quoteattr(to)} />" if to else ""
    return (
        f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>{number}</id>{redirect}<revision><id>{number + 900}</id>"
        f"<contributor><id>7</id></contributor><model>{model or 'wikitext'}</model><format>text/x-wiki</format>"
        f'<text bytes="9" xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def dump(folder: Path, *pages: str, name: str = "dump.xml", head: str = HEAD, tail: str = "</mediawiki>") -> Path:
    data = (head + "".join(pages) + tail).encode()
    packers: dict[str, Callable[[bytes], bytes]] = {".bz2": bz2.compress, ".gz": gzip.compress}
    path = folder / name
    path.write_bytes(packers.get(path.suffix, bytes)(data))
    return path
