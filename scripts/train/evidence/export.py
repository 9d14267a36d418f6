"""Write a trained evidence reader as one int8 ONNX file, and compare it with the network of training.

    python -m scripts.train.evidence.export --rows FOLDER --checkpoint FILE --bodies FOLDER --out FILE

The graph is the encoder's (`scripts/export_encoder.py` says how layers become integer arithmetic), with MPNet's
distances in the attention and the heads in float32; one question and passage a call. Ids are BERT's: rows of the word
table that the tokenizer does not use are left out, and a constant maps the ids. Positions and the pooled layer are kept
as int8 and read as float32. Fixed channel scales come from rows
set aside.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto
from tokenizers import Tokenizer

from scripts.export_encoder import Encoder, Float, calibration_ranges
from scripts.train.evidence import measuring, tokens
from scripts.train.evidence.measuring import MOST_TOKENS, VOCABULARY, Reader, Rows
from scripts.train.evidence.network import EPSILON, FIRST_POSITION, HEADS, EvidenceReader, bucket
from scripts.train.evidence.readers import CLS, SEP, NetworkReader, feed, loaded
from scripts.train.evidence.tokens import Pieces
from scripts.train.model import weights_of

RANGE_ROWS, CHECK_ROWS = 200, 200
UNKNOWN, BERT_PIECES = 100, 30_522  # of BERT's vocabulary: the id of [UNK], and its size


class EvidenceGraph(Encoder):
    """`input_ids`, of shape (tokens,), to `span` of shape (tokens, 2) and the logits of each head."""

    exact_gelu = "FastGelu"  # it is trained with the tanh form

    def __init__(self, model: EvidenceReader, ranges: dict[str, Float] | None, kept: Sequence[int]) -> None:
        super().__init__(weights_of(model), ranges)
        self.layers, self.epsilon = len(model.layers), EPSILON
        self._keep(kept)

    def _keep(self, kept: Sequence[int]) -> None:
        """Keep the word table's rows of these ids of BERT; the others are read as unknown."""
        table = self.weights["embeddings.word_embeddings.weight"]
        own = {CLS: tokens.CLS, SEP: tokens.SEP}
        rows = {one: own.get(one, one + tokens.SHIFT) for one in kept}
        self.weights = self.weights | {"embeddings.word_embeddings.weight": table[list(rows.values())]}
        places = {one: place for place, one in enumerate(rows)}
        self.places = np.array([places.get(one, places[UNKNOWN]) for one in range(BERT_PIECES)], np.int32)

    def words(self) -> str:
        g = self.graph
        places = g.op("Gather", g.const("word.places", self.places, np.int32), "input_ids")
        table = self.get("embeddings.word_embeddings.weight")
        if self.ranges is None:
            return g.op("Gather", g.const("words", table), places)
        scale = np.abs(table).max(1, keepdims=True) / 127
        words = g.const("words", np.rint(table / scale), np.int8)
        row = g.op("Cast", g.op("Gather", words, places), to=TensorProto.FLOAT)
        return g.op("Mul", row, g.op("Gather", g.const("words.scale", scale), places))

    def table(self, name: str, values: Float, *, axis: int = 1) -> str:
        """A constant that is kept as int8, one scale a row (or a column: `axis` 0), and read as float32."""
        g = self.graph
        if self.ranges is None:
            return g.const(name, values)
        scale = np.maximum(np.abs(values).max(axis, keepdims=True), 1e-9) / 127
        small = g.op("Cast", g.const(name, np.rint(values / scale), np.int8), to=TensorProto.FLOAT)
        return g.op("Mul", small, g.const(f"{name}.scale", scale))

    def positions(self, rows: str) -> str:
        g, first = self.graph, FIRST_POSITION
        table = self.get("embeddings.position_embeddings.weight")[first : first + MOST_TOKENS]
        places = g.op("Slice", self.table("positions", table), g.ints(0), rows)
        self.distances = self._distances(rows)
        return places

    def _distances(self, rows: str) -> str:
        """MPNet's bias of every pair of tokens, shape (heads, tokens, tokens); once for all layers."""
        g, far = self.graph, MOST_TOKENS - 1
        of_bucket = self.get("distances.weight")
        table = of_bucket[bucket(torch.arange(-far, far + 1)).numpy()]
        count = g.op("Squeeze", rows)
        places = g.op("Range", g.const("first", 0, np.int64), count, g.const("step", 1, np.int64))
        apart = g.op("Sub", g.op("Unsqueeze", places, g.ints(0)), g.op("Unsqueeze", places, g.ints(1)))
        apart = g.op("Add", apart, g.const("farthest", far, np.int64))
        return g.op("Transpose", g.op("Gather", g.const("distances", table), apart), perm=[2, 0, 1])

    def scores(self, query: str, key: str) -> str:
        return self.graph.op("Add", super().scores(query, key), self.distances)

    def build(self) -> onnx.ModelProto:
        g = self.graph
        x, norm = self.trunk()
        rows = g.op("Squeeze", x, g.ints(0))
        rows = g.op("Mul", rows, g.const("last.gain", self.get(norm + ".weight")))
        rows = g.op("Add", rows, g.const("last.shift", self.get(norm + ".bias")))
        self.linear(rows, "span", "span")
        first = g.op("Gather", rows, g.const("first", 0, np.int64), axis=0)
        pooled = g.op("Tanh", self.linear(first, "pooled"))
        for name in HEADS:
            self.linear(pooled, f"heads.{name}", name)
        outputs: dict[str, list[int | str]] = {
            "span": ["tokens", 2],
            **{name: [width] for name, width in HEADS.items()},
        }
        return g.model("evidence-reader", {"input_ids": ["tokens"]}, outputs)

    def linear(self, x: str, name: str, output: str = "") -> str:
        g, (weight, bias) = self.graph, self.dense(name)
        wide = weight.shape[1] > 8
        table = self.table(name + ".weight", weight, axis=0) if wide else g.const(name + ".weight", weight)
        product = g.op("MatMul", x, table)
        return g.op("Add", product, g.const(name + ".bias", bias), name=output)


@dataclass(frozen=True, slots=True)
class Parity:
    """Shares of rows with the same likeliest start, and the mean and largest difference of answerable's probability."""

    starts: float
    mean: float
    largest: float


def parity(small: Reader, full: Reader, pieces: Sequence[Pieces]) -> Parity:
    pairs = list(zip(small.read(pieces), full.read(pieces), strict=True))
    starts = [one["span"][0].argmax() == other["span"][0].argmax() for one, other in pairs]
    apart = [abs(_probability(one) - _probability(other)) for one, other in pairs]
    return Parity(float(np.mean(starts)), float(np.mean(apart)), float(np.max(apart)))


def _probability(logits: dict[str, measuring.Floats]) -> float:
    return float(1 / (1 + np.exp(-logits["answerable"][0])))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="folder of `measure.jsonl`")
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--bodies", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="file of the network")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    model = loaded(arguments.checkpoint, arguments.bodies)
    kept = sorted(Tokenizer.from_file(str(VOCABULARY)).get_vocab().values())
    pieces = Rows.read(arguments.rows / "measure.jsonl", RANGE_ROWS).pieces
    full = EvidenceGraph(model, None, kept).build()
    ranges: dict[str, Float] = calibration_ranges(full, [feed(one) for one in pieces[:RANGE_ROWS]])
    content = EvidenceGraph(model, ranges, kept).build().SerializeToString(deterministic=True)
    arguments.out.write_bytes(content)
    print(f"{len(content):>11,} bytes  {arguments.out}")

    checked = pieces[RANGE_ROWS : RANGE_ROWS + CHECK_ROWS]
    small, float32 = NetworkReader(content), NetworkReader(full.SerializeToString())
    torch_reader = measuring.TorchReader(model)
    with torch.no_grad():
        print(f"float32 graph against torch: {parity(float32, torch_reader, checked[:20])}")
    print(f"int8 against float32: {parity(small, float32, checked)}")
    began = time.process_time()
    small.read(checked)
    print(f"{len(checked) / (time.process_time() - began):.1f} rows a second of one core")


if __name__ == "__main__":
    main()
