"""Every replaceable part by the name that chooses it, one line each.

A new part is one new file and one line here: settings, command line, evaluation, doctor and error messages read their
choices from these tables. `protocols.py` states what a part must do; docs/extending.md has an example of each kind.

Parts are named by their import path and imported when they are first used, so `--help` loads none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from iterative_rag.errors import UsageError


@dataclass(frozen=True, slots=True)
class Entry:
    """A part: the name that chooses it, and where it is ("package.module:attribute").

    `target` is "" for a choice that is not a part, such as `none`. `aliases` are further names of the same part.
    `form` is what a user types where that is more than the name: `ollama/MODEL`.
    `local`: nothing leaves this machine, so the settings of an untrusted folder may choose it.
    `measured_only`: a baseline that `evaluate run` and Python callers may name, but settings and `ask` do not offer.
    """

    name: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    form: str = ""
    local: bool = False
    measured_only: bool = False


class Registry:
    """The parts of one kind, in the order in which they are listed to the user."""

    def __init__(self, kind: str, *entries: Entry) -> None:
        self.kind = kind
        self._entries = {name: entry for entry in entries for name in (entry.name, *entry.aliases)}

    def __iter__(self) -> Iterator[Entry]:
        return iter(dict.fromkeys(self._entries.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """All names, aliases after the name that they stand for."""
        return tuple(self._entries)

    @property
    def offered(self) -> tuple[str, ...]:
        """The names that settings and command line accept."""
        return tuple(entry.name for entry in self if not entry.measured_only)

    @property
    def local(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self if entry.local)

    @property
    def forms(self) -> str:
        """What a user may type: "builtin, ollama/MODEL or openai-like/MODEL@URL"."""
        return in_words([entry.form or entry.name for entry in self])

    def get(self, name: str) -> Entry | None:
        return self._entries.get(name)

    def load(self, name: str) -> Any:
        """Import the part of this name. Raises UsageError if there is none."""
        entry = self._entries.get(name)
        if entry is None or not entry.target:
            raise UsageError(f"There is no {self.kind} {name!r}.", hint=f"Use {self.forms}.")
        module, _, attribute = entry.target.partition(":")
        return getattr(import_module(module), attribute)


def in_words(names: Sequence[str]) -> str:
    """ "a, b or c" """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


# Who plays the roles: a function from `Spec` and `Settings` to a `ChatModel`. `auto` takes one of the others.
LLMS = Registry(
    "LLM",
    Entry("auto"),
    Entry("builtin", local=True),
    Entry("ollama", "iterative_rag.llm.providers.ollama:build", form="ollama/MODEL"),
    Entry(
        "openai-like",
        "iterative_rag.llm.providers.openai_like:build",
        form="openai-like/MODEL@URL",
    ),
)

# What turns texts into vectors: a function from `Spec`, `timeout` and `cache` to an `Embedder`.
EMBEDDERS = Registry(
    "embedder",
    Entry("builtin", "iterative_rag.builtin.encoder:build", local=True),
    Entry("ollama", "iterative_rag.embedders.ollama:build", form="ollama/MODEL"),
    Entry("openai-like", "iterative_rag.embedders.openai_like:build", form="openai-like/MODEL@URL"),
)

# How a question is worked on: a function from `Means` to the engine of one run.
STRATEGIES = Registry(
    "strategy",
    Entry("naive", "iterative_rag.engine.baselines:naive"),
    Entry("crag", "iterative_rag.engine.strategies:CRAG"),
    Entry("plan", "iterative_rag.engine.strategies:PLAN"),
    Entry("self-rag", "iterative_rag.engine.strategies:SELF_RAG"),
    Entry("iterative", "iterative_rag.engine.strategies:ITERATIVE"),
    Entry("full", "iterative_rag.engine.strategies:FULL"),
    Entry("closed-book", "iterative_rag.engine.baselines:closed_book", measured_only=True),
)

# Where the vectors of a corpus lie, by URL scheme: a function from the address to a `PlaceOf`.
STORES = Registry(
    "store",
    Entry("local", "iterative_rag.index.edge_place:build", local=True),
    Entry("qdrant", "iterative_rag.index.server.server_place:build", ("qdrants",), "qdrant://HOST:6333"),
)

# How files are read, by suffix: a `Format`, or an `Encyclopedia` of which articles can be chosen.
FORMATS = Registry(
    "file format",
    Entry(".txt", "iterative_rag.sources.formats.text:FORMAT", aliases=(".md", ".markdown")),
    Entry(".html", "iterative_rag.sources.formats.html:FORMAT", aliases=(".htm", ".xhtml")),
    Entry(".pdf", "iterative_rag.sources.formats.pdf:FORMAT"),
    Entry(".docx", "iterative_rag.sources.formats.docx:FORMAT"),
    Entry(".csv", "iterative_rag.sources.formats.csv_file:FORMAT", aliases=(".tsv",)),
    Entry(".json", "iterative_rag.sources.formats.json_file:FORMAT"),
    Entry(".jsonl", "iterative_rag.sources.formats.jsonl:FORMAT", aliases=(".jsonl.gz",)),
    Entry(".zim", "iterative_rag.sources.formats.zim:FORMAT"),
    Entry(".xml", "iterative_rag.sources.dumps.dump:FORMAT", aliases=(".xml.bz2", ".xml.gz")),
)

TABLES = (LLMS, EMBEDDERS, STORES, FORMATS, STRATEGIES)
