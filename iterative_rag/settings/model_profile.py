"""The profile of a model: the settings that suit it, as `iterative-rag doctor --qualify` measured them.

One private JSON file for each model, server and version of the prompts, in the data folder. It holds no key. It is read
as untrusted input: only settings that a profile may set are taken, within their bounds, and never one that decides
where something is sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from iterative_rag.errors import SettingsError
from iterative_rag.settings.layers import home
from iterative_rag.settings.model import Settings
from iterative_rag.system.files import read_json, update_json

VERSION = 2
# What a profile may set: who plays which role, how a question is worked on and read, never where anything goes.
PROFILED: Final = frozenset({"careful", "grader", "strategy", "window_chars", "documents_per_call", "timeout"})
# The strategy without the parts that a user may switch on and off: whoever sets one of them wants another strategy.
_DRIVING: Final = "agent"
_PARTS: Final = frozenset({"grading", "correction", "reflection", "corroboration"})


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What a profile holds for: the model, its server, and the versions of the prompts that it was tested with."""

    model: str
    server: str
    prompts: str

    @property
    def file(self) -> Path:
        digest = hashlib.sha256("\n".join((*astuple(self), str(VERSION))).encode()).hexdigest()[:12]
        name = re.sub(r"[^a-z0-9]+", "-", self.model.casefold()).strip("-")[:60] or "model"
        return profiles_folder() / f"{name}-{digest}.json"


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The settings of a model that differ from the defaults or were confirmed, and the day (ISO) of the test.

    `report` is what was tested and what came out, as JSON, for people to read.
    """

    identity: ModelIdentity
    made: str
    settings: Mapping[str, Any]
    report: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, settings: Settings) -> Settings:
        """The settings with those of the profile that the user has not set in any layer."""
        return settings.model_copy(update=self._chosen(settings))

    def changes(self, settings: Settings) -> dict[str, Any]:
        """The settings that the profile gives another value."""
        return {name: value for name, value in self._chosen(settings).items() if value != getattr(settings, name)}

    def _chosen(self, settings: Settings) -> dict[str, Any]:
        held = settings.model_fields_set
        chosen = {name: value for name, value in self.settings.items() if name not in held}
        if chosen.get("strategy") == _DRIVING and (settings.web or held & _PARTS):
            del chosen["strategy"]
        return chosen


def profiles_folder() -> Path:
    return home() / "profiles"


def read_profile(identity: ModelIdentity) -> ModelProfile | None:
    """The profile of a model; None where there is none. Raises SettingsError for a file that is not one."""
    if not (path := identity.file).exists():
        return None
    held = read_json(path)
    made, settings, report = held.get("made"), held.get("settings"), held.get("report")
    fits = held.items() >= _heading(identity).items()
    if not fits or not isinstance(made, str) or not isinstance(settings, dict):
        raise _unusable(path, "it is not a profile of this model")
    return ModelProfile(identity, made, _checked(settings, path), report if isinstance(report, dict) else {})


def write_profile(profile: ModelProfile) -> Path:
    """Write the file and return its path. Raises OSError and SettingsError."""
    told = {"made": profile.made, "settings": dict(profile.settings), "report": dict(profile.report)}
    update_json(profile.identity.file, lambda held: held.update(_heading(profile.identity) | told))
    return profile.identity.file


def _heading(identity: ModelIdentity) -> dict[str, Any]:
    return {"version": VERSION, **asdict(identity)}


def _checked(settings: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings, if a profile may set each of them and their values are within bounds."""
    if refused := sorted(settings.keys() - PROFILED):
        raise _unusable(path, f"a profile may not set {refused[0]!r}")
    try:
        valid = Settings.model_validate(dict(settings))
    except ValidationError as error:
        raise _unusable(path, f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}") from error
    return {name: getattr(valid, name) for name in settings}


def _unusable(path: Path, reason: str) -> SettingsError:
    hint = f"rm '{path}', or run: iterative-rag doctor --qualify"
    return SettingsError(f"The profile {path} cannot be used: {reason}.", hint=hint)
