"""The folder of a run: its manifest (what was run, with what) and the records in its logs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.errors import MissingExtra, UsageError
from iterative_rag.evaluation.records import QuestionRecord
from iterative_rag.system.files import FILE_MODE, json_value, readable, write_whole

MANIFEST = "manifest.json"
LOGS = "logs"
# What may differ between a run and its resumption.
_INCIDENTAL = frozenset({"started", "concurrency", "versions"})


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run as stored on disk. `manifest` holds what its metrics depend on; records are in the dataset's order."""

    path: Path
    manifest: Mapping[str, Any]
    records: tuple[QuestionRecord, ...]

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def expected(self) -> int:
        """How many answers it has when it is complete."""
        return int(self.manifest["questions"]) * int(self.manifest["repeat"])

    @property
    def complete(self) -> bool:
        return len(self.records) == self.expected


def read_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of a run's folder, None where there is none yet. Raises UsageError when it cannot be read."""
    try:
        manifest: Any = json_value(readable(path / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path / MANIFEST} cannot be read: {error}.", hint="Give another folder with --out."
        ) from error
    if not isinstance(manifest, dict):
        raise UsageError(f"{path / MANIFEST} is not a JSON object.", hint="Give another folder with --out.")
    return manifest


def begin_or_resume(out: Path, wanted: Mapping[str, Any]) -> None:
    """Start a run in `out`, or check that `out` holds an earlier part of the same run. Raises UsageError."""
    manifest = read_manifest(out)
    if manifest is None:
        if (out / LOGS).is_dir() and any((out / LOGS).iterdir()):
            raise UsageError(f"{out} holds logs of something else.", hint="Give another folder with --out.")
        text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
        write_whole(out / MANIFEST, text.encode("utf-8", "replace"), mode=FILE_MODE)
        return
    there, here = _flat(manifest), _flat(json.loads(json.dumps(wanted)))
    differing = [key for key in sorted(there.keys() | here.keys()) if there.get(key) != here.get(key)]
    if differing := [key for key in differing if key.split(".")[0] not in _INCIDENTAL]:
        shown = "; ".join(f"{key}: {there.get(key)!r} there, {here.get(key)!r} here" for key in differing[:6])
        more = f"; and {len(differing) - 6} more" if len(differing) > 6 else ""
        raise UsageError(
            f"{out} holds another run ({shown}{more}).",
            hint="Give the settings of that run, or another folder with --out.",
        )


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            flat |= _flat(inner, f"{prefix}{key}.")
        else:
            flat[prefix + key] = inner
    return flat


def read_run(path: Path) -> RunFolder:
    """The run in `path`, finished or not.

    Raises UsageError where there is none, MissingExtra without inspect_ai.
    """
    from iterative_rag.evaluation.inspect_task import records

    manifest = read_manifest(path)
    if manifest is None:
        told = f"{path} is not the folder of a run: it has no {MANIFEST}."
        raise UsageError(told, hint=f"Make one: iterative-rag evaluate run --dataset PATH --out {path}")
    need_inspect()
    return RunFolder(path, manifest, records(path / LOGS))


def need_inspect() -> None:
    """Raises MissingExtra without inspect_ai, which writes and reads the logs."""
    import importlib.util

    if importlib.util.find_spec("inspect_ai") is None:
        raise MissingExtra("evaluate")


def package_versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    names = ("inspect-ai", "llama-index-core", "onnxruntime", "qdrant-edge-py")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
