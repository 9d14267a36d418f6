"""The trained splitter as files of the package: an int8 graph, and what is known of it as JSON.

The trunk is the encoder's (`scripts/export_encoder.py` says how its layers become integer arithmetic) with fewer
layers, the shapes of the pieces added to the positions, and the heads in float32. One question a call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from tokenizers import Encoding, Tokenizer

from iterative_rag.builtin.question.span_decoding import KINDS, Split, decoded
from iterative_rag.builtin.question.splitter import FACTS, MAX_PIECES, NETWORK, shapes_of
from iterative_rag.builtin.question.wording import HEADS
from scripts.export_encoder import HIDDEN, Encoder, Feed, Float, Weights, calibration_ranges, session
from scripts.train.split_net import CHANNELS, WIDTH

Scores = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]
OUTPUTS: dict[str, list[int | str]] = {
    "stretches": [CHANNELS, "pieces", "pieces"],
    "kinds": [len(KINDS)],
    "wordings": [sum(len(head) for head in HEADS)],
}


class SplitterGraph(Encoder):
    """The trained splitter as a graph: `input_ids` and `shapes` to the scores of stretches and of kinds."""

    exact_gelu = "FastGelu"  # trained with the tanh form

    def __init__(self, weights: Weights, ranges: dict[str, Float] | None) -> None:
        super().__init__(weights, ranges)
        self.layers = sum(name.endswith("intermediate.dense.weight") for name in weights)

    def positions(self, rows: str) -> str:
        g = self.graph
        table = self.get("embeddings.position_embeddings.weight")[:MAX_PIECES]
        table = table + self.get("embeddings.token_type_embeddings.weight")[0]
        places = g.op("Slice", g.const("positions", table), g.ints(0), rows)
        return g.op("Add", places, g.op("Gather", g.const("shape.rows", self.get("shapes.weight")), "shapes"))

    def build(self) -> onnx.ModelProto:
        g = self.graph
        x, norm = self.trunk()
        rows = g.op("Squeeze", x, g.ints(0))
        first = self.head(rows, norm, "first", WIDTH**-0.5)
        last = self.head(rows, norm, "last", 1.0)
        first = g.op("Transpose", g.op("Reshape", first, g.ints(-1, CHANNELS, WIDTH)), perm=[1, 0, 2])
        last = g.op("Transpose", g.op("Reshape", last, g.ints(-1, CHANNELS, WIDTH)), perm=[1, 2, 0])
        bias = g.const("stretch.bias", self.get("bias")[:, None, None])
        g.op("Add", g.op("MatMul", first, last), bias, name="stretches")
        opening = g.op("Gather", rows, g.const("opening", 0, np.int64), axis=0)
        self.head(opening, norm, "kind", 1.0, "kinds")
        self.head(opening, norm, "wording", 1.0, "wordings")
        inputs: dict[str, list[int | str]] = {"input_ids": ["pieces"], "shapes": ["pieces"]}
        return g.model("minilm-splitter", inputs, OUTPUTS)

    def head(self, x: str, norm: str, name: str, scale: float, output: str = "") -> str:
        """A linear layer over rows that lack the last norm's gain and shift, which are folded into it."""
        g, (weight, bias) = self.graph, self.dense(name)
        gain, shift = self.get(norm + ".weight"), self.get(norm + ".bias")
        assert weight.shape[0] == HIDDEN
        product = g.op("MatMul", x, g.const(name + ".weight", weight * gain[:, None] * scale))
        return g.op("Add", product, g.const(name + ".bias", (bias + shift @ weight) * scale), name=output)


class Runner:
    """A graph with its tokenizer: questions to scores and to splits."""

    def __init__(self, model: onnx.ModelProto, tokenizer: str) -> None:
        self.session, self.tokenizer = session(model), Tokenizer.from_str(tokenizer)
        self.tokenizer.enable_truncation(MAX_PIECES)

    def scores(self, question: str) -> tuple[Encoding, Scores]:
        encoding = self.tokenizer.encode(question)
        stretches, kinds, wordings = self.session.run(list(OUTPUTS), feed(question, encoding))
        return encoding, (stretches, kinds, wordings)

    def split(self, question: str) -> Split:
        encoding, scores = self.scores(question)
        return decoded(question, encoding, scores)


def feed(question: str, encoding: Encoding) -> Feed:
    return {
        "input_ids": np.array(encoding.ids, np.int64),
        "shapes": np.array(shapes_of(question, encoding.offsets), np.int64),
    }


def graphs(weights: Weights, tokenizer: str, questions: Sequence[str]) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The int8 graph, its channel scales taken from questions, and the float32 one."""
    full = SplitterGraph(weights, None).build()
    reading = Tokenizer.from_str(tokenizer)
    reading.enable_truncation(MAX_PIECES)
    ranges = calibration_ranges(full, [feed(question, reading.encode(question)) for question in questions])
    return SplitterGraph(weights, ranges).build(), full


def write(out: Path, model: onnx.ModelProto, tokenizer: str, made: dict[str, Any]) -> None:
    """Both files; the JSON holds the digest of the network, the tokenizer and how it was made."""
    out.mkdir(parents=True, exist_ok=True)
    content = model.SerializeToString(deterministic=True)
    facts = {"sha256": hashlib.sha256(content).hexdigest(), "made": made, "tokenizer": json.loads(tokenizer)}
    (out / NETWORK).write_bytes(content)
    (out / FACTS).write_text(json.dumps(facts, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
