"""Offline encyclopedias: pages a second, MB a second and peak memory of each source, on invented pages.

    python scripts/bench_dump.py [--mb 60] [--pages-of-zim 3000] [--folder DIR] [--only xml bz2 gz titles zim]

Writes a dump of --mb MB of XML (plain, gzipped, and as a multistream .bz2 with its index) and a ZIM archive, then
reads each to its end in a process of its own. MB are those of the XML, or of the HTML in the archive.
`titles` are 100 pages by the index; `zim-any` is an archive whose pages were not added in the order of their paths.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from iterative_rag.sources.dumps.dump import MediaWikiDump
from iterative_rag.sources.dumps.wikitext import to_html
from iterative_rag.sources.formats.zim import ZimArchive
from iterative_rag.types import Document

_SYLLABLES = ["ba", "ker", "lo", "mi", "ran", "tu", "vel", "shi", "dor", "an", "pes", "qui", "na", "gro", "le"]
_HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en"><siteinfo>
<sitename>Bench</sitename><dbname>benchwiki</dbname><base>https://bench.example/wiki/Main_Page</base>
<namespaces><namespace key="0" case="first-letter" /><namespace key="6">File</namespace></namespaces></siteinfo>
"""


def word(rng: random.Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4)))


def prose(rng: random.Random, words: int) -> str:
    said = []
    for _ in range(words):
        one = word(rng)
        dice = rng.random()
        said.append(f"[[{one}]]" if dice < 0.06 else f"[[{one}|{word(rng)}]]" if dice < 0.1 else one)
        if dice > 0.985:
            said.append(f"{{{{convert|{rng.randint(1, 900)}|km|mi}}}}")
        elif dice > 0.97:
            said[-1] += f".<ref name={one}>{{{{cite web|url=http://{one}.example|title={one}}}}}</ref>"
    return " ".join(said) + "."


def page(rng: random.Random, number: int) -> tuple[str, str]:
    title = f"{word(rng).title()} {number}"
    rows = "".join(
        f"|-\n| [[{word(rng)}]] || {rng.randint(1, 10**6)} || {{{{flag|{word(rng)}}}}}\n"
        for _ in range(rng.randint(3, 30))
    )
    sections = "".join(
        f"\n== {word(rng).title()} ==\n{prose(rng, 150)}\n\n{prose(rng, 80)}\n* {word(rng)}\n* {prose(rng, 8)}\n"
        for _ in range(rng.randint(1, 6))
    )
    return title, (
        f"{{{{Infobox settlement\n| name = {title}\n| population = {rng.randint(1, 10**6)}\n| mayor = [[{word(rng)}]]\n"
        f"| founded = {{{{start date|{rng.randint(1000, 1999)}|5|6}}}}\n}}}}\n"
        f"'''{title}''' is {prose(rng, 120)}\n{sections}"
        f'== Numbers ==\n{{| class="wikitable"\n|+ {word(rng)}\n! Name !! Count !! Where\n{rows}|}}\n'
        f"== References ==\n{{{{reflist}}}}\n{{{{Navbox|name={word(rng)}}}}}\n[[Category:{word(rng)}]]\n"
    )


def element(number: int, title: str, text: str) -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>0</ns><id>{number}</id><revision><id>{number + 10**6}</id>"
        f'<model>wikitext</model><text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def elements(megabytes: float) -> Iterator[tuple[int, str, str]]:
    rng = random.Random(5)
    size = number = 0
    while size < megabytes * 1e6:
        number += 1
        title, text = page(rng, number)
        one = element(number, title, text)
        size += len(one)
        yield number, title, one


def write_dumps(folder: Path, megabytes: float, only: Sequence[str]) -> list[str]:
    """The files that are asked for; returns 100 of the titles."""
    titles: list[str] = []
    packed = "bz2" in only or "titles" in only
    with (
        (folder / "bench.xml").open("w", encoding="utf-8") as plain,
        (folder / "bench-multistream.xml.bz2").open("wb") as multi,
        bz2.open(folder / "bench-multistream-index.txt.bz2", "wt", encoding="utf-8") as index,
        gzip.open(folder / "bench.xml.gz", "wt", encoding="utf-8", compresslevel=3) as zipped,
    ):
        stream: list[str] = [_HEAD]
        at = 0
        for number, title, one in elements(megabytes):
            titles.append(title)
            if number % 100 == 1 and packed:
                at += multi.write(bz2.compress("".join(stream).encode()))
                stream = []
            if packed:
                stream.append(one)
                index.write(f"{at}:{number}:{title}\n")
            for file in [plain] * ("xml" in only) + [zipped] * ("gz" in only):
                file.write((_HEAD if number == 1 else "") + one)
        for file in (plain, zipped):
            file.write("</mediawiki>")
        multi.write(bz2.compress(("".join(stream) + "</mediawiki>").encode()))
    return titles[:: max(1, len(titles) // 100)][:100]


def write_zim(path: Path, count: int, ordered: bool, results: Any) -> None:
    """Reports the MB of HTML in it."""
    from libzim.writer import Creator, Hint, Item, StringProvider  # type: ignore[import-untyped]

    class Entry(Item):  # type: ignore[misc]
        def __init__(self, path: str, content: str) -> None:
            super().__init__()
            self.path = path
            self.content = content

        def get_path(self) -> str:
            return self.path

        def get_title(self) -> str:
            return self.path.replace("_", " ")

        def get_mimetype(self) -> str:
            return "text/html"

        def get_contentprovider(self) -> Any:
            return StringProvider(self.content)

        def get_hints(self) -> dict[Any, int]:
            return {Hint.FRONT_ARTICLE: 1}

    rng = random.Random(6)
    pages = [page(rng, number) for number in range(count)]
    pages.sort(key=lambda one: one[0]) if ordered else rng.shuffle(pages)
    size = 0
    path.unlink(missing_ok=True)
    with Creator(path) as creator:
        for title, text in pages:
            body = to_html(text, title)[0]
            html = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
            size += len(html)
            creator.add_item(Entry(title.replace(" ", "_"), html))
        creator.add_metadata("Language", "eng")
    results.put(size / 1e6)


def apart(work: Callable[..., None], *given: Any) -> Any:
    """What a function reports, done in a process of its own: peak memory is that of the process."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=work, args=(*given, results))
    process.start()
    reported = results.get()
    process.join()
    return reported


def read(source: MediaWikiDump | ZimArchive, results: Any) -> None:
    resource_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    began, used = time.perf_counter(), time.process_time()
    documents = skipped = 0
    for one in source.documents():
        documents += isinstance(one, Document)
        skipped += not isinstance(one, Document)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    results.put(
        (documents, skipped, time.perf_counter() - began, time.process_time() - used, peak, peak - resource_before)
    )


def measure(name: str, source: MediaWikiDump | ZimArchive, megabytes: float) -> None:
    documents, skipped, wall, used, peak, grown = apart(read, source)
    print(
        f"{name:8} {documents:7} pages, {skipped} skipped  {wall:7.1f} s ({used:.1f} s of CPU)  "
        f"{documents / wall:7.0f} pages/s  {megabytes / wall:6.2f} MB/s ({megabytes / used:.2f} a CPU second)  "
        f"peak {peak:.0f} MB, {grown:.0f} of them reading",
        flush=True,
    )


def main() -> None:
    kinds = ["xml", "gz", "bz2", "titles", "zim", "zim-any"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, default=60)
    parser.add_argument("--pages-of-zim", type=int, default=3000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        if {"xml", "gz", "bz2", "titles"} & set(options.only):
            titles = write_dumps(folder, options.mb, options.only)
            for kind, file in (("xml", "bench.xml"), ("gz", "bench.xml.gz"), ("bz2", "bench-multistream.xml.bz2")):
                if kind in options.only:
                    measure(kind, MediaWikiDump(folder / file), options.mb)
            if "titles" in options.only:
                measure("titles", MediaWikiDump(folder / "bench-multistream.xml.bz2", titles=titles), options.mb)
        for kind, ordered in (("zim", True), ("zim-any", False)):
            if kind in options.only:
                size = apart(write_zim, folder / f"{kind}.zim", options.pages_of_zim, ordered)
                measure(kind, ZimArchive(folder / f"{kind}.zim"), size)


if __name__ == "__main__":
    main()
