"""The environment that runs now, whatever made it: how its command is typed, and how optional packages are added."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_CHECKOUT = Path(__file__).resolve().parents[2]
_NAME = "iterative-rag"


def install_command(extra: str) -> str:
    """The command that installs the extra where this process finds it: a `pip` on the PATH may be that of another
    environment, and one made by uv has none. For an environment that was made for one command (uvx, pipx run), it is
    that command with the extra."""
    prefix = Path(sys.prefix)
    quickstart = _CHECKOUT / "scripts" / "quickstart"
    if prefix == _CHECKOUT / ".venv" and quickstart.exists():
        return f"{_as_typed(quickstart)} --extra {extra}"
    wanted = _requirement(extra)
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install {wanted}"
    if (prefix / "pipx_metadata.json").exists():
        if prefix.parent.name == "venvs":
            return f"pipx install --force {wanted}"
        return f"pipx run --spec {wanted} {_NAME} ..."
    if prefix.parent.name.startswith(("archive-v", "environments-v")):  # in the cache of uv
        return f"uvx --from {wanted} {_NAME} ..."
    if os.environ.get("VIRTUAL_ENV") == str(prefix) and find_spec("pip"):
        return f"pip install {wanted}"
    python = shlex.quote(sys.executable)
    if find_spec("pip"):
        return f"{python} -m pip install {wanted}"
    return f"uv pip install --python {python} {wanted}"


def _requirement(extra: str) -> str:
    """The extra of this package, from where it was installed: `'iterative-rag[files] @ file:///tmp/package.whl'`."""
    plain = f"'{_NAME}[{extra}]'"
    origin = _origin()
    url = str(origin.get("url", ""))
    if not url:
        return plain
    path = _local_path(url)
    if path is not None and not path.exists():
        return plain
    if origin.get("dir_info", {}).get("editable") and path is not None:
        return f"--editable {shlex.quote(f'{path}[{extra}]')}"
    if revision := origin.get("vcs_info"):
        url = f"{revision['vcs']}+{url}@{revision['commit_id']}"
    return shlex.quote(f"{_NAME}[{extra}] @ {url}")


def _origin() -> dict[str, Any]:
    """What installers note of a package that is not from an index (direct_url.json), {} for one that is."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        noted = distribution(_NAME).read_text("direct_url.json")
        origin = json.loads(noted) if noted else {}
    except (PackageNotFoundError, OSError, ValueError):
        return {}
    return origin if isinstance(origin, dict) else {}


def _local_path(url: str) -> Path | None:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def own_command() -> str:
    """`iterative-rag` as it has to be typed to reach the environment that runs now."""
    import shutil

    script = Path(sys.prefix) / "bin" / "iterative-rag"
    on_path = shutil.which("iterative-rag")
    if not script.exists() or (on_path and Path(on_path).resolve() == script.resolve()):
        return "iterative-rag"
    here = Path.cwd()
    return shlex.quote(str(script.relative_to(here) if script.is_relative_to(here) else script))


def _as_typed(script: Path) -> str:
    here = Path.cwd()
    return f"./{script.relative_to(here)}" if script.is_relative_to(here) else shlex.quote(str(script))
