"""Reads what a user writes to choose a model: `ollama/MODEL`, `openai-like/MODEL@URL`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from iterative_rag.errors import UsageError
from iterative_rag.registry import Registry
from iterative_rag.remote.api_keys import API_KEY


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed LLM or embedder spec. `kind` is the registered name; `model` and `url` are "" if its form has none."""

    kind: str
    model: str = ""
    url: str = ""


def parse_spec(text: str, parts: Registry) -> Spec:
    """Read a spec in the form that the registry states for its kind. Raises UsageError."""
    text = text.strip()
    kind, slash, rest = text.partition("/")
    entry = parts.get(kind)
    form = entry.form if entry else ""
    if entry is None or bool(slash) != ("/" in form):
        raise _invalid(text, parts)
    if not slash:
        return Spec(kind)
    if "@" not in form:
        if "@http" in rest:
            hint = f"Type {text.split('@http')[0]}, and set OLLAMA_HOST=URL to where the server runs."
            raise UsageError(f"The model spec {form} takes no URL.", hint=hint)
        if not re.fullmatch(r"\S+", rest):
            raise _invalid(text, parts)
        return Spec(kind, rest)
    match = re.fullmatch(r"(\S+?)@(https?://\S+)", rest)
    if match is None:
        raise _invalid(text, parts)
    model, url = match.groups()
    try:
        where = urlsplit(url)
        reachable = bool(where.hostname) and where.port != 0  # or a ValueError
    except ValueError as error:
        raise _invalid(text, parts) from error
    if "@" in where.netloc or where.query:
        hint = f"Put the key into {API_KEY}, or type: iterative-rag keys set HOST"
        raise UsageError("The URL of a model must not hold a user, a password or a query.", hint=hint)
    if not reachable:
        raise _invalid(text, parts)
    return Spec(kind, model, url.rstrip("/"))


def _invalid(text: str, parts: Registry) -> UsageError:
    # Not echoed in full: there may be a password after "@".
    return UsageError(f"The model spec {text.split('@')[0]!r} is not valid.", hint=f"Use {parts.forms}.")
