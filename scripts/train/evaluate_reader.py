"""Measure the shipped reader as a reranker and as a reader, on questions that it was not trained on.

    python -m scripts.train.evaluate_reader --data FOLDER [--speed]

Half B of 2WikiMultihopQA and MuSiQue: one-hop questions among the paragraphs of their question (MRR and recall@1 of
the gold paragraph by relevance, F1 of the answer of the most relevant one, calibration error), and whole questions
(recall@2 and recall@5 of the supporting paragraphs by support), each beside BM25 over the same paragraphs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from iterative_rag.builtin.reading.span_reader import SpanReader
from scripts.export_encoder import OUT
from scripts.train import data, examples, relations, scoring
from scripts.train.data import MultiHop, Passage, holds
from scripts.train.examples import Pairs
from scripts.train.negatives import BM25

FILES = ("2wiki_train", "musique_train")


@dataclass(frozen=True, slots=True)
class Ranked:
    """One need over its paragraphs: the reader's view of each, which is gold, which hold the answer, BM25's rank of
    the gold one, and F1 of the answers that were read in several ways."""

    relevance: tuple[float, ...]
    gold: tuple[bool, ...]
    told: tuple[bool, ...]
    bm25: int
    f1_top: float
    f1_gold: float
    weighed: float


def one_hop(reader: SpanReader, rows: Sequence[MultiHop]) -> list[Ranked]:
    ranked = []
    for row in rows:
        passages = [p.passage for p in row.paragraphs]
        for question in (*relations.triple_questions(row), *relations.hop_questions(row)):
            ranked.append(_ranked(reader, question.needs[0], passages, question.gold[0].passage, question.answers))
    return ranked


def _ranked(
    reader: SpanReader, need: str, passages: Sequence[Passage], gold: Passage, answers: Sequence[str]
) -> Ranked:
    readings = reader.read_pairs(need, [(p.title, p.text) for p in passages])
    order = BM25(passages).best(need, len(passages))
    place = next(i for i, passage in enumerate(passages) if passage == gold)
    top = max(readings, key=lambda reading: reading.relevance)
    weighed = max(readings, key=lambda reading: reading.relevance * reading.span_score)
    return Ranked(
        tuple(reading.relevance for reading in readings),
        tuple(passage == gold for passage in passages),
        tuple(holds(passage, answers) for passage in passages),
        order.index(place) + 1 if place in order else len(passages),
        scoring.f1(top.text, answers),
        scoring.f1(readings[place].text, answers),
        scoring.f1(weighed.text, answers),
    )


def rank_of_gold(found: Ranked) -> int:
    best = max(score for score, gold in zip(found.relevance, found.gold, strict=True) if gold)
    return 1 + sum(score > best for score in found.relevance)


def report_one_hop(name: str, found: Sequence[Ranked], threshold: float) -> None:
    ranks = np.array([rank_of_gold(one) for one in found])
    bm25 = np.array([one.bm25 for one in found])
    # Paragraphs beside the gold one that hold the answer may or may not tell it: they are left out here.
    pairs = [
        (score, gold)
        for one in found
        for score, gold, told in zip(one.relevance, one.gold, one.told, strict=True)
        if gold or not told
    ]
    scores, truths = [p[0] for p in pairs], [p[1] for p in pairs]
    answered = np.array(scores) >= threshold
    truth = np.array(truths)
    print(f"{name}: {len(found)} one-hop questions, {len(pairs) / len(found):.1f} paragraphs each")
    print(f"  relevance MRR {(1 / ranks).mean():.3f} recall@1 {(ranks == 1).mean():.3f}", end="; ")
    print(f"BM25 MRR {(1 / bm25).mean():.3f} recall@1 {(bm25 == 1).mean():.3f}")
    print(f"  F1 on the gold paragraph {np.mean([o.f1_gold for o in found]):.3f}", end=", ")
    print(f"of the most relevant {np.mean([o.f1_top for o in found]):.3f}", end=", ")
    print(f"by relevance x span score {np.mean([o.weighed for o in found]):.3f}")
    print(
        f"  ECE {scoring.calibration_error(scores, truths):.3f} AUC {scoring.area_under_curve(scores, truths):.3f}",
        end=" ",
    )
    print(f"at the threshold: precision {truth[answered].mean():.3f} recall {answered[truth].mean():.3f}")


def report_whole(name: str, reader: SpanReader, rows: Sequence[MultiHop]) -> None:
    shares: dict[str, list[float]] = {}
    for row in rows:
        passages = [p.passage for p in row.paragraphs]
        gold = {i for i, p in enumerate(row.paragraphs) if p.supporting}
        readings = reader.read_pairs(row.question, [(p.title, p.text) for p in passages])
        orders = {
            "support": sorted(range(len(passages)), key=lambda i: -readings[i].support),
            "relevance": sorted(range(len(passages)), key=lambda i: -readings[i].relevance),
            "BM25": BM25(passages).best(row.question, len(passages)),
        }
        for view, order in orders.items():
            for depth in (2, 5):
                shares.setdefault(f"{view} recall@{depth}", []).append(len(gold & set(order[:depth])) / len(gold))
    print(f"{name}: {len(rows)} whole questions: " + ", ".join(f"{k} {np.mean(v):.3f}" for k, v in shares.items()))


def report_reading(reader: SpanReader, folder: Path) -> None:
    """The held-out articles through the door, long passages in windows, at the shipped threshold."""
    _, measured = data.reading(folder)
    right, exact, relevance, truths = [], [], [], []
    for question in measured:
        gold = question.gold[0]
        reading = reader.read(question.needs[0], gold.passage.title, [gold.passage.text])[0]
        right.append(scoring.f1(reading.text, question.answers))
        exact.append(scoring.exact_match(reading.text, question.answers))
        relevance.append(reading.relevance)
        truths.append(bool(gold.spans))
    f1, truth = np.array(right), np.array(truths)
    answered = np.array(relevance) >= reader.threshold
    print(f"held-out reading, {truth.sum()} with and {(~truth).sum()} without answer, threshold {reader.threshold}:")
    print(f"  best span F1 {f1[truth].mean():.3f} EM {np.array(exact)[truth].mean():.3f}", end="; ")
    print(f"F1 with answer {(f1 * answered)[truth].mean():.3f}, no-answer accuracy {(~answered)[~truth].mean():.3f}")
    auc, ece = scoring.area_under_curve(relevance, truths), scoring.calibration_error(relevance, truths)
    print(f"  relevance AUC {auc:.3f} ECE {ece:.3f}")
    for source in sorted(examples.READING):
        chosen = np.array([question.source == source for question in measured]) & truth
        print(f"  {source}: {chosen.sum()} with answer, best span F1 {f1[chosen].mean():.3f}")


def report_speed(rows: Sequence[MultiHop]) -> None:
    """Passages a second at about 128 tokens, need and title included; the first call apart."""
    need = "When was the architect of the bridge born?"
    passages = [(p.passage.title, p.passage.text) for row in rows for p in row.paragraphs]
    began = time.perf_counter()
    reader = SpanReader()
    reader.read_pairs(need, passages[:1])
    print(f"load and first reading {time.perf_counter() - began:.3f} s")
    pairs = Pairs(Tokenizer.from_file(str(OUT / "tokenizer.json")))
    taken = len(pairs.need_ids(need)) + 8
    chosen = [pair for pair in passages if 118 < taken + len(pairs.need_ids(pair[1], most=400)) < 138][:200]
    for _ in range(3):
        wall, work = time.perf_counter(), time.process_time()
        reader.read_pairs(need, chosen)
        wall, work = len(chosen) / (time.perf_counter() - wall), 2 * len(chosen) / (time.process_time() - work)
        print(f"{len(chosen)} passages: {wall:.0f}/s on the clock, {work:.0f}/s by the work of two cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that the reader was trained on")
    parser.add_argument("--speed", action="store_true", help="measure the speed, too")
    arguments = parser.parse_args()
    reader = SpanReader()
    report_reading(reader, arguments.data)
    for name in FILES:
        rows = [row for row in data.multi_hop(arguments.data, name) if data.half(row.id) == "B"]
        report_one_hop(name, one_hop(reader, rows), reader.threshold)
        report_whole(name, reader, rows)
    if arguments.speed:
        report_speed(list(data.multi_hop(arguments.data, FILES[0])))


if __name__ == "__main__":
    main()
