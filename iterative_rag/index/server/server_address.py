"""The value of `--index`: `local`, or a Qdrant server with the options of the collection in its query."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from iterative_rag.errors import UsageError
from iterative_rag.index.collections.stored_node import PayloadKeys
from iterative_rag.index.corpus_names import encoded

API_KEY: Final = "QDRANT_API_KEY"
PORT: Final = 6333
PREFIX: Final = "iterative-rag-"
FORM: Final = (
    "Use qdrant://HOST:6333[/COLLECTION][?shards=N&replicas=N&timeout=SECONDS], "
    "qdrants:// for https; for a collection of another program ?text=KEY&title=KEY&url=KEY&document=KEY&vector=NAME."
)
_COLLECTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_KEYS = tuple(key.name for key in fields(PayloadKeys))
_OPTIONS = ("shards", "replicas", "timeout", *_KEYS)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A Qdrant server and how a collection is made there; `collection` is "" for one named after the corpus.

    `shards` and `replicas` of 0 leave it to the server; `timeout` is in seconds. `keys` are for a collection that
    another program wrote.
    """

    host: str
    port: int = PORT
    tls: bool = False
    collection: str = ""
    shards: int = 0
    replicas: int = 0
    timeout: int = 30
    keys: PayloadKeys = field(default_factory=PayloadKeys)

    @property
    def url(self) -> str:
        """What the client calls."""
        return self._server("http")

    def collection_of(self, corpus: str) -> str:
        return self.collection or f"{PREFIX}{encoded(corpus)}"

    def place(self, corpus: str) -> str:
        """Server and collection, in one canonical form."""
        return f"{self._server('qdrant')}/{self.collection_of(corpus)}"

    @property
    def option(self) -> str:
        """The address without options that only matter when a collection is created."""
        return f"{self._server('qdrant')}/{self.collection}".rstrip("/")

    def _server(self, scheme: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}{'s' * self.tls}://{host}:{self.port}"


def parse_address(text: str) -> ServerAddress:
    """Raises UsageError, which never repeats what might be a password."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port or PORT
    except ValueError as error:
        raise UsageError("The value of --index is not an address.", hint=FORM) from error
    if "@" in parts.netloc:
        raise UsageError("The address of an index must not hold a user or a password.", hint=f"Set {API_KEY}.")
    if not parts.hostname or parts.fragment:
        raise UsageError("The address of the index has no host, or more than that.", hint=FORM)
    collection = parts.path.strip("/")
    if collection and not _COLLECTION.fullmatch(collection):
        raise UsageError(f"{collection!r} cannot be the name of a collection.", hint=FORM)
    given = _options(parts.query)
    numbers = _number(given, "shards", 0, 1000), _number(given, "replicas", 0, 100), _number(given, "timeout", 30, 3600)
    keys = PayloadKeys(**{name: given[name] for name in _KEYS if name in given})
    return ServerAddress(parts.hostname, port, parts.scheme == "qdrants", collection, *numbers, keys)


def _options(query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    for name, _ in pairs:
        if name.replace("-", "_").lower() in ("api_key", "apikey", "key", "token", "password"):
            raise UsageError("The address of an index must not hold a key.", hint=f"Set {API_KEY}.")
        if name not in _OPTIONS:
            raise UsageError(f"The address of an index has no option {name!r}.", hint=FORM)
    return dict(pairs)


def _number(given: dict[str, str], name: str, default: int, most: int) -> int:
    text = given.get(name, str(default))
    if not text.isascii() or not text.isdigit() or int(text) > most or (name in given and int(text) < 1):
        raise UsageError(f"{name}={text[:20]} is not a number from 1 to {most}.", hint=FORM)
    return int(text)
