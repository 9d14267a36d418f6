"""How much of what a server sends is read: bytes after decompression, and time. `reply_limits.py` bounds what it says.

Every client of a server reads its replies through here: chat models, embedders, rerankers, search engines, Qdrant, and
the fetchers of pages. httpx limits the time of each read only, and decompresses without a limit.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator

import httpx

MAX_BYTES = 64 * 1024 * 1024
ENCODING = "gzip"  # the only compression that is asked for, and read
_PIECE = 64 * 1024  # bytes that are decompressed at a time


class TooLarge(httpx.RemoteProtocolError):
    """A reply is larger than what is read of one."""


class BoundedBody(httpx.SyncByteStream):
    """The bytes of `body`, decompressed, until `deadline` (of time.monotonic). Raises httpx.ReadTimeout; TooLarge above
    `most` bytes; httpx.DecodingError where the compression is damaged or not the one that was asked for."""

    def __init__(self, body: Iterable[bytes], deadline: float, encoding: str = "", most: int = MAX_BYTES) -> None:
        self._body, self._deadline, self._most = body, deadline, most
        self._encoding = encoding.strip().lower()

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        for piece in self._decompressed():
            received += len(piece)
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the reply did not end in time")
            if received > self._most:
                raise TooLarge(f"it is larger than the limit of {self._most / 1e6:.0f} MB")
            yield piece

    def _decompressed(self) -> Iterator[bytes]:
        if self._encoding in ("", "identity"):
            yield from self._body
            return
        if self._encoding not in (ENCODING, f"x-{ENCODING}"):
            raise httpx.DecodingError(f"it is compressed with {self._encoding[:20]}, which was not asked for")
        unzip, begun = zlib.decompressobj(wbits=31), False
        for part in self._body:
            while part and not unzip.eof:
                begun = True
                try:
                    yield unzip.decompress(part, _PIECE)
                except zlib.error as error:
                    raise httpx.DecodingError("its compression is damaged") from error
                part = unzip.unconsumed_tail
        if begun and not unzip.eof:
            raise httpx.RemoteProtocolError("it ended before it was whole")

    def close(self) -> None:
        if isinstance(self._body, httpx.SyncByteStream):
            self._body.close()


def bound(response: httpx.Response, deadline: float) -> None:
    """Read the body of a response within the limits, whoever reads it."""
    if isinstance(response.stream, httpx.SyncByteStream):
        encoding = response.headers.pop("content-encoding", "")
        response.stream = BoundedBody(response.stream, deadline, encoding)


def hooks(seconds: float) -> dict[str, list[Callable[..., None]]]:
    """The event hooks of an httpx client of a library that makes its own calls, each of at most so many seconds."""

    def ask(request: httpx.Request) -> None:
        request.headers["Accept-Encoding"] = ENCODING

    return {"request": [ask], "response": [lambda response: bound(response, time.monotonic() + seconds)]}
