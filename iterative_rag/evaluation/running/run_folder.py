"""The folder of a run: its manifest (what was run, with what) and the records in its logs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.errors import MissingExtra, UsageError
from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.system.files import readable

MANIFEST = "manifest.json"
LOGS = "logs"
# What the reports of a run read without asking whether it is there.
_HELD: dict[str, type] = {"questions": int, "repeat": int, "dataset": dict, "corpus": dict, "mode": str, "backend": str}
_HELD_WITHIN = {"dataset": ("name", "form", "digest"), "corpus": ("name", "fingerprint")}


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run as stored on disk. `manifest` holds what `run.manifest` wrote; records are in the dataset's order."""

    path: Path
    manifest: Mapping[str, Any]
    records: tuple[QuestionRecord, ...]

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def complete(self) -> bool:
        return len(self.records) == int(self.manifest["questions"]) * int(self.manifest["repeat"])


def read_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of a run's folder, None where there is none yet. Raises UsageError when it cannot be read."""
    try:
        found: Any = json.loads(readable(path / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path / MANIFEST} cannot be read: {error}.", hint="Give another folder with --out."
        ) from error
    if not isinstance(found, dict):
        raise UsageError(f"{path / MANIFEST} is not a JSON object.", hint="Give another folder with --out.")
    return found


def read_run(path: Path) -> RunFolder:
    """The run in `path`, finished or not.

    Raises UsageError where there is none, or its manifest lacks something, MissingExtra without inspect_ai.
    """
    from iterative_rag.evaluation.running.inspect_logs import records

    found = read_manifest(path)
    if found is None:
        raise UsageError(
            f"{path} is not the folder of a run: it has no {MANIFEST}.",
            hint=f"Make one: iterative-rag evaluate run --dataset PATH --out {path}",
        )
    need_inspect()
    if lacking := list(_lacking(found)):
        raise UsageError(
            f"{path / MANIFEST} was changed by hand: {', '.join(lacking)} is missing or of another kind.",
            hint="Put that back, or run it again into another folder with --out.",
        )
    return RunFolder(path, found, records(path / LOGS))


def _lacking(manifest: Mapping[str, Any]) -> Iterator[str]:
    for name, kind in _HELD.items():
        if not isinstance(manifest.get(name), kind):
            yield name
        else:
            yield from (f"{name}.{key}" for key in _HELD_WITHIN.get(name, ()) if key not in manifest[name])


def need_inspect() -> None:
    """Raises MissingExtra without inspect_ai, which writes and reads the logs."""
    import importlib.util

    if importlib.util.find_spec("inspect_ai") is None:
        raise MissingExtra("evaluate")
