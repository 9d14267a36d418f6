"""Writes a tiny cross-encoder: an ONNX network whose logit is the sum of its token ids, and a tokenizer of a few words.

The network is written as protocol buffers by hand, because the package that makes them is a training dependency.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FLOAT, INT64 = 1, 7


def write_cross_encoder(folder: Path, words: Mapping[str, int]) -> None:
    """`words` are the words that count, with their ids; all other words have the id 1."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, "[UNK]": 1, **words}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_model())


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
