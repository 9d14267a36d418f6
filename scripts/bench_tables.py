#!/usr/bin/env python3
"""Whether every infobox field and table cell of a page stands in its Markdown, and how fast it is beside markdownify.

    scripts/bench_tables.py [--rounds 5]

Three pages of invented words as MediaWiki would write them: an infobox, tables with merged cells and nested headers,
lists, references, navigation boxes. markdownify is no dependency: `uv pip install markdownify` brings it for this.
"""

from __future__ import annotations

import argparse
import html
import importlib
import random
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from iterative_rag.sources.wikipedia.page_markdown import to_markdown

SIZES = {"Karsa": 100_000, "Velm": 250_000, "Isles of Orr": 500_000}
SYLLABLES = ("ka", "ve", "lo", "mi", "ra", "du", "sen", "tor", "bri", "el", "os", "wy", "ne", "fal", "gu", "ith")
LABELS = (
    "Country",
    "Founded",
    "Mayor",
    "Area",
    "Population",
    "Density",
    "Elevation",
    "River",
    "Motto",
    "Patron",
    "Mills",
)
_BAR = re.compile(r"(?<!\\)\|")
UNITS = ("km", "m", "t", "ha", "%", "")


@dataclass
class Page:
    """The HTML, and what its Markdown must hold: in one line each, all of the texts of a row."""

    title: str
    html: str = ""
    fields: list[tuple[str, ...]] = field(default_factory=list)
    headers: list[tuple[str, ...]] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    try:
        markdownify = importlib.import_module("markdownify").markdownify
    except ImportError:
        print("markdownify is not installed (uv pip install markdownify): its lines are left out.", file=sys.stderr)
        markdownify = None
    failed = False
    for seed, (title, size) in enumerate(SIZES.items()):
        page = written(title, size, random.Random(seed))
        markdown = to_markdown(page.html, title)
        ours = seconds(partial(to_markdown, page.html, title), rounds)
        print(f"{title}: {len(page.html) / 1000:.0f} kB of HTML, {len(markdown) / 1000:.0f} kB of Markdown")
        failed |= not show("ours", page, markdown)
        rate = len(page.html) / 1e6
        print(f"  ours         {1000 * ours:7.1f} ms  {rate / ours:5.1f} MB/s")
        if markdownify:
            theirs = seconds(partial(markdownify, page.html), max(1, rounds // 2))
            print(f"  markdownify  {1000 * theirs:7.1f} ms  {rate / theirs:5.1f} MB/s   ours is {theirs / ours:.1f} x")
            show("markdownify", page, markdownify(page.html))
    sys.exit(failed)


def seconds(convert: Callable[[], object], rounds: int) -> float:
    """Processor seconds of the fastest of some rounds: the machine is shared."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        convert()
        best = min(best, time.process_time() - began)
    return best


def show(name: str, page: Page, markdown: str) -> bool:
    """Prints what was found of all, in cells; returns whether nothing is missing and nothing is left over."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    counts = [found(group, lines) for group in (page.fields, page.headers, page.rows)]
    prose = sum(text in markdown for text in page.prose)
    noise = sum(text in markdown for text in page.noise)
    said = ", ".join(f"{what} {a:,}/{b:,}" for what, (a, b) in zip(("fields", "headers", "cells"), counts, strict=True))
    print(f"  {name:<12} {said}, texts and list entries {prose}/{len(page.prose)}, leftovers {noise}/{len(page.noise)}")
    return all(a == b for a, b in counts) and prose == len(page.prose) and not noise


def found(rows: list[tuple[str, ...]], lines: list[str]) -> tuple[int, int]:
    """How many cells of all stand in a table's line with the first cell of their row; merged ones in each of theirs."""
    by_first: dict[str, list[list[str]]] = {}
    for line in lines:
        cells = [cell.replace("\\|", "|").strip() for cell in _BAR.split(line)]
        for cell in set(cells):
            by_first.setdefault(cell, []).append(cells)
    have = 0
    for row in rows:
        near = by_first.get(row[0], [])
        have += max((sum(any(text in cell for cell in cells) for text in row) for cells in near), default=0)
    return have, sum(map(len, rows))


# --- pages -----------------------------------------------------------------------------------


def written(title: str, size: int, chance: random.Random) -> Page:
    page = Page(title)
    parts = [infobox(page, chance)]
    length = len(parts[0])
    number = 0
    while length < size:
        number += 1
        section = (
            f'<h2 id="s{number}">Section {number}<span class="mw-editsection">[edit {number}]</span></h2>'
            + prose(page, chance)
            + bullets(page, chance)
            + chance.choice([merged_rows, nested_headers, grouped])(page, chance, number)
        )
        parts.append(section)
        length += len(section)
    parts += [references(page, number), navbox(page, chance)]
    page.html = f'<div class="mw-parser-output">{"".join(parts)}</div>'
    return page


def infobox(page: Page, chance: random.Random) -> str:
    rows = [f'<tr><th colspan="2" class="infobox-above">{page.title}</th></tr>']
    for label in LABELS:
        value = f"{word(chance)} {chance.randint(1, 99_999):,} {chance.choice(UNITS)}".strip()
        page.fields.append((label, value))
        rows.append(
            f'<tr><th scope="row" class="infobox-label">{label}</th><td class="infobox-data">'
            f'<a href="/wiki/x" title="x">{value}</a><sup class="reference"><a href="#c">[1]</a></sup></td></tr>'
        )
    both = (f"Twin {word(chance)}", f"Twin {word(chance)}")
    page.fields.append(("Twins", *both))
    entries = "".join(f"<li>{one}</li>" for one in both)
    rows.append(f'<tr><th>Twins</th><td><div class="plainlist"><ul>{entries}</ul></div></td></tr>')
    return f'<table class="infobox vcard"><tbody>{"".join(rows)}</tbody></table>'


def merged_rows(page: Page, chance: random.Random, number: int) -> str:
    """A cell over several rows, and a cell over two columns."""
    page.headers.append(("Key", "District", "Place", "Length", "Note"))
    head = "".join(f"<th>{one}</th>" for one in page.headers[-1])
    rows = []
    count = 0
    for _ in range(chance.randint(4, 9)):
        height = chance.randint(1, 5)
        district = f"District {name(chance)}"
        for row in range(height):
            count += 1
            key, place = f"K{number}.{count}", f"{name(chance)} | <{count}>"
            first = f"<td>{key}</td>" + (f'<td rowspan="{height}"><b>{district}</b></td>' if row == 0 else "")
            if chance.random() < 0.2:
                rows.append(f'<tr>{first}<td>{html.escape(place)}</td><td colspan="2">none {count}</td></tr>')
                page.rows.append((key, district, place, f"none {count}"))
                continue
            length, note = f"{chance.randint(1, 999)} km", name(chance)
            cells = f"<td>{html.escape(place)}</td><td>{length}</td><td><i>{note}</i></td>"
            rows.append(f"<tr>{first}{cells}</tr>")
            page.rows.append((key, district, place, length, note))
    return f'<table class="wikitable sortable"><tbody><tr>{head}</tr>{"".join(rows)}</tbody></table>'


def nested_headers(page: Page, chance: random.Random, number: int) -> str:
    """Two rows of headers, the upper ones over several columns, and a heading in front of each row."""
    page.headers.append(("Year", "Exports", "Imports", "Grain", "Wool"))
    years = chance.sample(range(1500, 1990), chance.randint(8, 30))
    rows = []
    for year in sorted(years):
        key = f"{year} ({number})"
        cells = tuple(f"{chance.randint(10, 9999):,}{chance.choice(('', ' t'))}" for _ in range(4))
        page.rows.append((key, *cells))
        rows.append(f'<tr><th scope="row">{key}</th>' + "".join(f"<td>{one}</td>" for one in cells) + "</tr>")
    head = (
        '<tr><th rowspan="2">Year</th><th colspan="2">Exports</th><th colspan="2">Imports</th></tr>'
        "<tr><th>Grain</th><th>Wool</th><th>Grain</th><th>Wool</th></tr>"
    )
    caption = f"<caption>Trade of {page.title}, part {number}</caption>"
    page.prose.append(f"Trade of {page.title}, part {number}")
    return f'<table class="wikitable">{caption}<thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def grouped(page: Page, chance: random.Random, number: int) -> str:
    """Rows that name a group, and cells of several lines."""
    page.headers.append(("Vessel", "Built", "Crew"))
    rows = ["<tr><th>Vessel</th><th>Built</th><th>Crew</th></tr>"]
    for group in range(chance.randint(2, 5)):
        title = f"Fleet {number}.{group} {name(chance)}"
        page.rows.append((title,))
        rows.append(f'<tr><th colspan="3">{title}</th></tr>')
        for ship in range(chance.randint(3, 8)):
            key, year = f"{name(chance)} {number}.{group}.{ship}", str(chance.randint(1500, 1990))
            crew = (name(chance), name(chance))
            page.rows.append((key, year, *crew))
            rows.append(
                f'<tr><td>{key}</td><td data-sort-value="{year}">{year}<sup class="reference">[7]</sup></td>'
                f"<td>{crew[0]}<br/>{crew[1]}</td></tr>"
            )
    return f'<table class="wikitable"><tbody>{"".join(rows)}</tbody></table>'


def prose(page: Page, chance: random.Random) -> str:
    text = []
    for _ in range(chance.randint(1, 4)):
        words = " ".join(word(chance) for _ in range(chance.randint(30, 90)))
        page.prose.append(words)
        text.append(f'<p><b>{words}</b> <a href="/wiki/y">{name(chance)}</a><sup class="reference">[3]</sup>.</p>')
    return "".join(text)


def bullets(page: Page, chance: random.Random) -> str:
    entries = [f"{name(chance)} of {name(chance)}" for _ in range(chance.randint(2, 7))]
    page.prose += entries
    return "<ul>" + "".join(f"<li>{one}</li>" for one in entries) + "</ul>"


def references(page: Page, number: int) -> str:
    entries = [f"Leftover source {one} of {page.title}" for one in range(number)]
    page.noise += [*entries, "[edit 1]"]
    listed = "".join(
        f'<li id="c{n}"><span class="mw-cite-backlink">^</span>{one}</li>' for n, one in enumerate(entries)
    )
    return f'<h2>References</h2><div class="reflist"><ol class="references">{listed}</ol></div>'


def navbox(page: Page, chance: random.Random) -> str:
    links = [f"Leftover link {name(chance)}" for _ in range(40)]
    page.noise += links
    cells = "".join(f'<li><a href="/wiki/z">{one}</a></li>' for one in links)
    return f'<div class="navbox"><table class="navbox-inner"><tr><td><ul>{cells}</ul></td></tr></table></div>'


def word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))


def name(chance: random.Random) -> str:
    return word(chance).capitalize()


if __name__ == "__main__":
    main()
