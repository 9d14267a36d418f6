"""The body of an HTTP response, bounded in time and size.

httpx limits each read only: a server that keeps sending bytes without an end would block a call for ever and fill the
memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import httpx

MAX_BYTES = 64 * 1024 * 1024


class BoundedBody(httpx.SyncByteStream):
    """The bytes of `body` until `deadline` (of time.monotonic). Raises httpx.ReadTimeout, or RemoteProtocolError above
    MAX_BYTES."""

    def __init__(self, body: httpx.SyncByteStream, deadline: float) -> None:
        self._body, self._deadline = body, deadline

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        chunks: Iterable[bytes] = self._body
        for chunk in chunks:
            received += len(chunk)
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the reply did not end in time")
            if received > MAX_BYTES:
                raise httpx.RemoteProtocolError(f"the reply is larger than {MAX_BYTES // 2**20} MB")
            yield chunk

    def close(self) -> None:
        self._body.close()
