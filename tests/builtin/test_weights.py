"""The weights of the three networks: what ships is what names and model card say, and damage is a typed error."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from iterative_rag.builtin import encoder, networks
from iterative_rag.builtin.encoder import BuiltinEncoder
from iterative_rag.builtin.question.splitter import FACTS, NETWORK, Splitter
from iterative_rag.builtin.reading import evidence_reader
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, PassageText
from iterative_rag.errors import WeightsError
from tests.nightly import sliced

FOLDER = Path(networks.__file__).parent / "weights"
# How each network is run over the weights of a folder.
RUNS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(encoder.WEIGHTS, lambda folder: BuiltinEncoder(weights=folder).embed_query("text")),
    **dict.fromkeys(
        evidence_reader.WEIGHTS,
        lambda folder: EvidenceReader(weights=folder).read("Who?", [PassageText("", "", "Ann Lee baked.")]),
    ),
    **dict.fromkeys((NETWORK, FACTS), lambda folder: Splitter(weights=folder).split("Who was Mira Dolvane?")),
}


def test_weights_are_the_ones_the_names_stand_for() -> None:
    # Changing a file means changing its name: indexes and readings of the old weights must be refused.
    assert encoder.NAME == BuiltinEncoder().name == "builtin/all-minilm-l6-v2-tuned@1"
    assert evidence_reader.NAME == EvidenceReader().name == "builtin/mpnet-evidence@5"
    for name, digest in (encoder.WEIGHTS | evidence_reader.WEIGHTS).items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest


def test_they_travel_with_card_and_licence_and_stay_small() -> None:
    card = (FOLDER.parent / "MODEL_CARD.md").read_text(encoding="utf-8")
    for name, digest in evidence_reader.WEIGHTS.items():
        assert f"| sha256 of `weights/{name}` | `{digest}` ({(FOLDER / name).stat().st_size:,} bytes" in card
    assert "Apache License" in (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert "Changes" in (FOLDER / "NOTICE").read_text(encoding="utf-8")
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 110_000_000


DAMAGES = [(name, damage) for damage in ("missing", "cut", "changed", "folder") for name in RUNS]


@pytest.mark.parametrize(("name", "damage"), sliced(DAMAGES, 3))
def test_missing_or_damaged_weights_are_a_typed_error(tmp_path: Path, name: str, damage: str) -> None:
    weights = tmp_path / "weights"
    shutil.copytree(FOLDER, weights, copy_function=lambda *paths: Path(paths[1]).symlink_to(paths[0]))
    content = (weights / name).read_bytes()
    (weights / name).unlink()
    if damage == "cut":
        (weights / name).write_bytes(content[:100])
    elif damage == "changed":
        (weights / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "folder":
        (weights / name).mkdir()
    for _ in range(2):  # a failed load is not remembered as a loaded model
        with pytest.raises(WeightsError, match=r"splitter" if name == FACTS else name.replace(".", r"\.")) as caught:
            RUNS[name](weights)
        assert "pip install" in caught.value.hint


def test_constructing_imports_nothing_heavy() -> None:
    code = (
        "import sys; from iterative_rag.builtin.encoder import BuiltinEncoder; BuiltinEncoder();"
        "from iterative_rag.builtin.reading.evidence_reader import EvidenceReader; EvidenceReader();"
        "print([m for m in ('onnxruntime', 'tokenizers', 'numpy') if m in sys.modules])"
    )
    root = FOLDER.parents[2]
    result = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
