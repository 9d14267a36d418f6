"""API keys: each belongs to one host and is sent to no other.

`iterative-rag keys set HOST` stores one in the user's configuration folder; or `ITERATIVE_RAG_API_KEY` holds it, with
its host in `ITERATIVE_RAG_API_KEY_HOST`. Over plain HTTP a key is sent to this machine and private IP addresses only,
to a host name only if the user allows it, because DNS can be forged.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from iterative_rag.errors import SettingsError, UsageError
from iterative_rag.registry import TABLES
from iterative_rag.remote.hosts import checked_host, host_and_port, host_of, is_loopback, is_openai, is_private
from iterative_rag.settings import config_folder
from iterative_rag.system.files import read_json, update_json

API_KEY: Final = "ITERATIVE_RAG_API_KEY"
API_KEY_HOST: Final = "ITERATIVE_RAG_API_KEY_HOST"
ALLOW_HTTP: Final = "ITERATIVE_RAG_ALLOW_HTTP"
_ENTRIES: Final = [entry for table in TABLES for entry in table]
# Removed from everything that a server sends.
SECRETS: Final = tuple(dict.fromkeys(name for entry in _ENTRIES for name in entry.keys))


@dataclass(frozen=True, slots=True)
class Key:
    """The key to send to a server: `value`, or "". `withheld` says why a key that is set is not sent, `hint` what to
    type."""

    value: str = field(default="", repr=False)
    withheld: str = ""
    hint: str = ""


def keys_file() -> Path:
    return config_folder() / "keys.json"


def store(host: str, value: str, *, allow_http: bool = False) -> str:
    """Store the key of HOST or HOST:PORT; returns the host as stored. Raises UsageError for what cannot be a key."""
    host, value = checked_host(host), value.strip()
    if not _can_be_key(value):
        told = "That cannot be a key: it is empty, or has spaces or unusual characters."
        raise UsageError(told, hint="Copy it again.")
    update_json(keys_file(), lambda held: held.update({host: {"key": value, "allow_http": allow_http}}))
    return host


def remove(host: str) -> str:
    """Remove the key of a host; returns the host. Raises UsageError where there is no key."""
    host = checked_host(host)
    if host not in read_json(keys_file()):
        raise UsageError(f"No key is stored for {host}.", hint="iterative-rag keys list")
    update_json(keys_file(), lambda held: held.pop(host, None))
    return host


def stored() -> dict[str, bool]:
    """The hosts with a key, and whether it may be sent over plain HTTP."""
    return {host: bool(entry.get("allow_http")) for host, entry in _entries().items()}


def variables(service: str) -> tuple[str, ...]:
    """The environment variables that may hold the key of a registered part; those of any server for others."""
    return next((entry.keys for entry in _ENTRIES if entry.name == service and entry.keys), (API_KEY,))


def find(url: str, service: str) -> Key:
    """The key for the server at `url`."""
    entries = _entries()
    for host in (host_and_port(url), host_of(url)):
        if entry := entries.get(host):
            return _over(url, str(entry.get("key", "")), f"The key of {host}", allowed=bool(entry.get("allow_http")))
    kept = Key()
    for variable in variables(service):
        if value := os.environ.get(variable, "").strip():
            key = _from_variable(variable, value, url)
            if key.value:
                return key
            kept = kept if kept.withheld else key
    return kept


def key_to_send(url: str, service: str) -> str:
    """The value of `find`. Why a key is withheld is told where the server refuses the call: `hint_for`."""
    return find(url, service).value


def hint_for(url: str, service: str) -> str:
    """What to type where the server at `url` requires a key, or refuses it."""
    key = find(url, service)
    if key.withheld:
        return f"{key.withheld} To send it: {key.hint}"
    host = host_and_port(url) if is_loopback(url) else host_of(url)
    first = variables(service)[0]
    if first != API_KEY:
        return f"iterative-rag keys set {host}, or set {first}."
    wrong = "The server refuses the key; set another: " if key.value else ""
    return f"{wrong}iterative-rag keys set {host}, or {API_KEY} with {API_KEY_HOST}={host}."


def known_values() -> list[str]:
    """All keys, to be removed from texts."""
    held = [os.environ.get(name, "").strip() for name in SECRETS]
    with contextlib.suppress(SettingsError):  # no key was read from a file that cannot be read
        held += [str(entry.get("key", "")) for entry in _entries().values()]
    return sorted({value for value in held if value}, key=len, reverse=True)


def _entries() -> dict[str, dict[str, object]]:
    held = read_json(keys_file())
    return {host: entry for host, entry in held.items() if isinstance(entry, dict)}


def _from_variable(variable: str, value: str, url: str) -> Key:
    host = host_of(url)
    if variable == "OPENAI_API_KEY":
        return Key(value) if is_openai(url) else Key()
    if variable == API_KEY:
        owner = os.environ.get(API_KEY_HOST, "").strip()
        if not owner:
            # With the port where it is this machine, which may run other servers.
            wanted = host_and_port(url) if is_loopback(url) else host
            withheld = f"{API_KEY} is not sent to {wanted}, because {API_KEY_HOST} does not name its host."
            return Key(withheld=withheld, hint=f"export {API_KEY_HOST}={wanted}")
        if checked_host(owner) not in (host, host_and_port(url)):
            withheld = f"{API_KEY} belongs to {checked_host(owner)}, so it is not sent to {host_and_port(url)}."
            return Key(withheld=withheld, hint=f"iterative-rag keys set {host_and_port(url)}")
    return _over(url, value, variable, allowed=False)


def _over(url: str, value: str, name: str, *, allowed: bool) -> Key:
    """The key, unless it would be sent over plain HTTP where others could read it."""
    if not _can_be_key(value):
        return Key(withheld=f"The value of {name} cannot be a key.", hint="copy it again")
    open_hosts = {checked_host(host) for host in os.environ.get(ALLOW_HTTP, "").replace(",", " ").split()}
    allowed = allowed or bool(open_hosts & {host_of(url), host_and_port(url)})
    if urlsplit(url).scheme == "https" or is_loopback(url) or is_private(url) or allowed:
        return Key(value)
    host = host_of(url)
    withheld = f"{name} is not sent to {host} over plain HTTP, where others could read it."
    hint = f"use https, or iterative-rag keys set {host} --allow-http, or {ALLOW_HTTP}={host}"
    return Key(withheld=withheld, hint=hint)


def _can_be_key(value: str) -> bool:
    """An HTTP library would quote anything else in its error message."""
    return bool(value) and value.isascii() and value.isprintable() and " " not in value
