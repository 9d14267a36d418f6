"""Where settings are read from: TOML files, the environment, and the two files of a working folder.

A folder that was cloned or unpacked must not choose who receives the question, the documents and the keys: what can
send something off this machine applies only if the user trusts the folder, with the exact content of its two files.
"""

from __future__ import annotations

import hashlib
import io
import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from iterative_rag.errors import SettingsError
from iterative_rag.registry import EMBEDDERS, LLMS, RERANKERS, SEARCH_ENGINES, STORES
from iterative_rag.system.files import read_json, readable, update_json

# A setting's variable is its name in capitals after the prefix. These are none: the data folder, keys and their hosts,
# the token of the server, a switch for debugging.
PREFIX = "ITERATIVE_RAG_"
RESERVED = frozenset({"home", "api_key", "api_key_host", "allow_http", "token", "debug"})
FILE_NAME = "iterative-rag.toml"
DOTENV = ".env"

# The settings that decide where anything is sent, each with the values that send nothing off this machine.
_LOCAL_VALUES: Final[dict[str, frozenset[str]]] = {
    "llm": frozenset(LLMS.local),
    "fast_llm": frozenset({"", *LLMS.local}),
    "embedder": frozenset(EMBEDDERS.local),
    "rerank": frozenset(RERANKERS.local),
    "index": frozenset({"", *STORES.local}),
    "search_engine": frozenset(SEARCH_ENGINES.local),
    "web": frozenset({"false", "0", "no", "off", "f", "n"}),
}


def home() -> Path:
    """Where corpora, cache and traces lie: `ITERATIVE_RAG_HOME`, else the platform's data folder."""
    if configured := os.environ.get(PREFIX + "HOME"):
        return Path(configured).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("iterative-rag", appauthor=False)


def config_folder() -> Path:
    """Where the user's own settings and keys lie: the platform's configuration folder."""
    from platformdirs import user_config_path

    return user_config_path("iterative-rag", appauthor=False)


def settings_files() -> list[Path]:
    """The settings files that are looked at, weakest first."""
    return [config_folder() / FILE_NAME, Path.cwd() / FILE_NAME, Path.cwd() / DOTENV]


@dataclass(frozen=True, slots=True)
class WorkingFolder:
    """The settings files of a folder, weakest first, the digest of both, or "", and the names that no file may set."""

    path: Path
    layers: tuple[tuple[Path, dict[str, Any]], ...] = ()
    digest: str = ""
    reserved: tuple[str, ...] = ()

    @property
    def needing_trust(self) -> list[tuple[Path, str, Any]]:
        """File, key and value of each setting that applies in a trusted folder only."""
        return [(file, key, value) for file, held in self.layers for key, value in held.items() if sends(key, value)]

    @property
    def is_trusted(self) -> bool:
        return bool(self.digest) and trusted_folders().get(str(self.path.resolve())) == self.digest

    def trust(self) -> None:
        """Trust the folder with the content that was read."""
        update_json(_trusted_file(), lambda held: held.update({str(self.path.resolve()): self.digest}))

    def allowed(self, overruled: Collection[str]) -> tuple[list[tuple[Path, dict[str, Any]]], list[str]]:
        """The settings that apply, by file, and the names of those that are refused and that no stronger layer has
        `overruled`."""
        if not (refused := self.needing_trust) or self.is_trusted:
            return list(self.layers), []
        layers = ((file, values.items()) for file, values in self.layers)
        held = [(file, {key: value for key, value in items if not sends(key, value)}) for file, items in layers]
        return held, [f"{key} ({file.name})" for file, key, _ in refused if key not in overruled]


def working_folder(path: Path) -> WorkingFolder:
    """Read the files of a folder once, so that the content that is checked is the one used. Raises SettingsError."""
    toml_file, dotenv_file = path / FILE_NAME, path / DOTENV
    # A folder named .env is often a virtual environment.
    toml, dotenv = _content(toml_file), _content(dotenv_file) if dotenv_file.is_file() else None
    if toml is None and dotenv is None:
        return WorkingFolder(path)
    from dotenv import dotenv_values

    # Without interpolation, because ${OPENAI_API_KEY} would put a key into a setting.
    variables = dotenv_values(stream=io.StringIO(dotenv or ""), interpolate=False)
    layers = [] if toml is None else [(toml_file, _parsed(toml, toml_file))]
    layers += [] if dotenv is None else [(dotenv_file, from_environment(variables))]
    digest = hashlib.sha256()
    for name, content in ((FILE_NAME, toml), (DOTENV, dotenv)):
        digest.update(f"{name} {-1 if content is None else len(content)}\n{content or ''}".encode())
    reserved = [name for name in variables if name.removeprefix(PREFIX).lower() in RESERVED and name.startswith(PREFIX)]
    return WorkingFolder(path, tuple(layers), digest.hexdigest(), tuple(reserved))


def sends(key: str, value: object) -> bool:
    """Whether a setting with this value may send something off this machine."""
    return key in _LOCAL_VALUES and str(value).strip().lower() not in _LOCAL_VALUES[key]


def distrust(path: Path) -> bool:
    """Stop trusting a folder; returns whether it was trusted."""
    if known := str(path.resolve()) in trusted_folders():
        update_json(_trusted_file(), lambda held: held.pop(str(path.resolve()), None))
    return known


def trusted_folders() -> dict[str, str]:
    """The digest of each trusted folder."""
    return {path: digest for path, digest in read_json(_trusted_file()).items() if isinstance(digest, str)}


def _trusted_file() -> Path:
    return home() / "trusted.json"


def read_toml(path: Path) -> dict[str, Any]:
    """The settings in a file; {} where there is none. Raises SettingsError."""
    content = _content(path)
    return {} if content is None else _parsed(content, path)


def from_environment(values: Mapping[str, str | None]) -> dict[str, Any]:
    """The settings among variables."""
    given = [(name.removeprefix(PREFIX).lower(), value) for name, value in values.items() if name.startswith(PREFIX)]
    return {key: value for key, value in given if key not in RESERVED and value is not None}


def _content(path: Path) -> str | None:
    """None where there is no file."""
    try:
        return readable(path).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _parsed(content: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> SettingsError:
    return SettingsError(f"The settings file {path} cannot be read: {error}.", hint="Correct or remove it.")
