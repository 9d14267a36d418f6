"""Which settings of a working folder apply: those that can send something off this machine only if the user trusts it.

A folder that was cloned or unpacked must not choose who receives the question, the documents and the keys. Trust holds
for one folder and the exact content of its two settings files.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from iterative_rag.registry import EMBEDDERS, LLMS, RERANKERS, SEARCH_ENGINES, STORES
from iterative_rag.settings.layers import WorkingFolder
from iterative_rag.system.private_files import read_json, update_json

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


def sends(key: str, value: object) -> bool:
    """Whether a setting with this value may send something off this machine."""
    return key in _LOCAL_VALUES and str(value).strip().lower() not in _LOCAL_VALUES[key]


def needing_trust(folder: WorkingFolder) -> list[tuple[Path, str, Any]]:
    """File, key and value of each setting that applies in a trusted folder only."""
    return [(file, key, value) for file, values in folder.layers for key, value in values.items() if sends(key, value)]


def allowed(
    folder: WorkingFolder, trusted: Path, overruled: Collection[str]
) -> tuple[list[tuple[Path, dict[str, Any]]], list[str]]:
    """The folder's settings that apply, by file, and the names of those that are refused and that no stronger layer has
    `overruled`."""
    refused = needing_trust(folder)
    if not refused or is_trusted(folder, trusted):
        return list(folder.layers), []
    layers = ((file, values.items()) for file, values in folder.layers)
    held = [(file, {key: value for key, value in items if not sends(key, value)}) for file, items in layers]
    return held, [f"{key} ({file.name})" for file, key, _ in refused if key not in overruled]


def is_trusted(folder: WorkingFolder, trusted: Path) -> bool:
    return bool(folder.digest) and trusted_folders(trusted).get(str(folder.path.resolve())) == folder.digest


def trust(folder: WorkingFolder, trusted: Path) -> None:
    """Trust the folder with the content that was read."""
    update_json(trusted, lambda held: held.update({str(folder.path.resolve()): folder.digest}))


def distrust(path: Path, trusted: Path) -> bool:
    """Stop trusting a folder; returns whether it was trusted."""
    known = str(path.resolve()) in trusted_folders(trusted)
    if known:
        update_json(trusted, lambda held: held.pop(str(path.resolve()), None))
    return known


def trusted_folders(trusted: Path) -> dict[str, str]:
    """The digest of each trusted folder."""
    return {path: digest for path, digest in read_json(trusted).items() if isinstance(digest, str)}
