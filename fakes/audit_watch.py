"""What this process does to the outside, as the interpreter's own audit events tell: no patch can miss it."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_CALLS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_LOOK_UPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "webbrowser.open")
_CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_OWN_NETWORK = ("primp", "ddgs")  # a network stack that raises no events: it is recognised by its import


@dataclass
class Watch:
    """Every attempt of any thread to reach another machine; with `allowed` folders also processes that are started, and
    files that are changed outside of these."""

    allowed: Sequence[Path]
    seen: list[str] = field(default_factory=list)

    def event(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name in _CALLS:
            address = arguments[1]
            reached = isinstance(address, tuple) and bool(address) and not _is_here(address[0])
        elif name in _LOOK_UPS:
            reached = not _is_here(arguments[0])
        elif name == "import":
            reached = arguments[0].partition(".")[0] in _OWN_NETWORK
        else:
            reached = bool(self.allowed) and (name.startswith(_STARTS) or self._changes(name, arguments))
        if reached:
            self.seen.append(f"{name} {arguments!r:.200}")

    def _changes(self, name: str, arguments: tuple[Any, ...]) -> bool:
        writes = name == "open" and isinstance(arguments[2], int) and bool(arguments[2] & _WRITES)
        if not (writes or name in _CHANGES) or not isinstance(arguments[0], str | bytes | os.PathLike):
            return False
        place = os.path.abspath(os.fsdecode(arguments[0]))
        # A folder that is opened for writing holds a file without a name, which ends with the process.
        unseen = place == os.devnull or (writes and os.path.isdir(place)) or "__pycache__" in place
        return not unseen and not any(Path(place).is_relative_to(folder) for folder in self.allowed)


_watching: list[Watch] = []
_installed: list[bool] = []


def _tell(name: str, arguments: tuple[Any, ...]) -> None:
    for watch in _watching:
        watch.event(name, arguments)


@contextmanager
def watched(*allowed: Path) -> Iterator[Watch]:
    """Records what this process does meanwhile. A hook cannot be taken out again: it is left idle."""
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_tell)
    watch = Watch(allowed)
    # Only a module that is not loaded yet raises an event when it is imported.
    stowed = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in _OWN_NETWORK}
    _watching.append(watch)
    try:
        yield watch
    finally:
        sys.modules.update(stowed)
        _watching.remove(watch)


def _is_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name == "localhost"
