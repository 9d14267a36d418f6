"""Sets parts of the data aside before anything is trained: by article, the same in all datasets.

    python -m scripts.train.evidence.aside --data FOLDER --out FOLDER [--starter FOLDER]

Every row belongs to one of three parts, by the titles of its articles alone:

* `kept`: an article of what is only ever reported on (HotpotQA dev, FRAMES dev, the halves B, the starter corpus).
  Never trained on, never used to choose anything.
* `aside`: one article in ten by its hash (of those with tables four, which are then set aside in the other datasets,
  too), and the articles that the shipped reader was measured on.
* `train`: the rest.

Writes the ids of the rows of each part, one a line, and `parts.json` with the counts. Ids are hashes of the rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from scripts.train import data
from scripts.train.evidence import files

SEED = "evidence-1"
PERCENT = 10
TABLES_PERCENT = 40  # few questions on tables are look-ups, and enough of them have to be measured
TRAIN, ASIDE, KEPT = "train", "aside", "kept"


def article(title: str) -> str:
    """The key of an article: its title without underscores, quotes, case and Quoref's number of its part."""
    bare = re.sub(r'[_\s"]+', " ", unquote(title)).casefold()
    return re.sub(r" 0$", "", " ".join(bare.split()))


def drawn(key: str, percent: int = PERCENT) -> bool:
    """Whether an article is one of so many in a hundred that are set aside."""
    digest = hashlib.sha256(f"{SEED}/{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") * 100 < percent << 32


def row_id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Parts:
    """Which part an article belongs to. `measured` are the articles that the shipped reader was measured on and those
    of tables set aside, `named` the articles of the reading files that are not trained on.
    """

    kept: frozenset[str]
    measured: frozenset[str]
    named: frozenset[str] = frozenset()

    def part(self, titles: Iterable[str], text: str = "") -> str:
        """The part of a row with these articles: the strictest of theirs.

        A row without titles is trained on, but one whose text names an article that is not is left out.
        """
        keys = {article(title) for title in titles} - {""}
        if keys & self.kept or (not keys and self._names(text)):
            return KEPT
        return ASIDE if keys & self.measured or any(drawn(key) for key in keys) else TRAIN

    def _names(self, text: str) -> bool:
        words = data.plain(text).split()
        runs = (" ".join(words[at : at + size]) for size in range(1, 6) for at in range(len(words) - size + 1))
        return any(run in self.named for run in runs)


def parts(folder: Path, starter: Path | None) -> Parts:
    """The parts of a data folder; `starter` is the folder of the starter corpus."""
    titles = data.held_out(row["title"] for row in files.rows(folder, files.READING[0]))
    tables = {article(title) for title in files.table_titles(folder).values()}
    measured = {article(title) for title in titles} | {key for key in tables if drawn(key, TABLES_PERCENT)}
    known = Parts(frozenset(_kept(folder, starter)), frozenset(measured))
    read = {row["title"] for name in files.READING for row in files.rows(folder, name)} - {""}
    named = {data.plain(article(title)) for title in read if known.part([title]) != TRAIN}
    return Parts(known.kept, known.measured, frozenset(name for name in named if " " in name or len(name) > 7))


def _kept(folder: Path, starter: Path | None) -> set[str]:
    kept: set[str] = set()
    for name in ("hotpotqa_dev", "2wiki_train", "musique_train"):
        for row in files.rows(folder, f"multihop/{name}.jsonl"):
            if name == "hotpotqa_dev" or data.half(row["id"]) == "B":
                kept |= {article(paragraph["title"]) for paragraph in row["paragraphs"] if paragraph["supporting"]}
    for row in files.rows(folder, "frames/questions_dev.jsonl"):
        kept |= {article(link.rstrip("/").rsplit("/", 1)[-1].split("#")[0]) for link in row["wiki_links"]}
    if starter:
        kept |= {article(path.stem) for path in starter.glob("*.md")}
    return kept


def titles_of(name: str, row: Mapping[str, Any], tables: Mapping[str, str]) -> list[str]:
    """The articles that a row of a file is about."""
    if "wikitablequestions" in name:
        return [tables[row["table"]]]
    if "timeqa" in name:
        return [row["page"].removeprefix("/wiki/")]
    if "evidences" in name or "gold_sentences" in name:
        return list(row["titles"])
    if "paragraphs" in row:
        gold = [paragraph["title"] for paragraph in row["paragraphs"] if paragraph["supporting"]]
        return gold or [paragraph["title"] for paragraph in row["paragraphs"]]
    return [row["title"]]


def text_of(row: Mapping[str, Any]) -> str:
    """What tells a row from others with the same question."""
    return str(row.get("context") or row.get("table") or row.get("id") or row.get("subject", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with reading/, multihop/, tables/ and frames/")
    parser.add_argument("--out", type=Path, required=True, help="folder of the lists")
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"), help="folder of the starter corpus")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    known = parts(arguments.data, arguments.starter)
    ids: dict[str, set[str]] = {TRAIN: set(), ASIDE: set(), KEPT: set()}
    counts: dict[str, Counter[str]] = {}
    tables = files.table_titles(arguments.data)
    for name in files.TRAINABLE:
        for row in files.rows(arguments.data, name):
            part = known.part(titles_of(name, row, tables), row.get("context", ""))
            ids[part].add(row_id(name, row["question"], text_of(row)))
            counts.setdefault(name, Counter())[part] += 1
    for part, listed in ids.items():
        (arguments.out / f"{part}.txt").write_text("".join(f"{one}\n" for one in sorted(listed)), encoding="utf-8")
    about = {"seed": SEED, "percent": PERCENT, "kept articles": len(known.kept), "rows": counts}
    (arguments.out / "parts.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    for name, found in counts.items():
        print(f"{name}: " + ", ".join(f"{found[part]} {part}" for part in (TRAIN, ASIDE, KEPT)))


if __name__ == "__main__":
    main()
