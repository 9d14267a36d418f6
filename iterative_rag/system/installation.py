"""How the user adds optional packages to the environment that runs now, whatever made it."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]


def install_command(extra: str) -> str:
    """The command that installs the extra where this process finds it: a `pip` on the PATH may be that of another
    environment, and one made by uv has none."""
    prefix = Path(sys.prefix)
    quickstart = _CHECKOUT / "scripts" / "quickstart"
    if prefix == _CHECKOUT / ".venv" and quickstart.exists():
        return f"{_as_typed(quickstart)} --extra {extra}"
    requirement = f"'iterative-rag[{extra}]'"
    if os.environ.get("VIRTUAL_ENV") == str(prefix) and find_spec("pip"):
        return f"pip install {requirement}"
    python = shlex.quote(sys.executable)
    if find_spec("pip"):
        return f"{python} -m pip install {requirement}"
    return f"uv pip install --python {python} {requirement}"


def _as_typed(script: Path) -> str:
    here = Path.cwd()
    return f"./{script.relative_to(here)}" if script.is_relative_to(here) else shlex.quote(str(script))
