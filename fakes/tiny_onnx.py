"""Writes tiny ONNX models with a tokenizer of a few words: a cross-encoder whose logit is the sum of its token ids, and
a sentence encoder that looks up a vector for each token.

The networks are written as protocol buffers by hand, because the package that makes them is a training dependency.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

FLOAT, INT64 = 1, 7


def write_cross_encoder(folder: Path, words: Mapping[str, int]) -> None:
    """`words` are the words that count, with their ids; all other words have the id 1."""
    _write_tokenizer(folder, words)
    (folder / "model.onnx").write_bytes(_model())


def write_encoder(folder: Path, vectors: Mapping[str, Sequence[float]], *, output: str = "last_hidden_state") -> None:
    """`vectors` are those of the words that count, padding first; an unknown word has the second."""
    _write_tokenizer(folder, {word: number for number, word in enumerate(vectors) if number > 1})
    (folder / "model.onnx").write_bytes(_lookup(list(vectors.values()), output))


def _write_tokenizer(folder: Path, words: Mapping[str, int]) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, "[UNK]": 1, **words}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))


def _model() -> bytes:
    cast = _node("Cast", "input_ids", "floats", _attribute("to", 2, _number(3, FLOAT)))
    summed = _node(
        "ReduceSum", "floats", "logits", _attribute("axes", 7, _number(8, 1)), _attribute("keepdims", 2, _number(3, 1))
    )
    graph = b"".join(
        [
            _bytes(1, cast),
            _bytes(1, summed),
            _text(2, "sum"),
            _bytes(11, _value("input_ids", INT64, "pairs", "tokens")),
            _bytes(12, _value("logits", FLOAT, "pairs", "one")),
        ]
    )
    return _network(graph)


def _lookup(rows: Sequence[Sequence[float]], output: str) -> bytes:
    size = len(rows[0])
    numbers = struct.pack(f"<{len(rows) * size}f", *(number for row in rows for number in row))
    table = _number(1, len(rows)) + _number(1, size) + _number(2, FLOAT) + _text(8, "table") + _bytes(9, numbers)
    gather = _text(1, "table") + _text(1, "input_ids") + _text(2, output) + _text(4, "Gather")
    graph = b"".join(
        [
            _bytes(1, gather),
            _text(2, "lookup"),
            _bytes(5, table),
            _bytes(11, _value("input_ids", INT64, "texts", "tokens")),
            _bytes(12, _value(output, FLOAT, "texts", "tokens", "size")),
        ]
    )
    return _network(graph)


def _network(graph: bytes) -> bytes:
    return _number(1, 7) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 11))


def _node(kind: str, taken: str, given: str, *attributes: bytes) -> bytes:
    return _text(1, taken) + _text(2, given) + _text(4, kind) + b"".join(_bytes(5, one) for one in attributes)


def _attribute(name: str, kind: int, value: bytes) -> bytes:
    return _text(1, name) + value + _number(20, kind)


def _value(name: str, kind: int, *dimensions: str) -> bytes:
    shape = b"".join(_bytes(1, _text(2, dimension)) for dimension in dimensions)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
