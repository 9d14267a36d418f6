"""Have a trained reader say what it thinks of every training example, for a smaller one to learn from.

    python -m scripts.train.evidence.teach --rows FOLDER --checkpoint FILE --bodies FOLDER --out FOLDER

Writes the files of `--rows` again with the teacher's logits in them; `train --rows` of that folder then learns from
both. Goes on where it was killed, a file at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from scripts.train.evidence import tokens
from scripts.train.evidence.measuring import Reader
from scripts.train.evidence.network import HEADS
from scripts.train.evidence.readers import trained
from scripts.train.evidence.tokens import Pieces, Taught

AT_ONCE = 960  # examples, sorted by their length


def taught(reader: Reader, pieces: Sequence[Pieces]) -> list[Pieces]:
    said = reader.read(pieces)
    return [
        replace(
            one,
            taught=Taught(
                np.maximum(logits["span"], tokens.OUT).astype(np.float16),
                np.concatenate([logits[name] for name in HEADS]).astype(np.float16),
            ),
        )
        for one, logits in zip(pieces, said, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True, help="`best.pt` of the teacher")
    parser.add_argument("--bodies", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=0, help="examples of each file, to try things out (0: all)")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    torch.set_num_threads(1)
    reader = trained(arguments.checkpoint, arguments.bodies, arguments.device)
    for path in sorted(arguments.rows.glob("epoch-*.npz")):
        out = arguments.out / path.name
        if out.exists():
            continue
        pieces = tokens.load(path)[: arguments.limit or None]
        found: list[Pieces] = []
        with torch.no_grad(), torch.autocast(arguments.device, torch.bfloat16):
            for first in range(0, len(pieces), AT_ONCE):
                found += taught(reader, pieces[first : first + AT_ONCE])
                print(f"{path.name}: {len(found)} of {len(pieces)}", flush=True)
        with np.load(path, allow_pickle=False) as rows:
            tokens.save(out, found, rows["sources"].tolist()[: len(found)])


if __name__ == "__main__":
    main()
