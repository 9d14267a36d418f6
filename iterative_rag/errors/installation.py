"""The environment that runs now, whatever made it: how its command is typed, and how optional packages are added."""

from __future__ import annotations

import os
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
        return f"{_as_typed(quickstart)} --extra {extra}"
    wanted = f"'{_NAME}[{extra}]'"
    python = shlex.quote(sys.executable)
    if not find_spec("pip"):
        return f"uv pip install --python {python} {wanted}"
    activated = os.environ.get("VIRTUAL_ENV") == str(prefix)
    return f"pip install {wanted}" if activated else f"{python} -m pip install {wanted}"


def own_command() -> str:
    """`iterative-rag` as it has to be typed to reach the environment that runs now."""
    import shutil

    script = Path(sys.prefix) / "bin" / _NAME
    on_path = shutil.which(_NAME)
    if not script.exists() or (on_path and Path(on_path).resolve() == script.resolve()):
        return _NAME
    here = Path.cwd()
    return shlex.quote(str(script.relative_to(here) if script.is_relative_to(here) else script))


def _as_typed(script: Path) -> str:
    here = Path.cwd()
    return f"./{script.relative_to(here)}" if script.is_relative_to(here) else shlex.quote(str(script))
