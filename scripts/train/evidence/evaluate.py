"""Measure a reader on rows set aside: reading, tables, yes/no questions, claims, kinds of answers.

    python -m scripts.train.evidence.evaluate --rows FOLDER --data FOLDER --shipped
    python -m scripts.train.evidence.evaluate --rows FOLDER --data FOLDER --checkpoint FILE --bodies FOLDER
    python -m scripts.train.evidence.evaluate --rows FOLDER --data FOLDER --network FILE

`--rows` holds `measure.jsonl`, articles of all datasets, and `measure_short.jsonl`, short needs and infoboxes; the last
line is of the reading questions of held-out articles that the model card reports. `--network` needs the `--tokenizer`
that belongs to the file: pieces that the network does not have are read as unknown, which costs five points of F1.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer

from scripts.train import data
from scripts.train.evidence import measuring, tokens
from scripts.train.evidence.asked import Shown
from scripts.train.evidence.drawing import Example
from scripts.train.evidence.measuring import Reader, Rows
from scripts.train.evidence.readers import SHIPPED, SHIPPED_VOCABULARY, NetworkReader, trained


def reported(folder: Path, tokenizer: Path) -> Rows:
    """The reading questions of the held-out articles that the model card reports."""
    _, questions = data.reading(folder)
    examples = tuple(
        Example(
            question.source,
            question.needs[0],
            Shown(gold.passage.title, "", gold.passage.text, gold.spans, bool(gold.spans)),
            answerable=int(bool(gold.spans)),
        )
        for question in questions
        for gold in question.gold
    )
    cutter = tokens.Cutter(Tokenizer.from_file(str(tokenizer)), measuring.MOST_TOKENS)
    chance = random.Random(0)
    return Rows(examples, tuple(cutter.cut(example, chance) for example in examples))


def chosen_reader(arguments: argparse.Namespace) -> Reader:
    if arguments.shipped:
        return NetworkReader(SHIPPED)
    if arguments.network:
        return NetworkReader(arguments.network)
    return trained(arguments.checkpoint, arguments.bodies, arguments.device)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--shipped", action="store_true", help="measure the reader of the package")
    chosen.add_argument("--checkpoint", type=Path, help="measure `checkpoint.pt` or `best.pt` of a training")
    chosen.add_argument("--network", type=Path, help="measure a file of `export`")
    parser.add_argument("--bodies", type=Path, help="folder of the published bodies")
    parser.add_argument("--count", type=int, default=0, help="rows of reading (0: all); of the others in proportion")
    parser.add_argument("--tokenizer", type=Path, help="default: the shipped reader's; of a checkpoint the encoder's")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    if arguments.checkpoint and not arguments.bodies:
        parser.error("--checkpoint needs --bodies")

    torch.set_num_threads(1)
    reader = chosen_reader(arguments)
    tokenizer = arguments.tokenizer or (measuring.VOCABULARY if arguments.checkpoint else SHIPPED_VOCABULARY)
    with torch.no_grad(), torch.autocast(arguments.device, torch.bfloat16):
        for name in ("measure", "measure_short"):
            rows = Rows.read(arguments.rows / f"{name}.jsonl", arguments.count, tokenizer)
            print(json.dumps({name: len(rows.examples), **measuring.figures(rows, reader)}), flush=True)
        rows = reported(arguments.data, tokenizer)
        print(json.dumps({"reported": len(rows.examples), **measuring.figures(rows, reader)}), flush=True)


if __name__ == "__main__":
    main()
