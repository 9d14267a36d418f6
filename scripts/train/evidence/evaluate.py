"""Measure a reader on rows set aside: reading, tables, yes/no questions, claims, kinds of answers.

    python -m scripts.train.evidence.evaluate --rows FOLDER --data FOLDER --shipped
    python -m scripts.train.evidence.evaluate --rows FOLDER --data FOLDER --checkpoint FILE --bodies FOLDER

`--rows` holds `measure.jsonl`, articles of all datasets, and `measure_short.jsonl`, short needs and infoboxes; the last
line is of the reading questions that the shipped reader's model card reports (`scripts.train.calibrate_reader`).
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from scripts.train import data
from scripts.train.evidence import measuring, tokens
from scripts.train.evidence.asked import NO, UNDECIDED, YES, Shown
from scripts.train.evidence.drawing import Example
from scripts.train.evidence.fetch_body import published
from scripts.train.evidence.measuring import Floats, Reader, Rows
from scripts.train.evidence.network import BODIES, HEADS, MINILM, EvidenceReader, load_body
from scripts.train.evidence.tokens import OUT, Pieces, Special

SHIPPED = Path("iterative_rag/builtin/weights/reader.onnx")


def special(name: str) -> Special:
    body = BODIES[name]
    return Special(body.shift, body.cls, body.sep, body.pad)


class ShippedReader:
    """The reader of the package: spans, relevance and yes/no; it has no opinion on claims and kinds."""

    def __init__(self, network: Path) -> None:
        import onnxruntime  # type: ignore[import-untyped]

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(str(network), options, providers=["CPUExecutionProvider"])

    def read(self, pieces: Sequence[Pieces]) -> list[dict[str, Floats]]:
        found = []
        for one in pieces:
            arrays = tokens.batch([one], special(MINILM.name))
            count = tokens.length(one) + 3
            feed = {"input_ids": arrays["ids"][0, :count], "segments": arrays["segments"][0, :count]}
            spans, verdict = self._session.run(None, feed)
            begin = len(one.question) + len(one.heading) + 2
            out = {name: np.zeros(width, np.float32) for name, width in HEADS.items()}
            out["span"] = spans[begin : begin + len(one.passage)].T
            out["answerable"][0] = verdict[0]
            out["polar"][[YES, NO, UNDECIDED]] = verdict[3], verdict[4], OUT
            found.append(out)
        return found


def trained(checkpoint: Path, bodies: Path, device: str) -> Reader:
    """The reader of a checkpoint: what was frozen comes from the published body."""
    state = torch.load(checkpoint, weights_only=True, map_location=device)
    plan = state["plan"]
    model = EvidenceReader(BODIES[plan["body"]], plan["layers"], plan["frozen"])
    load_body(model, published(bodies, plan["body"]))
    model.load_state_dict(state["model"], strict=False)
    model.to(device).eval()
    return measuring.TorchReader(model, special(plan["body"]), device)


def reported(folder: Path) -> Rows:
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
    cutter = tokens.Cutter(Tokenizer.from_file(str(measuring.VOCABULARY)), measuring.MOST_TOKENS)
    chance = random.Random(0)
    return Rows(examples, tuple(cutter.cut(example, chance) for example in examples))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--shipped", action="store_true", help="measure the reader of the package")
    chosen.add_argument("--checkpoint", type=Path, help="measure `checkpoint.pt` or `best.pt` of a training")
    parser.add_argument("--bodies", type=Path, help="folder of the published bodies")
    parser.add_argument("--count", type=int, default=0, help="rows of reading (0: all); of the others in proportion")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    if arguments.checkpoint and not arguments.bodies:
        parser.error("--checkpoint needs --bodies")

    torch.set_num_threads(1)
    reader: Reader = (
        ShippedReader(SHIPPED)
        if arguments.shipped
        else trained(arguments.checkpoint, arguments.bodies, arguments.device)
    )
    with torch.no_grad(), torch.autocast(arguments.device, torch.bfloat16):
        for name in ("measure", "measure_short"):
            rows = Rows.read(arguments.rows / f"{name}.jsonl", arguments.count)
            print(json.dumps({name: len(rows.examples), **measuring.figures(rows, reader)}), flush=True)
        rows = reported(arguments.data)
        print(json.dumps({"reported": len(rows.examples), **measuring.figures(rows, reader)}), flush=True)


if __name__ == "__main__":
    main()
