"""Readers to be exported and compared: the checkpoint of a training, and an exported file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scripts.train.evidence.fetch_body import published
from scripts.train.evidence.measuring import Floats
from scripts.train.evidence.network import STUDENT_LAYERS, EvidenceReader, load_body
from scripts.train.evidence.tokens import Ints, Pieces

CLS, SEP = 101, 102  # of BERT


def feed(pieces: Pieces) -> dict[str, Ints]:
    """The input of an exported network: one pair, in BERT's ids, without padding."""
    ids = [CLS, *pieces.question, SEP, *pieces.heading, *pieces.passage, SEP]
    return {"input_ids": np.array(ids, np.int64)}


class NetworkReader:
    """Runs an ONNX file on one thread, a pair a call."""

    def __init__(self, network: Path | bytes) -> None:
        import onnxruntime  # type: ignore[import-untyped]

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        source = network if isinstance(network, bytes) else str(network)
        self._session: Any = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])

    def run(self, pieces: Pieces) -> dict[str, Floats]:
        names = [one.name for one in self._session.get_outputs()]
        return dict(zip(names, self._session.run(None, feed(pieces)), strict=True))

    def read(self, pieces: Sequence[Pieces]) -> list[dict[str, Floats]]:
        return [_of_the_passage(self.run(one), "span", one) for one in pieces]


def _of_the_passage(out: dict[str, Floats], name: str, pieces: Pieces) -> dict[str, Floats]:
    """The outputs with the spans of the passage alone, shape (2, pieces)."""
    begin = len(pieces.question) + len(pieces.heading) + 2
    return out | {"span": out.pop(name)[begin : begin + len(pieces.passage)].T}


def loaded(checkpoint: Path, bodies: Path) -> EvidenceReader:
    """The network of a checkpoint: what was not trained comes from the published body."""
    model = EvidenceReader(STUDENT_LAYERS)
    load_body(model, published(bodies))
    model.load_state_dict(torch.load(checkpoint, weights_only=True, map_location="cpu"), strict=False)
    return model.eval()
