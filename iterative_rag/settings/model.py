"""Every setting of the package, in one model: what it is, its default, its bounds.

Command line beats environment (`ITERATIVE_RAG_MAX_HOPS`) beats `.env` beats `iterative-rag.toml` of the working
folder beats the one in the user's configuration folder beats the preset beats the default. What decides where something
is sent is taken from a working folder only if the user trusts it (`trust`). Settings describe; `factory` builds. API
keys are not settings (`keys`), so that no settings dump can hold one.
"""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError

from iterative_rag.errors import SettingsError
from iterative_rag.registry import EMBEDDERS, LLMS, RERANKERS, SEARCH_ENGINES, STORES, STRATEGIES, in_words
from iterative_rag.settings.layers import DOTENV, FILE_NAME, config_folder, from_environment, read_toml, working_folder
from iterative_rag.types import Within
from iterative_rag.types.documents import checked_since, condition

_log = logging.getLogger(__name__)

# The two layers that are no files.
ENVIRONMENT, COMMAND_LINE = "the environment", "the command line"

# Thirty years: what is longer, or infinite, no clock of the system takes.
_LONGEST_WAIT = 1e9
# Characters of a value in a message.
_LONGEST_SHOWN = 60

AUTO = "auto"
Switch = Literal["auto", "on", "off"]
Length = Literal["short", "paragraph", "report"]
LENGTHS: tuple[Length, ...] = get_args(Length)

PRESETS: dict[str, dict[str, Any]] = {
    "fast": {"max_hops": 3, "shortlist": 4, "fact_limit": 2, "max_seconds": 60.0},
    "balanced": {},
    "thorough": {"max_hops": 8, "shortlist": 12, "fact_limit": 6, "max_calls": 200, "max_seconds": 1800.0},
}


def one_of(names: Sequence[str]) -> AfterValidator:
    """Accepts these names only."""

    def check(value: str) -> str:
        if value not in names:
            raise ValueError(f"it must be {in_words([repr(name) for name in names])}")
        return value

    return AfterValidator(check)


def _language_code(value: str) -> str:
    from iterative_rag.text.languages import language_names

    if value != AUTO and value not in language_names():
        raise ValueError("it must be 'auto' or a code such as 'en' or 'de'")
    return value


def _conditions(value: Any) -> Any:
    texts = [value] if isinstance(value, str) else value
    for text in texts if isinstance(texts, list | tuple) else ():
        condition(str(text))
    return texts


def _number(value: Any) -> Any:
    if isinstance(value, bool):  # which pydantic takes for 0 or 1
        raise ValueError("it must be a number")
    return value


Int = Annotated[int, BeforeValidator(_number)]
Real = Annotated[float, BeforeValidator(_number)]
LANGUAGE_CODE = AfterValidator(_language_code)  # `auto`, or a code: `de`
SINCE_DATE = AfterValidator(checked_since)  # `2024-05-01`, `2024-05`, `2024`
CONDITIONS = BeforeValidator(_conditions)  # a list of KEY=VALUE, or the text of one


class Settings(BaseModel):
    """Every setting of a run, immutable; unknown names and values out of bounds are refused.

    The descriptions of the fields are shown in error messages and in docs/api.md.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: Literal["fast", "balanced", "thorough"] = Field("balanced", description="a bundle of the limits below")
    corpus: str = Field(
        "",
        description="corpus or ZIM file to ask, or several (a,b.zim); empty: 'default' once it exists, "
        "else the starter corpus",
    )
    within_title: str = Field("", description="ask only documents with this in their title; with * or ?, a pattern")
    within_source: str = Field("", description="ask only documents with this in their path or URL")
    within_language: str = Field("", description="ask only documents of this language: a code such as de")
    within_since: Annotated[str, SINCE_DATE] = Field(
        "", description="ask only documents of this date or later: 2024-05-01, 2024-05 or 2024"
    )
    within_where: Annotated[tuple[str, ...], CONDITIONS] = Field(
        (), description="ask only documents whose metadata, or rows of tables whose column, has this: KEY=VALUE"
    )
    llm: str = Field("auto", description=LLMS.forms)
    careful: Literal["auto", "on", "off", "builtin"] = Field(
        "auto",
        description="the LLM reads alone, the built-in models plan and check: auto (models below 4B), on, off; or "
        "builtin: they do it all",
    )
    fast_llm: str = Field("", description="a second, faster model for reading and rephrasing; empty: the same")
    embedder: str = Field("builtin", description=EMBEDDERS.forms)

    index: str = Field("local", description=f"where the vectors lie: {STORES.forms}")

    max_hops: Int = Field(6, ge=1, le=50, description="turns of the loop")
    max_calls: Int = Field(80, ge=1, description="LLM calls of one run")
    max_tokens: Int = Field(400_000, ge=1, description="prompt and completion tokens of one run")
    max_seconds: Real = Field(600.0, gt=0, le=_LONGEST_WAIT, description="wall-clock seconds of one run")

    shortlist: Int = Field(8, ge=1, le=100, description="documents read for one need")
    passages: Int = Field(64, ge=1, le=500, description="passages that one query fetches before they are grouped")
    rerank: str = Field("none", description=f"what ranks the passages of a search again: {RERANKERS.forms}")
    strategy: Annotated[str, one_of(STRATEGIES.offered)] = Field("iterative", description="how a question is worked on")
    grading: Switch = Field("auto", description="grade shortlisted documents: auto (as the strategy says), on, off")
    correction: Switch = Field("auto", description="search in other words for a need that brought nothing")
    reflection: Literal["auto", "on", "off", "unsure"] = Field(
        "auto", description="check the claims of an answer against the facts; unsure: only where rules leave a doubt"
    )
    corroboration: Switch = Field("auto", description="read on for documents that agree or contradict")
    grader: Literal["backend", "builtin"] = Field(
        "backend", description="who grades: the backend (an LLM's faster model), or the built-in reader"
    )
    web: bool = Field(False, description="search the web where the corpus falls short; else nothing leaves the machine")
    search_engine: str = Field("wikipedia", description=SEARCH_ENGINES.forms)

    language: Annotated[str, LANGUAGE_CODE] = Field(
        "auto", description="the language of the question: auto (told by its words), or a code such as en or de"
    )
    answer_language: Annotated[str, LANGUAGE_CODE] = Field(
        "auto", description="LLM backends: the language of the answer: auto (that of the question), or a code"
    )

    length: Length = Field(
        "short",
        description="LLM backends: short (a value, or a few sentences where the question asks why, how or for a "
        "summary), paragraph (several paragraphs), report (sections with headings)",
    )

    fact_limit: Int = Field(3, ge=1, le=50, description="facts after which a need is read no further")
    guess: bool = Field(False, description="built-in backend: answer though the answer is hardly trusted")
    calls_in_flight: Int = Field(
        4, ge=1, le=512, description="reading calls at the same time; unset, one for an Ollama server of this machine"
    )
    window_chars: Int = Field(4000, ge=200, description="characters of one document that are read in one call")
    documents_per_call: Int = Field(
        4, ge=1, le=8, description="LLM backends: documents read in one call where several are read, as far as they fit"
    )

    chunk_chars: Int = Field(500, ge=50, le=8000, description="characters of a passage")
    chunk_overlap: Int = Field(80, ge=0, description="characters that neighbouring passages share")

    context_window: Int = Field(8192, ge=512, description="tokens that the model is given room for (Ollama: num_ctx)")
    reply_tokens: Int = Field(1024, ge=16, description="tokens of one reply")
    timeout: Real = Field(120.0, gt=0, le=_LONGEST_WAIT, description="seconds that one LLM call may take")
    thinking: Switch = Field(
        "auto", description="whether a model thinks before it replies; auto: off with Ollama, else as its server does"
    )
    retries: Int = Field(4, ge=0, le=20, description="times that a call is made again after a fault that may pass")
    seed: Int = Field(0, description="seed sent with every call; the temperature is 0")
    cache: bool = Field(True, description="keep and reuse LLM replies, extractions and query vectors")

    _given: frozenset[str] | None = PrivateAttr(None)

    @property
    def given(self) -> frozenset[str]:
        """The names of what a command line or a program has set, and not a file, the environment or a preset."""
        return frozenset(self.model_fields_set) if self._given is None else self._given

    def changed(self, **values: Any) -> Settings:
        """The same with other values, which count as given."""
        settings = self.model_copy(update=values)
        settings._given = self.given | values.keys()
        return settings

    @property
    def within(self) -> Within:
        """The part of the corpus that every question is kept to."""
        named = self.within_title, self.within_source, self.within_language, self.within_since
        return Within(*named, where=self.within_where)


def load_settings(overrides: Mapping[str, Any] | None = None, *, given_in: str = COMMAND_LINE) -> Settings:
    """Merge the preset, the settings files, `.env`, the environment and `overrides`, the last the strongest.

    None in `overrides` means not set; `given_in` names where they stand, for errors. Raises SettingsError, which names
    the layer, the key and the nearest valid name. Settings of a working folder that is not trusted are left out where
    they would decide where something is sent, and a warning is logged that names them.
    """
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    for layer, values in _layers(given, given_in):
        for unknown in (key for key in values if key not in Settings.model_fields):
            near = difflib.get_close_matches(unknown, Settings.model_fields, n=1, cutoff=0.0)
            raise SettingsError(f"Unknown setting {unknown!r} in {layer}.", hint=f"Did you mean {near[0]!r}?")
        merged |= values
        origin |= dict.fromkeys(values, layer)
    try:
        settings = Settings.model_validate(PRESETS.get(str(merged.get("preset", "balanced")), {}) | merged)
        settings._given = frozenset(given)
        return settings
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        value, layer, field = shortened(merged.get(key, "")), origin.get(key, "the preset"), Settings.model_fields[key]
        option = f"--{key.removeprefix('within_').replace('_', '-')} {value}"
        typed = option if layer == COMMAND_LINE else f"{key} = {value} in {layer}"
        hint = f"{key}: {field.description} (default {field.default!r})"
        raise SettingsError(f"{typed} is not valid: {complaint(first)}.", hint=hint) from error


def _layers(given: dict[str, Any], given_in: str) -> list[tuple[str, dict[str, Any]]]:
    """Weakest first."""
    user_file = config_folder() / FILE_NAME
    user, environment = read_toml(user_file), from_environment(os.environ)
    folder = working_folder(Path.cwd())
    held, refused = folder.allowed(environment.keys() | given.keys())
    if refused:
        _log.warning(
            "Not taken from this folder, because it would decide where questions and documents are sent: %s. "
            "If you trust it: iterative-rag trust",
            ", ".join(refused),
        )
    if folder.reserved:
        _log.warning("Not read from %s, only from the environment: %s.", DOTENV, ", ".join(folder.reserved))
    files = [(str(file), values) for file, values in ((user_file, user), *held)]
    return [*files, (ENVIRONMENT, environment), (given_in, given)]


def complaint(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, mostly in the words of pydantic: `error` is one of `ValidationError.errors()`."""
    said = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return said[:1].lower() + said[1:]


def shortened(value: object) -> str:
    """The value as it was typed, not too long for a message."""
    text = str(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
