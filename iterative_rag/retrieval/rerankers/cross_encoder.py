"""A cross-encoder in ONNX form, with the `tokenizer.json` beside it, on this machine's CPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iterative_rag.protocols import Cache, Reranker
from iterative_rag.remote.model_spec import Spec
from iterative_rag.retrieval.onnx_folder import OnnxFolder
from iterative_rag.retrieval.rerankers.reranker_choice import cached_relevance
from iterative_rag.settings import Settings

BATCH = 8


class CrossEncoder:
    """Implements protocols.Reranker. The model is loaded with the first query; `relevance` raises WeightsError."""

    def __init__(self, path: Path, cache: Cache | None = None) -> None:
        self._folder = OnnxFolder(path, truncate="only_second")
        self._cache = cache
        changed = self._folder.file.stat()
        self.name = f"onnx/{self._folder.file} {changed.st_size} {changed.st_mtime_ns}"

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        def score() -> list[float]:
            texts = [f"{title}\n{text}" for title, text in passages]
            batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
            return [value for batch in batches for value in self._batch(query, batch)]

        return cached_relevance(self._cache, self.name, query, passages, score)

    def _batch(self, query: str, texts: Sequence[str]) -> list[float]:
        outputs = self._folder.run(self._folder.encode([(query, text) for text in texts]))
        logits = next(iter(outputs.values()))
        # One logit a pair; a classifier of two says in the last how relevant the pair is.
        return [float(row.reshape(-1)[-1]) for row in logits]


def build(spec: Spec, settings: Settings, *, cache: Cache | None) -> Reranker:
    return CrossEncoder(Path(spec.model), cache)
