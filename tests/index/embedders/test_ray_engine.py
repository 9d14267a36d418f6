"""Indexing on a Ray cluster: the same points as on one machine, whatever happens to the workers.

A cluster takes long to start: what needs one is played with --nightly.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.errors import EmbedderError
from iterative_rag.index import ingest as ingest_module
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.embedders.engines import RayEngine
from iterative_rag.index.ingest import ingest
from iterative_rag.protocols import Vectors
from iterative_rag.sources import open_source

ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
cluster_utils = pytest.importorskip("ray.cluster_utils")


class Mortal(HashingEmbedder):
    """Leaves its process id, and dies in the middle of a batch as often as there are files in `orders`."""

    def __init__(self, folder: str) -> None:
        super().__init__(32)
        self._folder = Path(folder)
        (self._folder / f"pid-{os.getpid()}").touch()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        time.sleep(0.02)
        for order in self._folder.glob("die-*"):
            try:
                order.unlink()
            except FileNotFoundError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)


class Refusing(HashingEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderError("The model is gone.", hint="Bring it back.")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Two nodes of one core each, on loopback, whose workers can import this module."""
    os.environ["PYTHONPATH"] = os.pathsep.join((str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")))
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}, shutdown_at_exit=True
    )
    made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    folder.mkdir()
    for n in range(60):
        text = "\n\n".join(f"Paragraph {part} of town{n} on its river{n * part} and its mill." * 6 for part in range(4))
        (folder / f"Town_{n}.md").write_text(f"# Town {n}\n\n{text}\n", encoding="utf-8")
    return folder


def points(corpora: Corpora) -> dict[str, Any]:
    from qdrant_edge import EdgeShard, ScrollRequest

    [published] = (corpora.root / "c" / "vectors").iterdir()
    shard = EdgeShard.load(str(published))
    with closing(shard):
        rows: Any = shard.scroll(ScrollRequest(limit=10_000, with_payload=True, with_vector=True))[0]
    return {str(one.id): (str(sorted(one.payload.items())), tuple(one.vector["dense"])) for one in rows}


@pytest.mark.nightly
def test_two_nodes_with_dying_workers_make_the_same_index(
    cluster: None, articles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "BATCH", 16)
    orders = tmp_path / "orders"
    orders.mkdir()
    embedder = HashingEmbedder(32)
    with closing(RayEngine(partial(Mortal, str(orders)), embedder)) as engine:
        assert engine.ahead == 4
        for n in range(3):
            (orders / f"die-{n}").touch()
        far = Corpora(tmp_path / "far")
        report = ingest([open_source(articles)], far, "c", embedder, engine=engine)
    assert not list(orders.glob("die-*"))
    assert len(list(orders.glob("pid-*"))) >= 2 + 3
    near = Corpora(tmp_path / "near")
    assert ingest([open_source(articles)], near, "c", embedder).passages == report.passages > 16 * 4
    assert points(far) == points(near)
    assert far.info("c").state == "ready"


@pytest.mark.nightly
def test_an_error_of_a_worker_is_the_embedders_own(cluster: None, articles: Path, tmp_path: Path) -> None:
    embedder = HashingEmbedder(32)
    with closing(RayEngine(partial(Refusing, 32), embedder)) as engine, pytest.raises(EmbedderError, match="is gone"):
        ingest([open_source(articles)], Corpora(tmp_path / "c"), "c", embedder, engine=engine)


@pytest.mark.nightly
def test_workers_with_another_embedder_are_refused(cluster: None) -> None:
    with pytest.raises(EmbedderError, match="hashing-16, not hashing-32"):
        RayEngine(partial(HashingEmbedder, 16), HashingEmbedder(32))


def test_a_cluster_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(EmbedderError, match=r"No Ray cluster answers at 127\.0\.0\.1:1:"):
        RayEngine(partial(HashingEmbedder, 32), HashingEmbedder(32), "127.0.0.1:1")
