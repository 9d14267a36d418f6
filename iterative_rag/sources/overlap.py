"""Which paths lead to the same files, so that no file is indexed under two roots."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from iterative_rag.sources.formats.known_formats import format_in_folder


def reads(root: str, path: str) -> bool:
    """Whether what is indexed as `root` reads `path` too: the same file or folder, or one that lies in the folder."""
    real_root, real = os.path.realpath(root), os.path.realpath(path)
    if real == real_root:
        return True
    if not os.path.isdir(real_root) or not Path(real).is_relative_to(real_root):
        return False
    inside = Path(real).relative_to(real_root)
    hidden = any(part.startswith(".") for part in inside.parts)
    return not hidden and (os.path.isdir(real) or format_in_folder(inside.name) is not None)


def root_of(path: str, roots: Iterable[str]) -> str:
    """The root under which a path is indexed: the outermost of `roots` that reads it, else the path itself."""
    return min([*(root for root in roots if reads(root, path)), path], key=lambda root: len(os.path.realpath(root)))
