"""What a client may ask for: a question and settings that are at most as generous as those of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from iterative_rag.app.factory import checked_question
from iterative_rag.errors import UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.settings import PRESETS, Settings
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Within

# A request may lower these.
LIMITS = ("max_hops", "max_calls", "max_tokens", "max_seconds", "shortlist", "fact_limit")
# These name no server, file or key; what a longer answer costs is bounded by the limits.
CHOICES = ("language", "answer_language", "length")
FIELDS = frozenset({"question", "corpus", "backend", "strategy", "preset", "limits", "within", *CHOICES})
WITHIN = tuple(one.name for one in fields(Within))
_MOST_CONDITIONS = 20


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A question that was checked. `settings` are the fields of Settings that differ from the server's. `within`
    narrows the part of the corpus that the server asks. `follows` is the run that it goes on from as a follow-up, ""
    for a question of its own."""

    question: str
    corpus: str
    backend: str
    strategy: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    follows: str = ""
    within: Within = field(default_factory=Within)


def checked_request(given: Mapping[str, Any], pool: RagPool) -> RunRequest:
    """The request of a client, with the server's defaults. Raises UsageError or CorpusNotFound."""
    for name in given:
        if name not in FIELDS:
            raise UsageError(f"Unknown field {name!r:.60}.", hint=f"Known: {', '.join(sorted(FIELDS))}.")
    base = pool.settings
    strategy = _text(given, "strategy") or base.strategy
    backend = pool.backend(_text(given, "backend"))
    if strategy not in (offered := STRATEGIES.offered_with(backend)):
        known = f"{backend} cannot follow the" if strategy in STRATEGIES.offered else "There is no"
        raise UsageError(f"{known} strategy {strategy!r:.60}.", hint=f"One of: {', '.join(offered)}.")
    limits = given.get("limits", {})
    if not isinstance(limits, Mapping):
        raise UsageError('"limits" is an object, such as {"max_hops": 3}.')
    settings = _preset(_text(given, "preset"), base) | _lowered(limits, base) | _choices(given)
    return RunRequest(
        question=checked_question(without_controls(_text(given, "question"))),
        corpus=pool.served(_text(given, "corpus")),
        backend=backend,
        strategy=strategy,
        settings=settings,
        within=checked_within(given.get("within") or {}),
    )


def checked_within(given: object) -> Within:
    """The part of a corpus that a client asks for. Raises UsageError."""
    if not isinstance(given, Mapping):
        raise UsageError('"within" is an object, such as {"title": "Harriet Lane"}.')
    for name in given:
        if name not in WITHIN:
            raise UsageError(f"Unknown field {name!r:.60} of within.", hint=f"Known: {', '.join(WITHIN)}.")
    where = given.get("where") or []
    if not isinstance(where, list | tuple) or len(where) > _MOST_CONDITIONS:
        raise UsageError(f'"where" is a list of at most {_MOST_CONDITIONS} texts, such as ["author=Holm"].')
    texts = {name: without_controls(_text(given, name)) for name in WITHIN if name != "where"}
    return part_of_corpus(**texts, where=tuple(without_controls(_text({"where": text}, "where")) for text in where))


def part_of_corpus(**within: Any) -> Within:
    """Raises UsageError for a date or a condition that is none."""
    try:
        return Within(**within)
    except ValueError as error:
        raise UsageError(f"{error}.", hint="Such as since 2024-05-01, where author=Holm.") from error


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name) or ""
    if not isinstance(value, str):
        raise UsageError(f'"{name}" is a text.')
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f'"{name}" is not valid Unicode.') from error
    return value


def _preset(name: str, base: Settings) -> dict[str, Any]:
    """The limits of a preset, as far as they are below the server's."""
    if not name:
        return {}
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r:.60}.", hint=f"One of: {', '.join(PRESETS)}.")
    return {key: value for key, value in PRESETS[name].items() if key in LIMITS and value < getattr(base, key)}


def _lowered(limits: Mapping[str, Any], base: Settings) -> dict[str, Any]:
    lowered = {}
    for name, value in limits.items():
        if name not in LIMITS:
            raise UsageError(f"{name!r:.60} is no limit.", hint=f"One of: {', '.join(LIMITS)}.")
        most = getattr(base, name)
        whole = isinstance(most, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value > 0:
            raise UsageError(f"{name} must be a {'whole ' if whole else ''}number above 0.")
        if value > most:
            raise UsageError(
                f"{name} may be at most {most:g} here.", hint="A request can lower limits, never raise them."
            )
        lowered[name] = type(most)(value)
    return lowered


def _choices(given: Mapping[str, Any]) -> dict[str, Any]:
    from pydantic import ValidationError

    chosen = {name: value for name in CHOICES if (value := _text(given, name))}
    try:
        Settings.model_validate(chosen)
    except ValidationError as error:
        name = error.errors()[0]["loc"][0]
        raise UsageError(f"{name} is not valid.", hint=f"{Settings.model_fields[str(name)].description}") from error
    return chosen
