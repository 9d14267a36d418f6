"""Every replaceable part by the name that chooses it, one line each.

A new part is one new file and one line here: settings, command line, evaluation, doctor and error messages read their
choices from these tables. `protocols/` states what a part must do; docs/extending.md has an example of each kind.

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
    """A part: the name that chooses it, and where it is below this package ("module:attribute").

    `target` is "" for a choice that is not a part, such as `none`. `aliases` are further names of the same part.
    `form` is what a user types where that is more than the name: `ollama/MODEL`.
    `keys` are the environment variables that may hold its API key; their values are removed from all messages.
    `local`: nothing leaves this machine, so the settings of an untrusted folder may choose it.
    `needs_llm`: the built-in models cannot do it.
    `measured_only`: a baseline that `evaluate run` and Python callers may name, but settings and `ask` do not offer.
    """

    name: str
    target: str = ""
    aliases: tuple[str, ...] = ()
    form: str = ""
    keys: tuple[str, ...] = ()
    local: bool = False
    needs_llm: bool = False
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

    def offered_with(self, backend: str) -> tuple[str, ...]:
        """Those of them that work with this backend, a name or spec."""
        return tuple(name for name in self.offered if backend != "builtin" or not self._entries[name].needs_llm)

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
        return getattr(import_module(f"iterative_rag.{module}"), attribute)


def in_words(names: Sequence[str]) -> str:
    """ "a, b or c" """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


_OPENAI_FORM = "openai-like/MODEL@URL"
_OPENAI_KEYS = ("ITERATIVE_RAG_API_KEY", "OPENAI_API_KEY")
_OLLAMA_KEYS = ("OLLAMA_API_KEY",)
_QDRANT_KEYS = ("QDRANT_API_KEY",)

# How files are read, by suffix: a `Format`, or an `Encyclopedia` of which articles can be chosen.
FORMATS = Registry(
    "file format",
    Entry(".txt", "sources.formats.text:FORMAT", aliases=(".md", ".markdown")),
    Entry(".html", "sources.formats.html:FORMAT", aliases=(".htm", ".xhtml")),
    Entry(".pdf", "sources.formats.pdf:FORMAT"),
    Entry(".docx", "sources.formats.docx:FORMAT"),
    Entry(".odt", "sources.formats.odt:FORMAT"),
    Entry(".xlsx", "sources.formats.xlsx:FORMAT", aliases=(".xlsm",)),
    Entry(".pptx", "sources.formats.pptx:FORMAT"),
    Entry(".epub", "sources.formats.epub:FORMAT"),
    Entry(".eml", "sources.formats.mail:FORMAT"),
    Entry(".csv", "sources.formats.csv_file:FORMAT", aliases=(".tsv",)),
    Entry(".json", "sources.formats.json_file:FORMAT"),
    Entry(".jsonl", "sources.formats.json_file:LINES", aliases=(".jsonl.gz",)),
    Entry(".zim", "sources.zim_file:FORMAT"),
    Entry(".xml", "sources.dumps.dump:FORMAT", aliases=(".xml.bz2", ".xml.gz")),
)

# What turns texts into vectors: a function from `Spec`, `timeout` and `cache` to an `Embedder`.
EMBEDDERS = Registry(
    "embedder",
    Entry("builtin", "builtin.encoder:build", local=True),
    Entry("ollama", "index.embedders.llama_index:build_ollama", form="ollama/MODEL", keys=_OLLAMA_KEYS),
    Entry("openai-like", "index.embedders.llama_index:build_openai_like", form=_OPENAI_FORM, keys=_OPENAI_KEYS),
)

# Where the vectors of a corpus lie, by URL scheme: a function from the address to a `PlaceOf`.
STORES = Registry(
    "store",
    Entry("local", "index.edge_place:build", local=True),
    Entry("qdrant", "index.server.server_store:build", ("qdrants",), form="qdrant://HOST:6333", keys=_QDRANT_KEYS),
)

# What ranks the passages of a search again: a class that is made with a `cache`, or, where the form names a model, a
# function from `Spec`, `Settings` and `cache` to a `Reranker`. `none` leaves passages as they are.
RERANKERS = Registry(
    "reranker",
    Entry("none", local=True),
    Entry("reader", "builtin.reasoning.reader_roles:ReaderRoles", local=True),
    Entry("openai-like", "retrieval.rerankers:RerankServer", form=_OPENAI_FORM, keys=_OPENAI_KEYS),
)

# Who plays the roles: a function from `Spec` and `Settings` to a `ChatModel`. `auto` takes one of the others.
LLMS = Registry(
    "LLM",
    Entry("auto"),
    Entry("builtin", local=True),
    Entry("ollama", "llm.providers.ollama:OllamaChat", form="ollama/MODEL", keys=_OLLAMA_KEYS),
    Entry("openai-like", "llm.providers.openai_like:OpenAILikeChat", form=_OPENAI_FORM, keys=_OPENAI_KEYS),
)

# How a question is worked on: a function from `RunComponents` to the engine of one run.
STRATEGIES = Registry(
    "strategy",
    Entry("naive", "engine.flows:naive"),
    Entry("crag", "engine.strategies:CRAG"),
    Entry("plan", "engine.strategies:PLAN"),
    Entry("self-rag", "engine.strategies:SELF_RAG"),
    Entry("iterative", "engine.strategies:ITERATIVE"),
    Entry("full", "engine.strategies:FULL"),
    Entry("agent", "engine.agent:build", needs_llm=True),
    Entry("closed-book", "engine.flows:closed_book", measured_only=True),
)

# Who searches the web: a class made with the address after "@" ("" without one) and our user agent.
SEARCH_ENGINES = Registry(
    "search engine",
    Entry("wikipedia", "sources.search_engines:Wikipedia", form="wikipedia[@https://HOST/w/api.php]"),
    Entry("duckduckgo", "sources.search_engines:DuckDuckGo"),
    Entry("tavily", "sources.search_engines:Tavily", keys=("TAVILY_API_KEY",)),
    Entry("searxng", "sources.search_engines:SearXNG", form="searxng@http://HOST:8888"),
)

TABLES = (FORMATS, EMBEDDERS, STORES, RERANKERS, LLMS, STRATEGIES, SEARCH_ENGINES)
