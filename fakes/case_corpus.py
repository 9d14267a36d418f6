"""The documents of many cases in one indexed corpus, and the package opened on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from iterative_rag.app.factory import IterativeRAG, index_paths
from iterative_rag.index.corpora import IndexedCorpus
from iterative_rag.index.filters import CorpusPart
from iterative_rag.settings import Settings, home


class CaseCorpus:
    """Indexes `folder` as the corpus `name`, in the data folder of now; it is found again whatever is set later."""

    def __init__(self, folder: Path, name: str) -> None:
        self.settings = Settings.model_validate({"corpus": name, "cache": False})
        report = index_paths([folder], settings=self.settings, corpus=name)
        assert not report.skipped, report.skipped
        self.folder, self.home = folder, home()

    def part_of(self, rag: IterativeRAG, case: str) -> tuple[CorpusPart, list[str]]:
        """The documents in the folder of one case, and their ids."""
        assert isinstance(rag.corpus, IndexedCorpus)
        own = f"{self.folder / case}/"
        ids = [entry.id for entry in rag.corpus.catalogue() if entry.source.startswith(own)]
        return CorpusPart(rag.corpus, ids), ids

    @contextmanager
    def opened(self, llm: object, **overrides: Any) -> Iterator[IterativeRAG]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ITERATIVE_RAG_HOME", str(self.home))
            rag = IterativeRAG.from_settings(self.settings, llm=llm, **overrides)
            try:
                yield rag
            finally:
                rag.close()
