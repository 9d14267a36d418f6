"""Finds the profile of the model that a run uses, and puts its settings where the user has set nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from iterative_rag.remote.model_spec import Spec
    from iterative_rag.settings.model_profile import ModelIdentity


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
    from iterative_rag.settings.model_profile import profiles_folder, read_profile

    if spec.kind == "builtin" or not profiles_folder().is_dir():
        return settings, ""
    try:
        profile = read_profile(model_identity(spec))
    except SettingsError as error:
        return settings, f"{error} {error.hint}"
    if profile is None:
        return settings, ""
    applied = profile.applied(settings)
    changed = [
        f"{name} {getattr(applied, name)}"
        for name in profile.settings
        if getattr(applied, name) != getattr(settings, name)
    ]
    if not changed:
        return applied, ""
    return applied, f"From the model's profile of {profile.made[:10]}: {', '.join(changed)}."
