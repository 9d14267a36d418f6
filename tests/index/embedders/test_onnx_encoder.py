"""Encoders in ONNX form: what the folder says of pooling, prompts and length is done, and what is wrong is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes.tiny_onnx import write_encoder
from iterative_rag.errors import EmbedderError
from iterative_rag.index.embedders.embedder_choice import embedder
from iterative_rag.protocols import Embedder

VECTORS = {
    "[PAD]": (100.0, 100.0, 100.0),  # would show in every mean that counts it
    "other": (0.0, 0.0, 0.1),
    "river": (1.0, 0.0, 0.0),
    "castle": (0.0, 1.0, 0.0),
    "find": (3.0, 0.0, 0.0),
    "store": (0.0, 3.0, 0.0),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_encoder(tmp_path / "tiny encoder", VECTORS)
    return tmp_path / "tiny encoder"


def told(folder: Path, **files: Any) -> Embedder:
    """The encoder of the folder with these settings: `Pooling` is 1_Pooling/config.json."""
    for name, held in files.items():
        file = folder / ("1_Pooling/config.json" if name == "Pooling" else f"{name}.json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(held), encoding="utf-8")
    return embedder(f"onnx/{folder}")


def unit(*numbers: float) -> Any:
    return pytest.approx(np.array(numbers) / np.linalg.norm(numbers), abs=1e-5)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, unit(0.5, 0.5, 0.0)),
        ("pooling_mode_mean_tokens", unit(0.5, 0.5, 0.0)),
        ("pooling_mode_cls_token", unit(1, 0, 0)),
        ("pooling_mode_lasttoken", unit(0, 1, 0)),
        ("pooling_mode_max_tokens", unit(1, 1, 0)),
    ],
)
def test_tokens_are_pooled_as_the_folder_says(folder: Path, mode: str | None, expected: Any) -> None:
    model = told(folder, Pooling={mode: True, "pooling_mode_sqrt": False}) if mode else told(folder)
    short, long = model.embed_documents(["river castle", "castle " * 40])  # padded to one length
    assert short == expected
    assert long == unit(0, 1, 0)
    assert model.embed_query("river castle") == expected
    assert (model.dimensions, short.dtype) == (3, np.float32)


def test_prompts_and_length_are_those_of_the_folder(folder: Path) -> None:
    plain = told(folder)
    model = told(
        folder,
        config_sentence_transformers={"prompts": {"query": "find ", "passage": "store "}},
        sentence_bert_config={"max_seq_length": 3},
    )
    assert model.embed_query("castle") == unit(3, 1, 0)
    assert model.embed_documents(["river castle castle castle"])[0] == unit(1, 4, 0)
    assert model.name != plain.name  # an index of the one is not searched with the other
    assert told(folder).name == model.name
    assert model.embed_documents([]).shape == (0, 3)


def test_a_folder_that_was_moved_or_exported_into_onnx_is_the_same(folder: Path, tmp_path: Path) -> None:
    name = told(folder).name
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    os.utime(folder / "onnx" / "model.onnx", (1, 1))
    (tmp_path / "elsewhere").mkdir()
    moved = folder.rename(tmp_path / "elsewhere" / folder.name)
    assert told(moved).name == name
    assert embedder(f"onnx/{moved}/onnx/model.onnx").name == name


def test_a_folder_that_cannot_be_used_is_told(folder: Path, tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none", "There is no"), (folder / "tokenizer.json" / "x", "There is no")):
        with pytest.raises(EmbedderError, match=said) as missing:
            embedder(f"onnx/{path}")
        assert "tokenizer.json" in missing.value.hint
    for files in (
        {"Pooling": {"pooling_mode_weightedmean_tokens": True}},
        {"Pooling": {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}},
        {"Pooling": {}, "modules": [{"type": "sentence_transformers.models.Dense"}]},
    ):
        with pytest.raises(EmbedderError, match="not done here"):
            told(folder, **files).embed_query("river")
    with pytest.raises(EmbedderError, match=r"modules\.json cannot be read"):
        told(folder, Pooling={}, modules=[3]).embed_query("river")
    (folder / "model.onnx").write_bytes(b"no network")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        embedder(f"onnx/{folder}").embed_query("river")
