"""Finds the profile of the model that a run uses, and puts its settings where the user has set nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from iterative_rag.remote.model_spec import Spec
    from iterative_rag.settings.model_profile import ModelIdentity, ModelProfile


def model_identity(spec: Spec) -> ModelIdentity:
    """What the profile of a model is filed under. Raises UsageError for a wrong OLLAMA_HOST."""
    import hashlib

    from iterative_rag.llm import prompts
    from iterative_rag.remote.server_calls import ollama_url
    from iterative_rag.settings.model_profile import ModelIdentity

    versions = sorted(prompts.versions().items())
    digest = hashlib.sha256(repr(versions).encode()).hexdigest()[:12]
    server = spec.url or (ollama_url() if spec.kind == "ollama" else "")
    return ModelIdentity(f"{spec.kind}/{spec.model}", server, digest)


def with_profile(settings: Settings, spec: Spec) -> tuple[Settings, str]:
    """The settings with the model's profile, and one line about it, "" where there is none or nothing changes.

    A profile that cannot be read is reported in that line, and the run goes on with the settings as they are.
    """
    from iterative_rag.errors import SettingsError

    try:
        profile = _profile(spec)
    except SettingsError as error:
        return settings, f"{error} {error.hint}"
    if profile is None:
        return settings, ""
    changed = [f"{name} {value}" for name, value in profile.changes(settings).items()]
    line = f"From the model's profile of {profile.made[:10]}: {', '.join(changed)}." if changed else ""
    return profile.applied(settings), line


def profile_of(settings: Settings) -> ModelProfile | None:
    """The profile of the model that the settings choose; None where it has none. Raises SettingsError for a file that
    is not one, UsageError for a wrong spec."""
    from iterative_rag.llm.providers.model_choice import chosen

    return _profile(chosen(settings.llm)[0])


def _profile(spec: Spec) -> ModelProfile | None:
    from iterative_rag.settings.model_profile import profiles_folder, read_profile

    if spec.kind == "builtin" or not profiles_folder().is_dir():
        return None
    return read_profile(model_identity(spec))
