"""Every vector store keeps the same promises: the same points in, the same results in the same order out.

The embedded store, as it is written and after it was sealed, and the server's adapter run through the same tests. Where
there is no server, qdrant-client's in-memory one stands in; `pytest -m live --allow-hosts=HOST tests/index` with
QDRANT_URL=qdrant://HOST:6333 (and QDRANT_API_KEY) runs them against a real one, and removes the collections that it
makes.
"""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes.in_memory_qdrant import InMemoryQdrant, server_place
from iterative_rag.index import edge_place
from iterative_rag.index.catalogue import Points
from iterative_rag.index.edge_place import EdgePlace
from iterative_rag.index.edge_store import pack
from iterative_rag.index.server.server_address import parse_address
from iterative_rag.index.server.server_store import ServerPlace
from iterative_rag.index.vector_store import PassagePlace, Place, VectorPoint, point_id
from iterative_rag.protocols import Vectors

# Before the tests' own environment hides it.
LIVE_KEY = os.environ.get("QDRANT_API_KEY", "")

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")

DIMENSIONS = 24
OWNER = "a corpus"
TOLD = "river castle bridge market canal king queen painter harbour monk school battle treaty organ valley"
WORDS = TOLD.split()
QUERIES = [
    "Which river has a castle, a bridge, a market and a canal?",
    "the painter of the harbour, the king, the monk and the school",
    "queen",
    "the of",  # stop words alone: BM25 has nothing to look for
    "zeppelin",  # a word that no passage has
]


@dataclass(frozen=True)
class Shelf:
    """Passages with their vectors, each different from every other, and some queries with theirs."""

    points: list[VectorPoint]
    vectors: Vectors
    queries: list[tuple[str, list[float]]]

    def part(self, *documents: str) -> tuple[list[VectorPoint], Vectors]:
        chosen = [number for number, one in enumerate(self.points) if one.document_id in documents]
        return [self.points[number] for number in chosen], self.vectors[chosen]


def units(count: int, seed: int) -> Vectors:
    drawn = np.random.default_rng(seed).standard_normal((count, DIMENSIONS))
    made: Vectors = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return made


def passages(document: str, version: str, count: int) -> list[VectorPoint]:
    draw = random.Random(f"{document}{version}")
    return [
        VectorPoint(document, version, n, 10 * n, 10 * n + 9, " ".join(draw.choices(WORDS, k=draw.randint(5, 30))))
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    points = [one for number in range(30) for one in passages(f"d{number:02}", "v1", 1 + number % 7)]
    queries = list(zip(QUERIES, units(len(QUERIES), 2).tolist(), strict=True))
    return Shelf(points, units(len(points), 1), queries)


def edge(tmp_path: Path) -> Place:
    return EdgePlace(tmp_path / "vectors")


class SealedPlace(EdgePlace):
    """Seals what it was filled with, and is written to from there on."""


def sealed(tmp_path: Path) -> Place:
    return SealedPlace(tmp_path / "vectors")


def stand_in(tmp_path: Path) -> Place:
    return server_place(InMemoryQdrant(), "contract")


def live(tmp_path: Path) -> Place:
    url = os.environ.get("QDRANT_URL", "")
    if not url:
        pytest.skip("needs a Qdrant server: QDRANT_URL=qdrant://HOST:6333")
    address = parse_address(url)
    return ServerPlace(address, f"contract-{uuid.uuid4().hex[:8]}")


STORES = [edge, sealed, stand_in, pytest.param(live, marks=pytest.mark.live)]


@pytest.fixture(params=STORES, ids=["edge", "sealed", "server", "live"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    make: Callable[[Path], Place] = request.param
    monkeypatch = request.getfixturevalue("monkeypatch")
    if LIVE_KEY and make is live:
        monkeypatch.setenv("QDRANT_API_KEY", LIVE_KEY)
    monkeypatch.setattr(edge_place, "SEALED_POINTS", 1 if make is sealed else 10**9)
    monkeypatch.setattr(edge_place, "seal", pack)  # a process of its own each time would take long
    made = make(tmp_path)
    made.create(DIMENSIONS, OWNER)
    yield made
    made.remove(OWNER)


@pytest.fixture
def reference(shelf: Shelf, tmp_path: Path) -> Iterator[Any]:
    """The embedded store with the whole shelf: what every store must agree with."""
    other = EdgePlace(tmp_path / "reference")
    other.create(DIMENSIONS, OWNER)
    with closing(other.work(0)) as store:
        store.write(shelf.points, shelf.vectors)
        yield store


def filled(place: Place, shelf: Shelf) -> Any:
    store = place.work(0, dimensions=DIMENSIONS, owner=OWNER)
    for low in range(0, len(shelf.points), 40):
        store.write(shelf.points[low : low + 40], shelf.vectors[low : low + 40])
    if isinstance(place, SealedPlace):
        place.publish(0, DIMENSIONS, last=True)
        store = opened(place)
    return closing(store)


def opened(place: Place, points: int = 0) -> Any:
    published = 1 if isinstance(place, SealedPlace) and place.exists() and not place.begun(0) else 0
    return place.work(published, points=points, dimensions=DIMENSIONS, owner=OWNER)


def found(
    store: Any, queries: list[tuple[str, list[float]]], limit: int
) -> list[tuple[list[PassagePlace], list[PassagePlace]]]:
    """The passages that a search finds."""
    halves = store.search(queries, limit)
    passages = store.passages([one for both in halves for half in both for one in half])
    return [([passages[one] for one in dense], [passages[one] for one in sparse]) for dense, sparse in halves]


def test_the_same_points_give_the_same_results_in_the_same_order(place: Place, shelf: Shelf, reference: Any) -> None:
    with filled(place, shelf) as store:
        assert store.count() == len(shelf.points)
        for limit in (1, 7, len(shelf.points)):
            halves = found(store, shelf.queries, limit)
            assert halves == found(reference, shelf.queries, limit)
            assert all(len(dense) == limit for dense, _ in halves)
        dense, sparse = halves[0]
        assert set(dense) == {PassagePlace(one.document_id, one.version, one.start, one.end) for one in shelf.points}
        assert 0 < len(sparse) <= len(dense)
        assert halves[3][1] == halves[4][1] == []


def test_the_order_is_that_of_the_definition(place: Place, shelf: Shelf) -> None:
    """The dense half by inner product, reckoned here."""
    with filled(place, shelf) as store:
        halves = found(store, shelf.queries, 10)
    for (_, vector), (dense, _) in zip(shelf.queries, halves, strict=True):
        best = np.argsort(-(shelf.vectors @ np.array(vector, np.float32)))[:10]
        assert [(one.document_id, one.start) for one in dense] == [
            (shelf.points[number].document_id, shelf.points[number].start) for number in best
        ]


def test_written_again_a_point_is_replaced_not_doubled(place: Place, shelf: Shelf, reference: Any) -> None:
    with filled(place, shelf) as store:
        before = store.search(shelf.queries, 50)
        part = shelf.part("d03", "d20")
        store.write(*part)
        assert store.count() == len(shelf.points)
        assert store.search(shelf.queries, 50) == before
        store.write(part[0], units(len(part[0]), 9))
        reference.write(part[0], units(len(part[0]), 9))
        assert store.search(shelf.queries, 50) == reference.search(shelf.queries, 50) != before


def test_what_is_deleted_is_gone_from_both_halves_and_from_the_frequencies(
    place: Place, shelf: Shelf, tmp_path: Path
) -> None:
    gone = [f"d{number:02}" for number in range(0, 30, 2)]
    alone = EdgePlace(tmp_path / "alone")
    alone.create(DIMENSIONS, OWNER)
    rest = shelf.part(*(f"d{number:02}" for number in range(1, 30, 2)))
    with filled(place, shelf) as store, closing(alone.work(0)) as expected:
        store.delete([Points(one, "v1", 7) for one in gone])  # more ordinals than some have: no error
        expected.write(*rest)
        assert store.count() == len(rest[0])
        assert store.search(shelf.queries, 100) == expected.search(shelf.queries, 100)
        store.delete([Points("nothing", "v1", 3)])
        assert store.count() == len(rest[0])


def test_a_part_ranks_as_a_store_of_its_own(place: Place, shelf: Shelf, tmp_path: Path) -> None:
    chosen = shelf.part("d02", "d12", "d13", "d27")
    among = {point_id(one.document_id, one.version, one.ordinal) for one in chosen[0]}
    alone = EdgePlace(tmp_path / "alone")
    alone.create(DIMENSIONS, OWNER)
    with filled(place, shelf) as store, closing(alone.work(0)) as expected:
        expected.write(*chosen)
        assert store.search(shelf.queries, 50, among=among) == expected.search(shelf.queries, 50)
        # What is outside stays outside, and asking for a part changes nothing for the next.
        assert len(store.search(shelf.queries, 50)[0][0]) == 50
        assert store.search(shelf.queries, 5, among={uuid.uuid4()}) == [([], [])] * len(QUERIES)
