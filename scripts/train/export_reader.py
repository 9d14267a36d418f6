"""Make the reader's weights for the package: the trained network as one int8 ONNX file, without torch.

    python -m scripts.train.export_reader --data FOLDER --trained FOLDER [--out FOLDER]

The graph is the encoder's (`scripts/export_encoder.py` says how its layers become integer arithmetic) with two
segments and the reader's heads in float32: one (need, passage) pair a call, so that no reading depends on a batch.
Fixed channel scales come from pairs of the training data. The int8 graph must agree with the float32 one before
anything is written; `reader.json` gets the figures of `scripts.train.calibrate_reader`, which runs next.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from scripts.export_encoder import OUT, Encoder, Feed, Float, Weights, calibration_ranges, session
from scripts.train import examples
from scripts.train.examples import MAX_TOKENS, Pair, Pairs

RANGE_PAIRS, CHECK_PAIRS = 400, 600
MIN_SPANS_SAME, MAX_MEAN_SHIFT = 0.90, 0.02


class ReaderGraph(Encoder):
    """The trained reader as a graph: `input_ids` and `segments` to logits of start and end, and the verdict."""

    exact_gelu = "FastGelu"  # the reader was trained with the tanh form

    def positions(self, rows: str) -> str:
        g = self.graph
        table = self.get("embeddings.position_embeddings.weight")[:MAX_TOKENS]
        places = g.op("Slice", g.const("positions", table), g.ints(0), rows)
        kinds = g.const("segment.rows", self.get("embeddings.token_type_embeddings.weight"))
        return g.op("Add", places, g.op("Gather", kinds, "segments"))

    def build(self) -> onnx.ModelProto:
        g = self.graph
        x, norm = self.trunk()
        rows = g.op("Squeeze", x, g.ints(0))
        self.head(rows, norm, "span", "spans")
        first = g.op("Gather", rows, g.const("first", 0, np.int64), axis=0)
        self.head(first, norm, "verdict", "verdict")
        inputs: dict[str, list[int | str]] = {"input_ids": ["tokens"], "segments": ["tokens"]}
        return g.model("minilm-reader", inputs, {"spans": ["tokens", 2], "verdict": [5]})

    def head(self, x: str, norm: str, name: str, output: str) -> None:
        """A linear layer over rows that lack the last norm's gain and shift, which are folded into it."""
        g, (weight, bias) = self.graph, self.dense(name)
        gain, shift = self.get(norm + ".weight"), self.get(norm + ".bias")
        product = g.op("MatMul", x, g.const(name + ".weight", weight * gain[:, None]))
        g.op("Add", product, g.const(name + ".bias", bias + shift @ weight), name=output)


def feed(pair: Pair) -> Feed:
    ids = np.array(pair.ids, np.int64)
    return {"input_ids": ids, "segments": (np.arange(len(ids)) >= pair.second).astype(np.int64)}


@dataclass(frozen=True, slots=True)
class Parity:
    """How the int8 graph compares with the float32 one: the share of pairs with the same best span, and the mean
    and the largest difference of relevance (a probability, before calibration)."""

    spans: float
    mean: float
    largest: float


def best_span(spans: npt.NDArray[np.float32], pair: Pair) -> tuple[int, int]:
    """The likeliest start and end of at most 30 tokens, in the passage."""
    start, end = spans[pair.text : len(pair.ids) - 1].T
    scores = start[:, None] + end[None, :]
    allowed = np.triu(np.ones_like(scores), 0) - np.triu(np.ones_like(scores), 30)
    first, last = np.unravel_index(np.argmax(np.where(allowed > 0, scores, -np.inf)), scores.shape)
    return int(first), int(last)


def parity(small: onnx.ModelProto, full: onnx.ModelProto, pairs: list[Pair]) -> Parity:
    one, other = session(small), session(full)
    same, shifts = [], []
    for pair in pairs:
        (spans, verdict), (wanted, judged) = one.run(None, feed(pair)), other.run(None, feed(pair))
        if pair.start >= 0:
            same.append(best_span(spans, pair) == best_span(wanted, pair))
        shifts.append(abs(1 / (1 + np.exp(-verdict[0])) - 1 / (1 + np.exp(-judged[0]))))
    return Parity(float(np.mean(same)), float(np.mean(shifts)), float(np.max(shifts)))


def graphs(weights: Weights, pairs: list[Pair]) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The int8 graph, its channel scales taken from pairs, and the float32 one."""
    full = ReaderGraph(weights, None).build()
    ranges: dict[str, Float] = calibration_ranges(full, [feed(pair) for pair in pairs])
    return ReaderGraph(weights, ranges).build(), full


def sample_pairs(folder: Path, tokenizer: Tokenizer, count: int, seed: int) -> list[Pair]:
    """Pairs of one epoch of the training data, in mixed order."""
    chance = random.Random(seed)
    questions = examples.training_questions(folder, seed=seed)
    drawn = examples.epoch(questions, seed, 0)[:count]
    return [Pairs(tokenizer).pair(example, chance) for example in drawn]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that the reader was trained on")
    parser.add_argument("--trained", type=Path, required=True, help="folder of reader.safetensors")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the weights")
    parser.add_argument("--float32", type=Path, help="also write the float32 graph to this file, to compare with")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()

    tokenizer = Tokenizer.from_file(str(OUT / "tokenizer.json"))
    pairs = sample_pairs(arguments.data, tokenizer, RANGE_PAIRS + CHECK_PAIRS, arguments.seed)
    small, full = graphs(load_file(arguments.trained / "reader.safetensors"), pairs[:RANGE_PAIRS])
    onnx.checker.check_model(small)
    found = parity(small, full, pairs[RANGE_PAIRS:])
    print(f"against float32: {found}")
    if found.spans < MIN_SPANS_SAME or found.mean > MAX_MEAN_SHIFT:
        raise SystemExit("refused: the quantised model is too far from the float32 one")
    arguments.out.mkdir(parents=True, exist_ok=True)
    content = small.SerializeToString(deterministic=True)
    (arguments.out / "reader.onnx").write_bytes(content)
    print(f"{len(content):>9,} bytes  {arguments.out / 'reader.onnx'}")
    if arguments.float32:
        arguments.float32.write_bytes(full.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
