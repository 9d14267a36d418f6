"""What an attacker sends to the server: names, origins, credentials, paths, bodies, and what is no HTTP."""

from __future__ import annotations

from typing import Any

from fakes.running_server import TOKEN

# Host headers; {port} is that of the server. The names that look like numbers resolve to loopback.
HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "",
    "127.0.0.1@evil.example",
    "127.0.0.1:99999999",
    "[::1",
    "2130706433",
    "127.1",
    "192.168.1.5:{port}",
    "0.0.0.0:{port}",
    "localhost,evil.example",
]

# Headers that a browser adds to what a page of another site sends.
ORIGINS = [
    [("Origin", "http://evil.example")],
    [("Origin", "null")],
    [("Origin", "https://localhost")],
    [("Origin", "http://127.0.0.1"), ("Origin", "http://evil.example")],
    [("Origin", "http://127.0.0.1.evil.example")],
    [("Origin", "")],
    [("Sec-Fetch-Site", "cross-site")],
    [("Sec-Fetch-Site", "same-site")],
    [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")],
]

# Headers of somebody who does not know the token, or sends it where it does not belong.
CREDENTIALS: list[list[tuple[str, str]]] = [
    [],
    [("Authorization", "Bearer")],
    [("Authorization", f"Basic {TOKEN}")],
    [("Authorization", f"Bearer {TOKEN.upper()}")],
    [("Authorization", f"Bearer {TOKEN[:-1]}")],
    [("Authorization", "Bearer " + "x" * 8000)],
    [("Authorization", "Bearer \xff\xfe")],
    [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer x")],
    [("Cookie", f"iterative_rag_session={TOKEN}")],
    [("Cookie", 'iterative_rag_session="; x')],
    [("X-Api-Key", TOKEN)],
]

PATHS = [
    "/api/documents/../../../etc/passwd",
    "/api/documents/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/api/documents/%00",
    "/api/documents/file:%2f%2f%2fetc%2fpasswd",
    "/../../etc/passwd",
    "/api/runs/%2e%2e/events",
    "/api/documents/x?corpus=../..",
    "/api/search?q=x&corpus=..%2ftowns",
    "/api/documents/%ff%fe",
    "/api/documents/" + "x" * 5000,
    "/static/../../pyproject.toml",
    "/.env",
]

# Of POST /api/ask: no JSON, no question, or what a request may not choose.
BODIES: list[Any] = [
    "",
    "{",
    "null",
    "[" * 100_000,
    '{"question": ' + "1" * 5000 + "}",
    "\x00",
    '{"question": "\\ud800"}',
    {},
    {"question": " \n"},
    {"question": 7},
    {"question": "x?", "llm": "openai-like/x@http://evil.example"},
    {"question": "x?", "api_key": "k"},
    {"question": "x?", "index": "qdrant://evil.example"},
    {"question": "x?", "web": True},
    {"question": "x?", "search_engine": "searxng@http://evil.example"},
    {"question": "x?", "limits": {"max_hops": -1}},
    {"question": "x?", "limits": {"max_hops": 7}},
    {"question": "x?", "limits": {"max_seconds": float("nan")}},
    {"question": "x?", "limits": {"max_tokens": 10**400}},
    {"question": "x?", "backend": "ollama/x@http://evil.example"},
    {"question": "x?", "strategy": "__import__('os')"},
    {"question": "x?", "language": "../.."},
    {"question": "x?", "corpus": ["towns"]},
]

NONSENSE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /healthz\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\x00b\r\n\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
]
