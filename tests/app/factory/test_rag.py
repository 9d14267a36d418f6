"""What the factory does when a newer package meets what an older one left."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.scripted_roles import Quoting
from iterative_rag.app import factory
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.errors import CorpusMismatch
from iterative_rag.protocols import BackendTraits, CallBudget, Corpus, Roles
from iterative_rag.settings import load_settings
from iterative_rag.storage.cache import NoCache


class Named(HashingEmbedder):
    def __init__(self, name: str) -> None:
        super().__init__(32)
        self.name = name


@pytest.fixture
def starter() -> str:
    """The starter corpus as a former version of the package indexed it."""
    factory.open_corpus(load_settings({"corpus": "starter"}), Named("builtin/former@1")).close()
    return "starter"


def test_the_starter_corpus_is_indexed_again_for_a_new_encoder(starter: str) -> None:
    with closing(factory.open_corpus(load_settings({"corpus": starter}), Named("builtin/new@1"))) as corpus:
        assert corpus.search(["Harriet Lane"], 1)
    assert factory.corpora().info(starter).embedder == "builtin/new@1"


ASKING = """
from iterative_rag.app import factory
from iterative_rag.app.factory import corpus_actions, opening
from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.settings import load_settings
embedder = HashingEmbedder(32)
embedder.name = "builtin/new@1"
print(len(factory.open_corpus(load_settings({"corpus": "starter"}), embedder).search(["Harriet Lane"], 1)[0]))
"""


def test_several_processes_may_ask_first(starter: str) -> None:
    """One of them indexes the starter corpus, and none is refused."""
    asking = [subprocess.Popen([sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in asking] == ["1\n"] * 2


def test_but_not_for_an_embedder_that_the_user_chose(starter: str) -> None:
    with pytest.raises(CorpusMismatch):
        factory.open_corpus(load_settings({"corpus": starter}), Named("ollama/other"))


def test_another_corpus_is_never_made_anew_by_asking(starter: str, tmp_path: Path) -> None:
    articles = tmp_path / "articles"
    articles.mkdir()
    (articles / "a.md").write_text("# A\n\nText.\n")
    settings = load_settings({"corpus": "mine"})
    factory.index_paths([articles], settings=settings, embedder=Named("builtin/former@1"))
    with pytest.raises(CorpusMismatch):
        factory.open_corpus(settings, Named("builtin/new@1"))


class Computing:
    """The built-in backend with an extractor that only counts how many windows it is given at the same time."""

    name, traits = "computing", BackendTraits(calls_cost=False)

    def __init__(self, engine: IterativeRAG) -> None:
        self.extractor = Quoting([], latency=0.05)
        self._roles = engine.backend.roles

    def roles(self, budget: CallBudget, corpus: Corpus | None = None) -> Roles:
        return dataclasses.replace(self._roles(budget), extractor=self.extractor)


def test_a_backend_that_computes_here_reads_as_many_windows_at_a_time_as_there_are_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iterative_rag.app.factory.runs.usable_cores", lambda: 2)
    (tmp_path / "towns").mkdir()
    for name in ("Tarn", "Karsa", "Brell", "Orm"):
        (tmp_path / "towns" / f"{name}.md").write_text(f"# {name}\n\n{name} is a town that lies on the river Mell.\n")
    settings = load_settings({"corpus": "towns", "llm": "builtin", "calls_in_flight": 6, "grader": "builtin"})
    factory.index_paths([tmp_path / "towns"], settings=settings)
    with closing(IterativeRAG.from_settings(settings)) as engine:
        backend = Computing(engine)
        IterativeRAG(settings, corpus=engine.corpus, backend=backend, cache=NoCache()).ask(
            "Which towns lie on the river Mell?"
        )
    assert backend.extractor.most_busy == 2
