"""Indexing: incremental, resumable after any kill, honest about what was skipped."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections import namedtuple
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.errors import CorpusError, CorpusMismatch, CorpusNotFound, UsageError
from iterative_rag.index import ingest as ingest_module
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.indexing_progress import Progress
from iterative_rag.index.ingest import IngestReport, ingest
from iterative_rag.protocols import Vectors
from iterative_rag.sources import open_source
from tests.nightly import sliced

EMBEDDER = HashingEmbedder(32)


@pytest.fixture
def corpora(tmp_path: Path) -> Corpora:
    return Corpora(tmp_path / "corpora")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "articles"
    write_articles(folder, range(12))
    return folder


def write_articles(folder: Path, numbers: range) -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        # The third has more passages than a small batch holds.
        sentences = [
            f"Article {number} says thing {n} about subject{number}." for n in range(90 if number == 3 else 25)
        ]
        (folder / f"Article_{number}.txt").write_text(" ".join(sentences), encoding="utf-8")


def index(corpora: Corpora, *paths: Path, **options: object) -> IngestReport:
    return ingest([open_source(path) for path in paths], corpora, "c", EMBEDDER, **options)  # type: ignore[arg-type]


def counts(report: IngestReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def content(corpora: Corpora) -> dict[str, tuple[object, ...]]:
    """Every point with payload and vectors, and every document: what two equal indexes agree on."""
    from qdrant_edge import EdgeShard, ScrollRequest

    [*_, newest] = sorted((corpora.root / "c" / "vectors").iterdir(), key=lambda path: int(path.name))
    shard = EdgeShard.load(str(newest))
    found: Any = shard.scroll(ScrollRequest(limit=100_000, with_payload=True, with_vector=True))[0]
    shard.close()
    points: dict[str, tuple[object, ...]] = {}
    for record in found:
        vector = record.vector
        dense = tuple(np.round(np.asarray(vector["dense"]), 5))
        sparse = (tuple(vector["bm25"].indices), tuple(vector["bm25"].values))
        points[str(record.id)] = (json.dumps(record.payload, sort_keys=True), dense, sparse)
    with closing(corpora.open("c", EMBEDDER)) as corpus:
        for title in corpus.titles():
            points[title] = tuple(corpus.find(title))
    return points


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(32)
        self.texts: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().embed_documents(texts)


def test_an_unchanged_corpus_is_only_hashed(corpora: Corpora, folder: Path) -> None:
    assert counts(index(corpora, folder)) == (12, 0, 0, 0)
    before = content(corpora)
    embedder = Counting()
    report = ingest([open_source(folder)], corpora, "c", embedder)
    assert counts(report) == (0, 0, 12, 0)
    assert report.passages == 0
    assert embedder.texts == []
    assert content(corpora) == before


def test_only_what_changed_is_embedded_and_vanished_documents_go(corpora: Corpora, folder: Path) -> None:
    index(corpora, folder)
    with closing(corpora.open("c", EMBEDDER)) as corpus:
        first = corpus.fingerprint
        assert corpus.search(["subject2"], 1)[0][0].title == "Article 2"
        (folder / "Article_1.txt").write_text("Now it tells of a zebra.", encoding="utf-8")
        (folder / "Article_2.txt").unlink()
        (folder / "Article_99.txt").write_text("A new one about quokkas.", encoding="utf-8")
        embedder = Counting()
        report = ingest([open_source(folder)], corpora, "c", embedder)
        assert counts(report) == (1, 1, 10, 1)
        assert sorted(embedder.texts) == ["Article 1\nNow it tells of a zebra.", "Article 99\nA new one about quokkas."]
        # The corpus that was open all the while sees the new state.
        assert corpus.fingerprint != first
        assert corpus.search(["zebra"], 1)[0][0].title == "Article 1"
        assert corpus.search(["quokkas"], 1)[0][0].title == "Article 99"
        titles = {hit.title for hits in corpus.search(["subject1", "subject2 thing"], 50) for hit in hits}
        assert "Article 2" not in titles
        for hit in corpus.search(["subject1"], 50)[0]:
            assert hit.end <= len(corpus.document(hit.document_id).text)
    fresh = Corpora(corpora.root.parent / "fresh")
    index(fresh, folder)
    assert content(fresh) == content(corpora)


def test_nothing_but_skipped_files_is_an_error_and_removes_nothing(corpora: Corpora, folder: Path) -> None:
    index(corpora, folder)
    for path in folder.iterdir():
        path.write_bytes(b"\0")
    with pytest.raises(CorpusError, match="all 12 files") as raised:
        index(corpora, folder)
    assert "binary" in raised.value.hint
    assert corpora.info("c").documents == 12
    with pytest.raises(UsageError):
        ingest([], corpora, "c", EMBEDDER)


def test_what_cannot_be_read_for_once_stays(corpora: Corpora, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index(corpora, folder)
    (folder / "Article_5.txt").unlink()
    opened = Path.open

    def failing(path: Path, *how: Any, **more: Any) -> Any:
        if path.name in ("Article_1.txt", "Article_3.txt"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return opened(path, *how, **more)

    monkeypatch.setattr(Path, "open", failing)
    report = index(corpora, folder)
    assert (counts(report), len(report.skipped)) == ((0, 0, 9, 1), 2)
    monkeypatch.undo()
    assert counts(index(corpora, folder)) == (0, 0, 11, 0)


def test_progress_ends_at_the_total(corpora: Corpora, folder: Path) -> None:
    seen: list[Progress] = []
    report = index(corpora, folder, progress=seen.append)
    assert [step.documents for step in seen] == sorted(step.documents for step in seen)
    last = seen[-1]
    assert (last.documents, last.total, last.passages, last.seconds_left) == (12, 12, report.passages, 0.0)
    assert last.passages_per_second > 0


def test_another_chunking_or_embedder_makes_it_anew(corpora: Corpora, folder: Path, tmp_path: Path) -> None:
    few = index(corpora, folder).passages
    report = index(corpora, folder, chunk_chars=200, chunk_overlap=20)
    assert report.added == 12
    assert report.passages > few
    assert corpora.info("c").passages == report.passages
    other = tmp_path / "other.jsonl"
    other.write_text('{"title": "t", "text": "x"}', encoding="utf-8")
    with pytest.raises(CorpusMismatch) as raised:
        ingest([open_source(other)], corpora, "c", HashingEmbedder(16))
    assert f"iterative-rag index {folder} {other} --corpus c" in raised.value.hint
    assert corpora.info("c").documents == 12
    assert ingest([open_source(folder)], corpora, "c", HashingEmbedder(16)).added == 12
    assert corpora.info("c").embedder == "hashing-16"


def test_a_full_disk_is_said_and_the_next_run_goes_on(
    corpora: Corpora, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "free")
    frees = iter([10**12] * 6)
    monkeypatch.setattr(ingest_module, "BATCH", 8)
    with monkeypatch.context() as patch:
        patch.setattr("iterative_rag.index.writer.shutil.disk_usage", lambda _: usage(next(frees, 1000)))
        with pytest.raises(CorpusError, match=r"disk .* is full") as raised:
            index(corpora, folder)
    assert "goes on where it stopped" in raised.value.hint
    assert corpora.info("c").state == "incomplete"
    with closing(corpora.open("c", EMBEDDER)) as corpus:
        assert corpus.titles()
        assert corpus.search(["subject0"], 1)[0][0].title == "Article 0"
    done = corpora.info("c").documents
    other = folder.parent / "other.jsonl"
    other.write_text('{"title": "t", "text": "Of another path."}', encoding="utf-8")
    assert counts(index(corpora, other)) == (1, 0, 0, 0)
    assert corpora.info("c").state == "incomplete"  # the folder still is
    assert counts(index(corpora, folder)) == (12 - done, 0, done, 0)
    assert corpora.info("c").state == "ready"


class InterruptedLater(Counting):
    """Stopped by Ctrl-C after twenty texts."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if len(self.texts) >= 20:
            raise KeyboardInterrupt
        return super().embed_documents(texts)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A file of more than one batch of passages."""
    path = tmp_path / "big.txt"
    path.write_text("\n\n".join(f"Paragraph {n} tells of bridge number {n} and its river." * 8 for n in range(60)))
    return path


def test_a_single_large_file_keeps_what_is_embedded(corpora: Corpora, big: Path) -> None:
    first, second, whole = InterruptedLater(), Counting(), Counting()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest_module, "BATCH", 8)
        with pytest.raises(KeyboardInterrupt):
            ingest([open_source(big)], corpora, "c", first)
    ingest([open_source(big)], corpora, "whole", whole)
    assert ingest([open_source(big)], corpora, "c", second).added == 1
    again = set(first.texts) & set(second.texts)
    assert len(again) <= 8  # at most one batch was embedded and not yet written
    assert {*first.texts, *second.texts} == set(whole.texts)
    assert len(first.texts) > 8
    assert corpora.info("c").passages == corpora.info("whole").passages
    with closing(corpora.open("c", EMBEDDER)) as one, closing(corpora.open("whole", EMBEDDER)) as other:
        question = "bridge number 41"
        assert [hit.start for hit in one.search([question], 5)[0]] == [
            hit.start for hit in other.search([question], 5)[0]
        ]


CHILD = """
import os, signal, sys
from pathlib import Path
from typing import Any
from iterative_rag.index import ingest
from iterative_rag.sources import open_source
from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.edge_store import EdgeStore

ingest.BATCH = 8
where, when = sys.argv[3], int(sys.argv[4])
owner = {"create": EdgeStore, "write": EdgeStore, "delete": EdgeStore, "put": DocumentStore,
         "add_unowned": DocumentStore, "forget_unowned": DocumentStore, "remove": DocumentStore,
         "embed_documents": HashingEmbedder}.get(where)

def deadly(method):
    calls = [0]
    def wrapped(*arguments, **options):
        calls[0] += 1
        if calls[0] == when and sys.argv[5] == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = method(*arguments, **options)
        if calls[0] == when:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapped

if owner:
    setattr(owner, where, staticmethod(deadly(getattr(owner, where))) if where == "create"
            else deadly(getattr(owner, where)))
def show(progress):
    print(progress.passages, flush=True)
ingest.ingest([open_source(sys.argv[1])], Corpora(Path(sys.argv[2])), "c", HashingEmbedder(32), progress=show)
"""


def run_child(folder: Path, corpora: Corpora, where: str, when: int, moment: str) -> int:
    arguments = [sys.executable, "-c", CHILD, str(folder), str(corpora.root), where, str(when), moment]
    return subprocess.run(arguments, stdout=subprocess.DEVNULL, check=False).returncode


STEPS = [
    *(("create", 1), ("embed_documents", 1), ("add_unowned", 2), ("write", 1), ("write", 4), ("put", 3), ("put", 6)),
    *(("delete", 1), ("forget_unowned", 1), ("remove", 1)),
]
KILLS = [(*step, moment) for step in STEPS for moment in ("before", "after")]


@pytest.mark.parametrize(("where", "when", "moment"), sliced(KILLS, 7))
def test_killed_at_any_step_the_next_run_completes_it(
    corpora: Corpora, folder: Path, tmp_path: Path, where: str, when: int, moment: str
) -> None:
    if where in ("delete", "forget_unowned", "remove"):  # these need an older state to work on
        index(corpora, folder)
        (folder / "Article_3.txt").write_text("Much shorter now.", encoding="utf-8")
        (folder / "Article_5.txt").unlink()
    assert run_child(folder, corpora, where, when, moment) == -signal.SIGKILL
    if corpora.names() and where != "create":  # what is shown meanwhile is whole documents
        with suppress(CorpusNotFound), closing(corpora.open("c", EMBEDDER)) as corpus:
            for hit in corpus.search(["subject3 thing"], 50)[0]:
                assert hit.end <= len(corpus.document(hit.document_id).text)
    report = index(corpora, folder)
    fresh = Corpora(tmp_path / "fresh")
    index(fresh, folder)
    assert content(corpora) == content(fresh)
    assert corpora.info("c").state == "ready"
    assert report.passages <= corpora.info("c").passages


def test_killed_from_outside_again_and_again_nothing_is_lost_or_doubled(
    corpora: Corpora, folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    write_articles(folder, range(40))
    for round_number in range(6 if request.config.getoption("nightly") else 2):
        arguments = [sys.executable, "-c", CHILD, str(folder), str(corpora.root), "nowhere", "0", ""]
        child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert child.stdout
        for _ in range(3 + 2 * round_number):  # so many reports of progress, then the blow
            child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    index(corpora, folder)
    fresh = Corpora(tmp_path / "fresh")
    index(fresh, folder)
    assert content(corpora) == content(fresh)


def test_a_moved_folder_takes_the_place_of_the_old_one_where_the_corpus_is_its_alone(tmp_path: Path) -> None:
    corpora = Corpora(tmp_path / "corpora")
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Tarn.md").write_text("# Tarn\n\nTarn lies on the river Mell.\n")
    for name in ("here", "there"):
        report = ingest([open_source(tmp_path / name)], corpora, "towns", HashingEmbedder(), alone=True)
    assert (report.added, report.removed) == (1, 1)
    assert corpora.info("towns").documents == 1
    with closing(corpora.open("towns", HashingEmbedder())) as opened:
        assert {hit.title for hit in opened.search(["river Mell"], 5)[0]} == {"Tarn"}
        assert str(tmp_path / "there") in opened.find("Tarn")[0].source
