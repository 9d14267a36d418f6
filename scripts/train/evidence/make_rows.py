"""Make the files that the evidence reader is trained on, one for each epoch, and those that it is measured on.

    python -m scripts.train.evidence.make_rows --data FOLDER --out FOLDER [--epochs 4]

Files that exist already are left as they are, since a training may be reading them.

Writes `epoch-000.npz` and so on from the part `train`, and from the part `aside` `measure.jsonl`, with the short needs
of the loop `measure_short.jsonl`, and with questions over two articles `measure_pairs.jsonl` (examples as text, which
stays outside the repository).
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

from scripts.train.evidence import aside, asked, drawing, made_look_ups, pairs, short_needs, tables, tokens
from scripts.train.evidence.asked import Asked
from scripts.train.evidence.drawing import Example
from scripts.train.evidence.measuring import VOCABULARY
from scripts.train.evidence.mining import Mined

SEED = "rows-1"
MEASURED_PAIRS = 400
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


def write(path: Path, examples: Sequence[Example]) -> None:
    lines = [json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in examples]
    path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--starter", type=Path, default=Path("input_wikipedia"))
    parser.add_argument("--epochs", type=int, default=4)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    parts = aside.parts(arguments.data, arguments.starter)
    everything = [*asked.everything(arguments.data, parts), *tables.look_ups(arguments.data, parts)]
    short = list(short_needs.one_hop(arguments.data, parts, SEED))
    paired = list(pairs.everything(arguments.data, parts, SEED))
    trained = [one for one in [*everything, *short, *paired] if one.part == aside.TRAIN]
    held = [one for one in everything if one.part == aside.ASIDE]
    print(f"{len(trained)} questions to train on, {len(held)} set aside", flush=True)

    needs = [one for one in short if one.part == aside.ASIDE]
    needs += short_needs.infoboxes(arguments.data, parts, SEED, aside.ASIDE)
    over_two = asked.shuffled([one for one in paired if one.part == aside.ASIDE], SEED)[:MEASURED_PAIRS]
    for name, sample in (("measure", measured(held)), ("measure_short", needs), ("measure_pairs", over_two)):
        if not (arguments.out / f"{name}.jsonl").exists():
            write(arguments.out / f"{name}.jsonl", drawing.epoch(sample, Mined(held), SEED))
    cutter = tokens.Cutter(Tokenizer.from_file(str(VOCABULARY)))
    mined = Mined(trained)
    for number in range(arguments.epochs):
        path = arguments.out / f"epoch-{number:03}.npz"
        if path.exists():
            continue
        seed = f"{SEED}/{number}"
        made = [*made_look_ups.made(arguments.data, parts, seed), *short_needs.infoboxes(arguments.data, parts, seed)]
        drawn = drawing.epoch([*trained, *made], mined, seed)
        chance = random.Random(f"{seed}/cut")
        tokens.save(path, [cutter.cut(one, chance) for one in drawn], [one.source for one in drawn])
        print(f"{path}: {len(drawn)} examples", dict(Counter(one.source for one in drawn).most_common()), flush=True)


if __name__ == "__main__":
    main()
