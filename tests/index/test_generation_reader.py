"""Real processes on one corpus: readers neither wait for a writer nor fail, and a writer meets only another writer."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.errors import CorpusHeld
from iterative_rag.index import edge_place
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.edge_place import EdgePlace
from iterative_rag.index.ingest import ingest
from iterative_rag.sources import open_source
from tests.nightly import sliced

# Each child says "ready" once it holds what it is about, and ends when its standard input does.
HEAD = """
import os, signal, sys
from contextlib import closing
from pathlib import Path
from iterative_rag.sources import open_source
from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.index import edge_place, writer
from iterative_rag.index.corpora import Chunking, Corpora
from iterative_rag.index.ingest import ingest
root, articles, name = Path(sys.argv[1]), Path(sys.argv[2]), "small"
embedder = HashingEmbedder(64)
def wait():
    print("ready", flush=True)
    sys.stdin.read()
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
def index():
    ingest([open_source(articles)], Corpora(root), name, embedder)
"""
WRITER = HEAD + "with Corpora(root).writer(name, embedder, Chunking(), [str(articles)]): wait()"
READER = HEAD + "corpus = Corpora(root).open(name, embedder); corpus.search(['river'], 3); wait()"
# Stops in the middle of an update: its points are written, its documents are not published.
UNPUBLISHED = HEAD + "writer.CorpusWriter.publish = lambda *_, **__: wait(); index()"
OPENING = HEAD + (
    "for _ in range(5):\n"
    "    with closing(Corpora(root).open(name, embedder)) as corpus:\n"
    "        print(*[hit.title for hit in corpus.search(['longest river'], 3)[0]])\n"
)


@pytest.fixture
def indexed(corpora: Corpora, articles: Path, embedder: HashingEmbedder) -> Corpora:
    index(corpora, articles, embedder)
    return corpora


def index(corpora: Corpora, articles: Path, embedder: HashingEmbedder) -> None:
    ingest([open_source(articles)], corpora, "small", embedder)


def started(code: str, corpora: Corpora, articles: Path) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", code, str(corpora.root), str(articles)]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def child(code: str, corpora: Corpora, articles: Path) -> Iterator[subprocess.Popen[str]]:
    with started(code, corpora, articles) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def found(corpora: Corpora, embedder: HashingEmbedder, query: str = "longest river") -> str:
    """The text of the first hit."""
    with closing(corpora.open("small", embedder)) as corpus:
        [hit] = corpus.search([query], 1)[0]
        return corpus.document(hit.document_id).text[hit.start : hit.end]


def folders(corpora: Corpora) -> list[str]:
    return sorted(path.name for path in (corpora.root / "small" / "vectors").iterdir())


# --- one writer ------------------------------------------------------------------------------


def test_a_second_writer_names_the_first_and_asks_for_nobodys_end(
    indexed: Corpora, articles: Path, embedder: HashingEmbedder
) -> None:
    with child(WRITER, indexed, articles) as writer:
        with pytest.raises(CorpusHeld, match=f"process {writer.pid}") as raised:
            index(indexed, articles, embedder)
        with pytest.raises(CorpusHeld, match=f"process {writer.pid}"):
            indexed.remove("small")
    assert raised.value.retryable
    assert "kill" not in raised.value.hint


# --- readers ---------------------------------------------------------------------------------


def test_readers_go_on_while_a_writer_holds_the_corpus(
    indexed: Corpora, articles: Path, embedder: HashingEmbedder
) -> None:
    """An old version is found, and its text read, until the new one is published."""
    (articles / "Vltava.txt").write_text("The Vltava is the longest river, and now told of anew.", encoding="utf-8")
    with child(UNPUBLISHED, indexed, articles):
        assert "Czech Republic" in found(indexed, embedder)
        assert indexed.info("small").documents == 4
        assert indexed.info("small").state == "incomplete"
        with closing(indexed.open("small", embedder)) as corpus:
            assert "not fully indexed" in corpus.notice
            assert "4 documents" in corpus.notice
    assert "Czech Republic" in found(indexed, embedder)
    assert ingest([open_source(articles)], indexed, "small", embedder).unchanged == 4
    assert "told of anew" in found(indexed, embedder)
    with closing(indexed.open("small", embedder)) as corpus:
        assert corpus.notice == ""


def test_a_writer_does_not_wait_for_readers(indexed: Corpora, articles: Path, embedder: HashingEmbedder) -> None:
    (articles / "New.txt").write_text("Quokkas live on an island.", encoding="utf-8")
    with child(READER, indexed, articles) as reader:
        assert ingest([open_source(articles)], indexed, "small", embedder).added == 1
        assert folders(indexed) == ["1", "2"]  # the reader's is kept
        assert "Quokkas" in found(indexed, embedder, "quokkas")
        reader.kill()
        reader.wait()
    index(indexed, articles, embedder)
    assert folders(indexed) == ["2"]


def test_many_processes_open_at_once_while_one_writes(
    indexed: Corpora, articles: Path, embedder: HashingEmbedder
) -> None:
    readers = [started(OPENING, indexed, articles) for _ in range(4)]
    for turn in range(4):
        (articles / "Turn.txt").write_text(f"Turn {turn} of a mill.", encoding="utf-8")
        index(indexed, articles, embedder)
    printed = [reader.communicate()[0].splitlines() for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * 4
    assert [len(lines) for lines in printed] == [5] * 4
    assert {line.split()[0] for lines in printed for line in lines} == {"Vltava"}


def test_a_run_keeps_what_it_found(indexed: Corpora, articles: Path, embedder: HashingEmbedder) -> None:
    with closing(indexed.open("small", embedder)) as corpus, closing(corpus.pinned()) as run:
        [before] = run.search(["longest river"], 1)
        (articles / "Vltava.txt").write_text("The longest river has another text.", encoding="utf-8")
        (articles / "James_Buchanan.md").unlink()
        index(indexed, articles, embedder)
        index(indexed, articles, embedder)
        assert run.search(["longest river"], 1) == [before]
        text = run.document(before[0].document_id).text
        assert text[before[0].start : before[0].end].startswith("The Vltava is")
        assert "James Buchanan" in run.titles()
        # Whoever is not in the middle of a run sees the new state.
        assert corpus.fingerprint != run.fingerprint
        assert "James Buchanan" not in corpus.titles()
        assert "another text" in corpus.document(corpus.search(["longest river"], 1)[0][0].document_id).text
    index(indexed, articles, embedder)
    assert folders(indexed) == ["2"]


# --- a folder that cannot be written ---------------------------------------------------------


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv to read as somebody without rights")
def test_a_corpus_that_nobody_may_write_is_read(indexed: Corpora, articles: Path) -> None:
    places = [indexed.root / "small", *(indexed.root / "small").rglob("*")]
    for path in places:
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = HEAD + "print(Corpora(root).open(name, embedder).search(['longest river'], 1)[0][0].title)"
    command = [sys.executable, "-c", code, str(indexed.root), str(articles)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        for path in places:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.stdout == "Vltava\n", done.stderr


# --- killed, sealed, swept -------------------------------------------------------------------

MOMENTS = {
    "while points are copied": "edge_place.copy_shard = die",
    "while it is sealed": "edge_place.seal = die",
    "before it is published": "writer.CorpusWriter._publish_generation = die",
    "before old ones go": "edge_place.EdgePlace.retire = lambda self, number: number if number == 1 else die()",
}


@pytest.mark.parametrize("moment", sliced(MOMENTS, 2))
def test_killed_while_publishing_nothing_is_lost(
    indexed: Corpora, articles: Path, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    (articles / "Vltava.txt").write_text("The longest river has another text.", encoding="utf-8")
    (articles / "New.txt").write_text("Quokkas live on an island.", encoding="utf-8")
    (articles / "James_Buchanan.md").unlink()
    code = HEAD + f"edge_place.SEALED_POINTS = 1\n{MOMENTS[moment]}\nindex()"
    with started(code, indexed, articles) as killed:
        assert killed.wait() == -signal.SIGKILL
    published = moment == "before old ones go"
    text = "another text" if published else "Czech Republic"
    assert text in found(indexed, embedder)
    (indexed.root / "small" / "vectors" / "packing-0" / "temp_segments").mkdir(parents=True)
    index(indexed, articles, embedder)
    assert len(folders(indexed)) == 1
    assert "another text" in found(indexed, embedder)
    assert "Quokkas" in found(indexed, embedder, "quokkas")
    with closing(indexed.open("small", embedder)) as corpus:
        assert corpus.titles() == ["Harriet Lane", "New", "River Elbe", "Vltava"]
        assert {hit.title for hit in corpus.search(["president"], 10)[0]} <= set(corpus.titles())


def points(place: EdgePlace, generation: int) -> dict[str, bytes]:
    """Every file of a generation that may be shared with others, by its name."""
    folder = place._path / str(generation)
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.stat().st_nlink > 1}


def test_sealed_by_a_process_of_its_own_and_changed_after_it(
    corpora: Corpora, articles: Path, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What generations share is never written again: the older one's hits stay what they were."""
    monkeypatch.setattr(edge_place, "SEALED_POINTS", 4)
    monkeypatch.setattr(edge_place, "_LAST_SHARE", 2.0)  # sealed once
    index(corpora, articles, embedder)
    place = EdgePlace(corpora.root / "small" / "vectors")
    with ExitStack() as stack:
        corpus = stack.enter_context(closing(corpora.open("small", embedder)))
        first = stack.enter_context(closing(corpus.pinned()))
        expected = first.search(["longest river", "president"], 4)
        (articles / "Vltava.txt").write_text("The longest river has another text.", encoding="utf-8")
        (articles / "James_Buchanan.md").unlink()
        (articles / "New.txt").write_text("Quokkas live on an island.", encoding="utf-8")
        monkeypatch.setattr(edge_place, "SEALED_POINTS", 100)
        index(corpora, articles, embedder)
        shared = points(place, 1)
        assert any(path.endswith("matrix.dat") for path in shared)
        (articles / "Harriet_Lane.md").unlink()
        (articles / "Newer.txt").write_text("Wombats dig.", encoding="utf-8")
        index(corpora, articles, embedder)
        assert points(place, 1) == shared
        assert first.search(["longest river", "president"], 4) == expected
        assert corpus.titles() == ["New", "Newer", "River Elbe", "Vltava"]
        assert corpus.search(["wombats"], 1)[0][0].title == "Newer"
    with closing(place.load(3)) as store:
        assert store.count() == 4


def test_sealing_runs_nothing_of_the_working_folder(
    corpora: Corpora, articles: Path, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("iterative_rag", "qdrant_edge", "subprocess"):
        (tmp_path / f"{name}.py").write_text("import pathlib\npathlib.Path('ran').touch()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep)  # an empty entry means the working folder
    monkeypatch.setattr(edge_place, "SEALED_POINTS", 1)
    index(corpora, articles, embedder)
    assert list(corpora.root.rglob("quantized.data"))
    assert not list(tmp_path.rglob("ran"))
