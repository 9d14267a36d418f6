"""Measure the built-in grader: which verdicts its grades come to, and how many gold documents it would throw away.

    python -m scripts.bench.grading --data FOLDER [--needs N]

One-hop needs and whole questions of half B of 2WikiMultihopQA and MuSiQue, which the reader was not trained on, and
whole questions of HotpotQA train, which it was, are searched by BM25 among their own file's paragraphs, and among
another file's, where nothing answers. Each paragraph found is graded by itself and in a window of WINDOW characters
among paragraphs of other questions; beside the grades stand those of the reader's relevance alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText
from iterative_rag.builtin.reasoning.reader_roles import score_of_answerable
from iterative_rag.evaluation.metrics.statistics import mean
from iterative_rag.settings import Settings
from scripts.bench import harness
from scripts.train import data, relations, scoring
from scripts.train.data import Passage
from scripts.train.negatives import BM25

PAGES, WINDOW = 8, 4000
UNSEEN, SEEN = ("2wiki_train", "musique_train"), "hotpotqa_train"
MEASURES: dict[str, Callable[[EvidenceReading], float]] = {
    "relevance": lambda reading: reading.answerable,
    "grade": lambda reading: score_of_answerable(reading.answerable) if reading.spans else 0.0,
}


@dataclass(frozen=True, slots=True)
class Item:
    """A need with what was found for it. `source` names the file, the kind of need, and where it was searched."""

    need: str
    source: str
    gold: frozenset[str]
    answers: tuple[str, ...]
    pages: tuple[Passage, ...]
    filled: tuple[str, ...]


def items(folder: Path, chance: random.Random) -> Iterator[Item]:
    files = {name: list(data.multi_hop(folder, name)) for name in (*UNSEEN, SEEN)}
    passages = {
        name: list({p.passage.text: p.passage for row in rows for p in row.paragraphs}.values())
        for name, rows in files.items()
    }
    pools = {name: BM25(found) for name, found in passages.items()}
    for name, rows in files.items():
        for row in rows:
            if name in UNSEEN and data.half(row.id) == "A":
                continue
            for kind, need, gold, answers in _needs(name, row):
                for pool in (name, SEEN if name in UNSEEN else UNSEEN[0]):
                    pages = tuple(passages[pool][at] for at in pools[pool].best(need, PAGES))
                    filled = tuple(_filled(page, passages[pool], chance) for page in pages)
                    held = gold & {page.text for page in pages} if pool == name else frozenset()
                    yield Item(need, f"{name} {kind}{'' if held else ', not there'}", held, answers, pages, filled)


def _needs(name: str, row: data.MultiHop) -> Iterator[tuple[str, str, frozenset[str], tuple[str, ...]]]:
    hops: Iterable[data.Question] = ()
    if name in UNSEEN:
        hops = relations.hop_questions(row) if name == "musique_train" else relations.triple_questions(row)
    for hop in hops:
        yield "one hop", hop.needs[0], frozenset(gold.passage.text for gold in hop.gold), hop.answers
    yield "whole", row.question, frozenset(p.passage.text for p in row.paragraphs if p.supporting), row.answers


def _filled(page: Passage, others: Sequence[Passage], chance: random.Random) -> str:
    """About WINDOW characters with the passage somewhere in them."""
    around: list[str] = []
    while sum(map(len, around)) + len(page.text) < WINDOW:
        around.append(chance.choice(others).text)
    around.insert(chance.randrange(len(around) + 1), page.text)
    return "\n\n".join(around)


def figures(
    source: str, read: Sequence[tuple[Item, list[EvidenceReading]]], form: str
) -> Iterator[Mapping[str, object]]:
    settings = Settings()
    for name, measure in MEASURES.items():
        best, gold, other = [], [], []
        for item, readings in read:
            scores = [measure(reading) for reading in readings]
            best.append(max(scores, default=0.0))
            for page, score in zip(item.pages, scores, strict=True):
                if page.text in item.gold:
                    gold.append(score)
                elif not data.holds(page, item.answers):  # what holds the answer without being gold may serve, too
                    other.append(score)
        area = scoring.area_under_curve([*gold, *other], [True] * len(gold) + [False] * len(other)) if gold else None
        yield {
            "needs of": f"{source}, {form}",
            "by": name,
            "needs": len(best),
            "correct": mean([score > settings.grade_upper for score in best]),
            "incorrect": mean([score < settings.grade_lower for score in best]),
            "others dropped": mean([score < settings.grade_lower for score in other]),
            "gold dropped": mean([score < settings.grade_lower for score in gold]) if gold else "-",
            "AUC": area if gold else "-",
        }


def grading(folder: Annotated[Path, Option("--data")], needs: int = 40, seed: int = 7) -> None:
    """The folder holds multihop/; so many needs are drawn of each source."""
    chance, reader = random.Random(seed), EvidenceReader()
    asked = list(items(folder, chance))

    def rows() -> Iterator[Mapping[str, object]]:
        for source in sorted({item.source for item in asked}):
            own = [item for item in asked if item.source == source]
            chosen = chance.sample(own, min(needs, len(own)))
            for form in ("short", "long"):
                read = []
                for item in chosen:
                    texts = item.filled if form == "long" else [page.text for page in item.pages]
                    shown = [PassageText(page.title, "", text) for page, text in zip(item.pages, texts, strict=True)]
                    read.append((item, reader.read(item.need, shown)))
                yield from figures(source, read, form)

    harness.show(rows())


if __name__ == "__main__":
    harness.run(grading)
