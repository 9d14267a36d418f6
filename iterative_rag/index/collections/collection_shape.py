"""What a collection tells of itself: the names, size and meaning of its vectors, and the keys of its payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusMismatch, UsageError
from iterative_rag.index.collections.stored_node import DOCUMENT_KEYS, PayloadKeys, node_of
from iterative_rag.index.sparse import bm25_document
from iterative_rag.protocols import Embedder

if TYPE_CHECKING:
    from qdrant_client import models

# LlamaIndex's names, where a collection has several vectors.
_DENSE_NAMES, _SPARSE_NAMES = ("text-dense", ""), ("text-sparse-new", "text-sparse")
# Points that are looked at to learn how a collection was written.
SAMPLE = 8
# The share of our own terms of a text that its sparse vector has to hold, to be of the same BM25.
_SAME_TERMS = 0.9
_DISTANCES = ("Euclid", "Manhattan")
_EMBEDDER_KEYS = ("embed_model", "embedding_model", "embed_model_name", "embedder")


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """`dense` is the name of the vectors, None where they have none; `sparse` that of the sparse ones, "" without any.

    `nearest_first`: the score of a point is a distance, and less is better. `bm25`: the sparse vectors are those of our
    BM25, so that a query can be made for them. `document_key` is the key by which the nodes of a document are found.
    `embedder` is the model that the collection names, "" where it names none.
    """

    dense: str | None
    size: int
    nearest_first: bool
    sparse: str
    bm25: bool
    document_key: str
    embedder: str


def shape_of(
    name: str, about: models.CollectionInfo, sample: Sequence[models.Record], keys: PayloadKeys
) -> CollectionShape:
    """Raises UsageError where the user has to name something, CorpusMismatch where there is nothing to read."""
    dense, vectors = _dense(name, about.config.params.vectors, keys)
    nearest_first = str(vectors.distance.value) in _DISTANCES
    sparse = _sparse(about.config.params.sparse_vectors or {})
    if not any(node_of(one.id, one.payload, keys).text for one in sample):
        fields = sorted({key for one in sample for key in one.payload or {} if not key.startswith("_")})[:12]
        raise CorpusMismatch(
            f"The collection {name!r} holds no text"
            + (f" under {keys.text!r}." if keys.text else " under the usual keys." if sample else ": it is empty."),
            hint=f"Name the key of the text: ?text=KEY. There are: {', '.join(fields)}." if fields else "",
        )
    document = keys.document or next(
        (key for key in DOCUMENT_KEYS if any(key in (one.payload or {}) for one in sample)), DOCUMENT_KEYS[0]
    )
    bm25 = bool(sparse) and _is_bm25(sample, sparse, keys)
    return CollectionShape(dense, int(vectors.size), nearest_first, sparse, bm25, document, _embedder(about, sample))


def check_embedder(name: str, shape: CollectionShape, embedder: Embedder) -> None:
    """Raise CorpusMismatch where the collection was written with another embedder."""
    told = f", with {shape.embedder}" if shape.embedder else ""
    ask = f"ollama/{_bare(shape.embedder)}" if shape.embedder else "ollama/MODEL"
    hint = (
        f"Ask with the model that wrote it: --embedder {ask}, or openai-like/{shape.embedder or 'MODEL'}@URL; "
        "from Python any LlamaIndex embedding object, as embed_model."
    )
    if embedder.dimensions != shape.size:
        raise CorpusMismatch(
            f"The collection {name!r} was written with vectors of {shape.size} dimensions{told}, and {embedder.name} "
            f"makes {embedder.dimensions}.",
            hint=hint,
        )
    if shape.embedder and _bare(shape.embedder) not in embedder.name.lower():
        raise CorpusMismatch(
            f"The collection {name!r} was written with {shape.embedder}, not with {embedder.name}.", hint=hint
        )


def _bare(model: str) -> str:
    """The name of a model without its maker and version: `bge-m3` of `BAAI/bge-m3` and `bge-m3:latest`."""
    return model.rpartition("/")[2].partition(":")[0].lower()


def _dense(name: str, vectors: Any, keys: PayloadKeys) -> tuple[str | None, models.VectorParams]:
    if not isinstance(vectors, Mapping):
        if vectors is None:
            raise CorpusMismatch(f"The collection {name!r} has no dense vectors.", hint="Name another collection.")
        return None, vectors
    chosen = [keys.vector] if keys.vector else [one for one in _DENSE_NAMES if one in vectors] or list(vectors)
    if len(chosen) != 1 or chosen[0] not in vectors:
        raise UsageError(
            f"The collection {name!r} has vectors of the names {', '.join(sorted(vectors))}.",
            hint="Name those to search: ?vector=NAME",
        )
    return chosen[0], vectors[chosen[0]]


def _sparse(vectors: Mapping[str, Any]) -> str:
    return next((one for one in _SPARSE_NAMES if one in vectors), next(iter(vectors), ""))


def _is_bm25(sample: Sequence[models.Record], sparse: str, keys: PayloadKeys) -> bool:
    """Whether every sampled text has our terms in its sparse vector; LlamaIndex adds those of the metadata."""
    compared = 0
    for one in sample:
        vector = one.vector.get(sparse) if isinstance(one.vector, Mapping) else None
        terms = set(bm25_document(node_of(one.id, one.payload, keys).text)[0])
        if vector is None or not terms:
            continue
        if len(terms & set(vector.indices)) < _SAME_TERMS * len(terms):  # type: ignore[union-attr]
            return False
        compared += 1
    return compared > 0


def _embedder(about: models.CollectionInfo, sample: Sequence[models.Record]) -> str:
    notes = [getattr(about.config, "metadata", None) or {}, *(one.payload or {} for one in sample)]
    found = (note.get(key) for note in notes for key in _EMBEDDER_KEYS)
    return next((one for one in found if isinstance(one, str) and one), "")
