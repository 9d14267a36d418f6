"""Make the files that the evidence reader is trained on, one for each epoch, and those that it is measured on.

    python -m scripts.train.evidence.make_rows --data FOLDER --out FOLDER [--epochs 2]

Writes `epoch-000.npz` and so on from the part `train`, and `measure.jsonl` from the part `aside` (examples as text,
which stays outside the repository).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tokenizers import Tokenizer

from scripts.train.evidence import aside, asked, drawing, tables, tokens
from scripts.train.evidence.asked import Asked
from scripts.train.evidence.drawing import Example, Mined

SEED = "rows-1"
VOCABULARY = Path("iterative_rag/builtin/weights/tokenizer.json")
MEASURED = {"boolq": 480, "table": 400, "hotpot_polar": 100, "timeqa": 160, "reading": 1600}


def measured(questions: Sequence[Asked]) -> list[Asked]:
    """A mixed sample of the questions set aside: so many of each set, all reading sets together."""
    taken: Counter[str] = Counter()
    found = []
    for question in asked.shuffled(questions, SEED):
        name = question.source if question.source in MEASURED else "reading"
        if question.source != "hotpot_whole" and taken[name] < MEASURED[name]:
            taken[name] += 1
            found.append(question)
    return found


def written(example: Example) -> str:
    return json.dumps(asdict(example), ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"))
    parser.add_argument("--first", type=int, default=0, help="number of the first epoch")
    parser.add_argument("--epochs", type=int, default=1)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    parts = aside.parts(arguments.data, arguments.starter)
    everything = [*asked.everything(arguments.data, parts), *tables.look_ups(arguments.data, parts)]
    trained = [one for one in everything if one.part == aside.TRAIN]
    held = [one for one in everything if one.part == aside.ASIDE]
    print(f"{len(trained)} questions to train on, {len(held)} set aside", flush=True)

    if not arguments.first:
        sample = measured(held)
        lines = [written(one) for one in drawing.epoch(sample, Mined(held), SEED)]
        (arguments.out / "measure.jsonl").write_text("".join(lines), encoding="utf-8")
    cutter = tokens.Cutter(Tokenizer.from_file(str(VOCABULARY)))
    mined = Mined(trained)
    for number in range(arguments.first, arguments.first + arguments.epochs):
        drawn = drawing.epoch(trained, mined, f"{SEED}/{number}")
        chance = random.Random(f"{SEED}/{number}/cut")
        path = arguments.out / f"epoch-{number:03}.npz"
        tokens.save(path, [cutter.cut(one, chance) for one in drawn], [one.source for one in drawn])
        print(f"{path}: {len(drawn)} examples", dict(Counter(one.source for one in drawn).most_common()), flush=True)


if __name__ == "__main__":
    main()
