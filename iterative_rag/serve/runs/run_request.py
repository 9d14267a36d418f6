"""What a client may ask for: a question and settings that are at most as generous as those of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from iterative_rag.app.factory import checked_question
from iterative_rag.errors import UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.settings import Settings
from iterative_rag.settings.model import complaint
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Within

# These name no server, file or key; what a longer answer costs is bounded by the limits.
CHOICES = ("language", "answer_language", "length")
_LONGEST_NAME = 60

M = TypeVar("M", bound=BaseModel)


def _text(value: object) -> object:
    """Without control characters; null and nothing are the same. Raises ValueError for what is no valid Unicode."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("valid Unicode") from error
        return without_controls(value)
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]


class Strict(BaseModel):
    """Unknown fields are refused, so that a misspelt one is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RunLimits(Strict):
    """What a request may lower."""

    max_hops: int | None = Field(None, gt=0)
    max_calls: int | None = Field(None, gt=0)
    max_tokens: int | None = Field(None, gt=0)
    max_seconds: float | None = Field(None, gt=0)
    shortlist: int | None = Field(None, gt=0)
    fact_limit: int | None = Field(None, gt=0)


class Part(Strict):
    """What a document must be of; empty: anything."""

    title: Text = Field("", max_length=500, description="A part of the title, or a pattern (*, ?) of it.")
    source: Text = Field("", max_length=500, description="A part of the path or URL, or a pattern of it.")
    language: Text = Field("", max_length=20, description="Code of the document's language, such as de.")
    since: Text = Field("", max_length=10, description="Documents of this date or later: 2024-05-01, 2024-05 or 2024.")
    where: list[Annotated[Text, Field(max_length=500)]] = Field(
        [], max_length=20, description="Conditions on metadata: KEY=VALUE."
    )

    def within(self) -> Within:
        """Raises UsageError for a date or a condition that is none."""
        try:
            return Within(**self.model_dump(exclude={"where"}), where=tuple(self.where))
        except ValueError as error:
            raise UsageError(f"{error}.", hint="Such as since 2024-05-01, where author=Holm.") from error


class Asking(Strict):
    """The body of a request that asks a question."""

    question: Text = ""
    corpus: Text = ""
    backend: Text = ""
    strategy: Text = ""
    limits: RunLimits = RunLimits()
    within: Annotated[Part, BeforeValidator(lambda given: {} if given is None else given)] = Part()
    language: Text = ""
    answer_language: Text = ""
    length: Text = ""


LIMITS = tuple(RunLimits.model_fields)
WITHIN = tuple(Part.model_fields)


def checked(model: type[M], given: object) -> M:
    """What a client has sent, as this model. Raises UsageError, which names the first fault."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise refusal(error, hint=f"Known: {', '.join(model.model_fields)}.") from error


def refusal(error: ValidationError, of: str = "", hint: str = "") -> UsageError:
    """The first fault in our own words; what was given is the client's, and may be long."""
    first = error.errors(include_url=False, include_input=False)[0]
    *path, last = map(str, first["loc"] or ("",))
    of = ".".join(path) or of
    name = repr(last[:_LONGEST_NAME]) + (of and f" of {of}")
    if first["type"] == "extra_forbidden":
        return UsageError(f"Unknown field {name}.", hint=hint)
    if first["type"] == "missing":
        return UsageError(f"{name} is missing.", hint=hint)
    return UsageError(f"{name} is not valid: {complaint(first)}.", hint=hint)


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
    asked, base = checked(Asking, given), pool.settings
    strategy, backend = asked.strategy or base.strategy, pool.backend(asked.backend)
    if strategy not in (offered := STRATEGIES.offered_with(backend)):
        known = f"{backend} cannot follow the" if strategy in STRATEGIES.offered else "There is no"
        raise UsageError(f"{known} strategy {strategy!r:.60}.", hint=f"One of: {', '.join(offered)}.")
    return RunRequest(
        question=checked_question(asked.question),
        corpus=pool.served(asked.corpus),
        backend=backend,
        strategy=strategy,
        settings=_lowered(asked.limits, base) | _choices(asked),
        within=asked.within.within(),
    )


def _lowered(limits: RunLimits, base: Settings) -> dict[str, Any]:
    lowered = limits.model_dump(exclude_none=True)
    for name, value in lowered.items():
        if value > (most := getattr(base, name)):
            hint = "A request can lower limits, never raise them."
            raise UsageError(f"{name} may be at most {most:g} here.", hint=hint)
    return lowered


def _choices(asked: Asking) -> dict[str, Any]:
    chosen = {name: value for name in CHOICES if (value := getattr(asked, name))}
    try:
        Settings.model_validate(chosen)
    except ValidationError as error:
        name = error.errors()[0]["loc"][0]
        raise UsageError(f"{name} is not valid.", hint=f"{Settings.model_fields[str(name)].description}") from error
    return chosen
