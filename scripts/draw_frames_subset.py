"""Draws a subset of FRAMES, in proportion to its kinds of questions, and prints the list that ships with the package.

    python -m scripts.draw_frames_subset questions_dev.jsonl > iterative_rag/evaluation/datasets/frames_60.tsv

Each stratum is a pair of "asks of a table or not" and "needs two, three, or more articles"; it gives its share, rounded
by the largest remainder. Answers and results play no part. The list holds ids and digests, no text of a question.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from iterative_rag.evaluation.datasets.dataset_forms import load
from iterative_rag.evaluation.datasets.frames_subsets import digest_of, is_tabular
from iterative_rag.evaluation.questions import Question

Stratum = tuple[bool, int]
MOST_ARTICLES = 4  # that many and more are one stratum


def strata(questions: Sequence[Question]) -> Mapping[Stratum, list[Question]]:
    found: defaultdict[Stratum, list[Question]] = defaultdict(list)
    for question in questions:
        found[is_tabular(question), min(MOST_ARTICLES, len(question.gold_titles))].append(question)
    return found


def shares(sizes: Mapping[Stratum, int], wanted: int) -> dict[Stratum, int]:
    """How many questions of each stratum: proportional, `wanted` in all."""
    total = sum(sizes.values())
    exact = {one: wanted * size / total for one, size in sizes.items()}
    taken = {one: int(share) for one, share in exact.items()}
    by_remainder = sorted(exact, key=lambda one: (taken[one] - exact[one], one))
    for one in by_remainder[: wanted - sum(taken.values())]:
        taken[one] += 1
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=824)
    wanted = parser.parse_args()
    questions = load(wanted.questions).questions
    chance = random.Random(wanted.seed)
    parts = strata(questions)
    taken = shares({one: len(part) for one, part in parts.items()}, wanted.n)
    drawn = {question.id for one in sorted(parts) for question in chance.sample(parts[one], taken[one])}
    print(f"# {wanted.n} of {len(questions)} questions of FRAMES (seed {wanted.seed}): id, digest of the question")
    for question in questions:
        if question.id in drawn:
            print(f"{question.id}\t{digest_of(question.text)}")


if __name__ == "__main__":
    main()
