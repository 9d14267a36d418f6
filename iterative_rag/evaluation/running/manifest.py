"""The manifest of a run: everything its metrics depend on. Stored beside the logs; checked before resuming."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.running.run_folder import LOGS, MANIFEST, read_manifest
from iterative_rag.system.private_files import open_private

# What may differ between a run and its resumption.
_INCIDENTAL = frozenset({"started", "concurrency", "versions"})


def begin_or_resume(out: Path, wanted: Mapping[str, Any]) -> None:
    """Start a run in `out`, or check that `out` holds an earlier part of the same run. Raises UsageError."""
    found = read_manifest(out)
    if found is None:
        if (out / LOGS).is_dir() and any((out / LOGS).iterdir()):
            raise UsageError(f"{out} holds logs of something else.", hint="Give another folder with --out.")
        partial = out / f"{MANIFEST}.partial"
        with open_private(partial) as file:
            file.write(json.dumps(wanted, indent=2, ensure_ascii=False) + "\n")
        os.replace(partial, out / MANIFEST)
        return
    there, here = _flat(found), _flat(json.loads(json.dumps(wanted)))
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
    for key, one in value.items():
        if isinstance(one, Mapping):
            flat |= _flat(one, f"{prefix}{key}.")
        else:
            flat[prefix + key] = one
    return flat


def code_version() -> str:
    from iterative_rag import __version__

    return str(__version__)


def package_versions() -> dict[str, str]:
    import platform
    from importlib.metadata import version

    names = ("inspect-ai", "llama-index-core", "onnxruntime", "qdrant-edge-py")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
