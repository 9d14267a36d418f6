"""The environment that runs now, whatever made it: how optional packages are added."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
_NAME = "iterative-rag"


def install_command(extra: str) -> str:
    """The command that installs the extra where this process finds it: a `pip` on the PATH may be that of another
    environment, and one made by uv has none."""
    prefix = Path(sys.prefix)
    quickstart = _CHECKOUT / "scripts" / "quickstart"
    if prefix == _CHECKOUT / ".venv" and quickstart.exists():
        near = quickstart.is_relative_to(Path.cwd())
        typed = f"./{quickstart.relative_to(Path.cwd())}" if near else shlex.quote(str(quickstart))
        return f"{typed} --extra {extra}"
    wanted = f"'{_NAME}[{extra}]'"
    python = shlex.quote(sys.executable)
    if not find_spec("pip"):
        return f"uv pip install --python {python} {wanted}"
    return f"{python} -m pip install {wanted}"
