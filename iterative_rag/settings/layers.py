"""Reads settings from a TOML file, the environment, and the two files of a working folder."""

from __future__ import annotations

import hashlib
import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.errors import SettingsError
from iterative_rag.system.files import readable

# A setting's variable is its name in capitals after the prefix. These are none: the data folder, keys and their hosts,
# the token of the server, a switch for debugging.
PREFIX = "ITERATIVE_RAG_"
RESERVED = frozenset({"home", "api_key", "api_key_host", "allow_http", "token", "debug"})
FILE_NAME = "iterative-rag.toml"
DOTENV = ".env"


@dataclass(frozen=True, slots=True)
class WorkingFolder:
    """The settings files of a folder, weakest first, the digest of both, or "", and the names that no file may set."""

    path: Path
    layers: tuple[tuple[Path, dict[str, Any]], ...] = ()
    digest: str = ""
    reserved: tuple[str, ...] = ()


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
