"""Questions beside passages of pages, without labels: what a teacher says of them is what a smaller reader learns.

    python -m scripts.train.evidence.page_pairs --data FOLDER --out FOLDER [--count 60000]

Writes `epoch-100.npz`, which `teach` reads beside the training rows. Pages of articles that are set aside or only
reported on are left out. Questions are those of the training rows, each with the passages that BM25 finds for it on the
pages, and the short needs that `scripts.train.made` finds told or not told at a page's beginning.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer

from scripts.train import made
from scripts.train.data import Passage
from scripts.train.evidence import aside, asked, files, tokens
from scripts.train.evidence.asked import Shown
from scripts.train.evidence.drawing import Example
from scripts.train.evidence.make_rows import VOCABULARY
from scripts.train.negatives import BM25

PAGES = "frames/pages.jsonl.gz"
SEED = "pages-1"
PASSAGE, EACH, DEPTH = 500, 25, 3  # characters of a passage; passages of a page; of a question
MADE = 0.25  # of the pairs are short needs


def passages(folder: Path, parts: aside.Parts) -> list[Passage]:
    """The first passages of each page, whole paragraphs where they are short enough."""
    found = []
    for page in files.rows(folder, PAGES):
        if parts.part([page["title"]]) == aside.TRAIN:
            found += [Passage(page["title"], text) for text in _cut(page["text"])][:EACH]
    return found


def _cut(text: str) -> Iterator[str]:
    run = ""
    for line in text.split("\n"):
        if run and len(run) + len(line) > PASSAGE:
            yield run
            run = ""
        run = f"{run}\n{line}".strip()
    if run:
        yield run


def pairs(folder: Path, parts: aside.Parts, count: int) -> Iterator[Example]:
    chance = random.Random(SEED)
    texts = passages(folder, parts)
    heads = [one for place, one in enumerate(texts) if place == 0 or texts[place - 1].title != one.title]
    short = made.made_questions(heads, chance)
    for question in chance.sample(short, min(len(short), int(count * MADE))):
        passage = question.gold[0].passage
        yield Example("page", chance.choice(question.needs), Shown(passage.title, "", passage.text[:PASSAGE]))
    index = BM25(texts)
    whole = [one.question for one in asked.everything(folder, parts) if one.part == aside.TRAIN]
    for text in chance.sample(whole, min(len(whole), int(count * (1 - MADE) / DEPTH))):
        for place in index.best(text, DEPTH):
            yield Example("page", text, Shown(texts[place].title, "", texts[place].text))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"))
    parser.add_argument("--tokenizer", type=Path, default=VOCABULARY)
    parser.add_argument("--count", type=int, default=60_000, help="pairs")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    found = list(pairs(arguments.data, aside.parts(arguments.data, arguments.starter), arguments.count))
    random.Random(SEED).shuffle(found)
    cutter, chance = tokens.Cutter(Tokenizer.from_file(str(arguments.tokenizer))), random.Random(SEED)
    path = arguments.out / "epoch-100.npz"
    tokens.save(path, [cutter.cut(one, chance) for one in found], [one.source for one in found])
    print(f"{path}: {len(found)} pairs")


if __name__ == "__main__":
    main()
