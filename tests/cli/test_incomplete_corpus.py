"""A corpus that is not fully indexed answers from what is there, and says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.command_line import Command, Done
from iterative_rag.app.factory import corpora, make_embedder
from iterative_rag.index import ingest as ingest_module
from iterative_rag.index import writer as writer_module
from iterative_rag.index.ingest import ingest
from iterative_rag.protocols import Skipped
from iterative_rag.settings import Settings
from iterative_rag.types import Document

ASK = ("ask", "Who founded Aldermere?", "--corpus", "mine", "--llm", "builtin", "--guess")


class AskedMeanwhile:
    """A source during whose reading a question is asked; it may break off after that."""

    total = None

    def __init__(self, shell: Command, folder: Path, *, breaks_off: bool) -> None:
        self.shell = shell
        self.root = str(folder)
        self.breaks_off = breaks_off
        self.asked: list[Done] = []

    def documents(self) -> Iterator[Document | Skipped]:
        for name in ("Aldermere", "Westmark", "Karsa"):
            yield self._article(name, f"{name} is a town that was founded by Edda Holm.")
        self.asked = [self.shell(*ASK), self.shell(*ASK, "--json"), self.shell(*ASK, "--quiet")]
        if self.breaks_off:
            yield Skipped(self.root, "The disk was pulled out.", rest_unread=True)
        else:
            yield self._article("Brenk", "Brenk is a town.")

    def _article(self, name: str, text: str) -> Document:
        """A document of a file that is there, or else an answer would say that the file is gone."""
        path = Path(self.root, f"{name}.txt")
        path.write_text(text, "utf-8")
        return Document(name, name, text, str(path))


@pytest.mark.parametrize("breaks_off", [False, True])
def test_a_corpus_that_is_not_whole_answers_and_says_so(
    shell: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, breaks_off: bool
) -> None:
    monkeypatch.setattr(ingest_module, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(writer_module, "_AT_ONCE", 0.0)
    folder = tmp_path / "articles"
    folder.mkdir()
    source = AskedMeanwhile(shell, folder, breaks_off=breaks_off)
    ingest([source], corpora(), "mine", make_embedder("builtin", Settings()))
    shown, as_json, quiet = source.asked
    assert shown.code == 0, shown.err
    assert "Edda Holm" in shown.out
    assert "The corpus 'mine' is not fully indexed" in shown.out
    assert f"iterative-rag index {folder} --corpus mine" in shown.out
    assert "not fully indexed" in json.loads(as_json.out)["corpus_notice"]
    assert quiet.out == "Edda Holm\n"
    assert quiet.err.startswith("Note: The corpus 'mine' is not fully indexed")
    afterwards = json.loads(shell(*ASK, "--json").out)
    assert bool(afterwards["corpus_notice"]) == breaks_off
