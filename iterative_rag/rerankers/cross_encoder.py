"""A cross-encoder in ONNX form, with the `tokenizer.json` beside it, on this machine's CPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import WeightsError
from iterative_rag.protocols import Cache, Reranker
from iterative_rag.remote.model_spec import Spec
from iterative_rag.rerankers.cached_relevance import cached_relevance
from iterative_rag.settings import Settings
from iterative_rag.system.telemetry import warn_if_on

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
MAX_TOKENS, BATCH = 512, 8
HINT = f"Name a folder that holds {MODEL} and {TOKENIZER}, or an .onnx file beside {TOKENIZER}: onnx/PATH"


class CrossEncoder:
    """Implements protocols.Reranker. The model is loaded with the first query; `relevance` raises WeightsError."""

    def __init__(self, path: Path, cache: Cache | None = None) -> None:
        path = path.expanduser().absolute()
        self._file = path / MODEL if path.is_dir() else path
        self._cache, self._lock = cache, threading.Lock()
        self._loaded: tuple[Any, Tokenizer] | None = None
        for file in (self._file, self._file.parent / TOKENIZER):
            if not file.is_file():
                raise WeightsError(f"There is no {file}.", hint=HINT)
        changed = self._file.stat()
        self.name = f"onnx/{self._file} {changed.st_size} {changed.st_mtime_ns}"

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        def score() -> list[float]:
            texts = [f"{title}\n{text}" for title, text in passages]
            batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
            return [one for batch in batches for one in self._batch(query, batch)]

        return cached_relevance(self._cache, self.name, query, passages, score)

    def _batch(self, query: str, texts: Sequence[str]) -> list[float]:
        import numpy as np

        session, tokenizer = self._model()
        encoded = tokenizer.encode_batch([(query, text) for text in texts])
        known = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        try:
            inputs = {one.name: np.array(known[one.name], np.int64) for one in session.get_inputs()}
            (logits, *_) = session.run(None, inputs)
        except Exception as error:  # onnxruntime raises classes of its own, and KeyError is an input that is unknown
            raise WeightsError(f"{self._file} cannot score pairs: {error}.", hint=HINT) from error
        # One logit a pair; a classifier of two says in the last how relevant the pair is.
        return [float(row.reshape(-1)[-1]) for row in np.asarray(logits)]

    def _model(self) -> tuple[Any, Tokenizer]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._file)
            return self._loaded


def _load(file: Path) -> tuple[Any, Tokenizer]:
    warn_if_on("onnxruntime")
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file.parent / TOKENIZER))
        tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        tokenizer.enable_padding()
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise classes of their own
        raise WeightsError(f"{file} cannot be loaded: {error}.", hint=HINT) from error
    return session, tokenizer


def build(spec: Spec, settings: Settings, *, cache: Cache | None) -> Reranker:
    return CrossEncoder(Path(spec.model), cache)
