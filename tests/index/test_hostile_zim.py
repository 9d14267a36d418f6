"""ZIM files that are cut, damaged or made to harm: an error in one sentence, or the pages that can still be read."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.errors import CorpusError
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.zim import zim_corpus
from tests.zim_archives import Entry, archive

MILL = "<p>The mother of the mayor lives in the mill by the river.</p>"
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut at the header": lambda data: data[:100],
    "cut in half": lambda data: data[: len(data) // 2],
    "cut at the end": lambda data: data[:-100],
    "a billion entries": lambda data: data[:24] + struct.pack("<I", 10**9) + data[28:],
    "no table of paths": lambda data: data[:32] + bytes([255] * 8) + data[40:],
    "no clusters": lambda data: data[:48] + bytes(8) + data[56:],
    "zeros in the middle": lambda data: data[: len(data) // 3] + bytes(len(data) // 3) + data[len(data) // 3 * 2 :],
    "zeros at the end": lambda data: data[:-4000] + bytes(4000),
    "another version": lambda data: data[:4] + b"\x09" + data[5:],
    "a redirect to itself": lambda data: _redirected(data, 0),
    "a redirect to nothing": lambda data: _redirected(data, 2**32 - 1),
}
READ_ALL_THE_SAME = ("zeros in the middle", "zeros at the end")


def _redirected(data: bytes, entry: int) -> bytes:
    """The redirect `Loop`, which is the entry 0, leads to that of this number."""
    goal = re.search(rb"\xff\xff.C.{4}(.{4})Loop\0", data, re.DOTALL)
    assert goal
    return data[: goal.start(1)] + struct.pack("<I", entry) + data[goal.end(1) :]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    pages = [Entry(f"Page_{n}", MILL) for n in range(20)]
    path = tmp_path_factory.mktemp("zim") / "whole.zim"
    return archive(path, *pages, redirects={"Loop": "Page_1"}, language="eng").read_bytes()


def looked_at(path: Path) -> str:
    """What opening, searching, reading and listing end with: the title of the first hit, or an error."""
    try:
        corpus = Corpora(path.parent / "corpora").open_file(str(path), HashingEmbedder(64))
        assert corpus is not None
        (hits,) = corpus.search(["Who was the mother of the mayor of Page 1 and Loop?"], 10)
        corpus.listing("", 0, 100)
        return corpus.find("Loop")[0].title if hits else "nothing"
    except CorpusError as error:
        return str(error)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_ends_in_one_sentence(whole: bytes, damage: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.zim"
    path.write_bytes(DAMAGE[damage](whole))
    told = looked_at(path)
    assert "\n" not in told
    assert told.endswith(".") or damage in READ_ALL_THE_SAME


def test_pages_that_would_take_too_long_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zim_corpus, "PAGE_BYTES", 10_000)
    entries = [
        Entry("Huge", MILL * 1000),
        Entry("Deep", "<div>" * 30_000 + MILL),
        Entry("Binary", b"\xff\x00\xfe mother of the mayor"),
        Entry("Page_1", MILL),
    ]
    chain = {f"Chain_{n}": f"Chain_{n + 1}" if n < 9 else "Page_1" for n in range(10)}
    tag = "\u202e<b>xx,,zz-garbage" + "y" * 5000
    path = archive(tmp_path / "odd.zim", *entries, redirects=chain, language="eng", Language=tag)
    corpus = Corpora(tmp_path / "corpora").open_file(str(path), HashingEmbedder(64))
    assert corpus is not None
    assert {hit.title for hit in corpus.search(["mother of the mayor"], 10)[0]} == {"Page 1"}
    assert corpus.languages == {}
    with pytest.raises(CorpusError, match="larger than the limit of 10,000 bytes"):
        corpus.document("Huge")
    with pytest.raises(CorpusError, match="It is no page"):
        corpus.find("Chain 0")
