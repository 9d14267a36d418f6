"""Records every attempt of this process to reach another machine, for tests that nothing leaves this one.

An audit hook of the interpreter sees what no patch can miss: look-ups, connections and packets of every thread. Code
with a network stack of its own (`ddgs` has one, in Rust) is recognised by its import.
"""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OWN_NETWORK = ("primp", "ddgs")
_listening: list[list[str]] = []
_lock = threading.Lock()
_hooked = False


@contextmanager
def no_outside_connections() -> Iterator[list[str]]:
    """Fails where anything but loopback was looked up, connected to or sent to. The list says what, as it happens."""
    global _hooked
    tried: list[str] = []
    with _lock:
        if not _hooked:
            sys.addaudithook(_record)  # it cannot be removed; it records only while a test listens
            _hooked = True
        _listening.append(tried)
    # Only a module that is not loaded yet raises an event when it is imported.
    stowed = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in OWN_NETWORK}
    try:
        yield tried
    finally:
        sys.modules.update(stowed)
        with _lock:
            _listening.remove(tried)
    assert tried == []


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening:
        return
    said = ""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if isinstance(address, tuple) and address and not _is_here(address[0]):
            said = f"{event} {address[0]}"
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        said = "" if _is_here(arguments[0]) else f"{event} {arguments[0]}"
    elif event == "import" and arguments[0].partition(".")[0] in OWN_NETWORK:
        said = f"import {arguments[0]}"
    if said:
        for tried in _listening:
            tried.append(said)


def _is_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name == "localhost"
