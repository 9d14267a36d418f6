"""One question to a JSON API of a search engine: within a deadline and a size, again only when it asks for that."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import FetchError
from iterative_rag.remote.disclosure import SEARCH_WORDS
from iterative_rag.remote.server_calls import Line, without_secrets

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0  # for one search, with the pause that a busy engine asks for
MOST_BYTES = 4 * 1024 * 1024
_WAIT = "Wait a while, or choose another --search-engine."
_SHOWN = 200  # characters of what an engine says about its error


@dataclass(frozen=True, slots=True)
class JsonApi:
    """Where an engine is asked. `name` stands in messages; `hints` say what to do about a status.

    `key` goes into the Authorization header and nowhere else. Redirects are not followed: the address is the user's or
    our own, and neither a key nor a query is for whoever it may point to.
    """

    name: str
    url: str
    user_agent: str
    hints: Mapping[int, str] = field(default_factory=dict)
    key: str = field(default="", repr=False)
    seconds: float = SECONDS

    def get(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """The JSON object that the API answers with. Raises FetchError."""
        return self._asked("GET", params=parameters)

    def post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._asked("POST", json=body)

    def _asked(self, method: str, **content: Any) -> Mapping[str, Any]:
        deadline = monotonic() + self.seconds
        try:
            return self._once(method, deadline, content)
        except FetchError as error:
            pause = error.retry_after
            if pause is None or monotonic() + pause >= deadline:
                raise
            sleep(pause)
        return self._once(method, deadline, content)

    def _once(self, method: str, deadline: float, content: Mapping[str, Any]) -> Mapping[str, Any]:
        import httpx

        line = Line()
        line.ends = deadline
        headers = {"User-Agent": self.user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
        options = line.http_options(self.url, key=self.key, what=SEARCH_WORDS)
        try:
            with (
                httpx.Client(headers=headers, **options) as client,
                client.stream(method, self.url, **content) as response,
            ):
                body = self._body(response, deadline)
        except httpx.TimeoutException as error:
            raise self._late() from error
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise FetchError(f"{self.name} has no address that can be asked.", hint="Check its URL.") from error
        except httpx.ConnectError as error:
            raise FetchError(
                f"{self.name} cannot be reached.", hint="Check the network and the address.", retryable=True
            ) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise FetchError(
                f"{self.name} broke off its reply ({type(error).__name__}).", hint=_WAIT, retryable=True
            ) from error
        if response.status_code != 200:
            raise self._refused(response, body)
        return self._read(body)

    def _body(self, response: httpx.Response, deadline: float) -> bytes:
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > MOST_BYTES:
                raise FetchError(f"{self.name} sent more than {MOST_BYTES / 1e6:.0f} MB.", hint="Check its address.")
            if monotonic() >= deadline:
                raise self._late()
        return bytes(body)

    def _read(self, body: bytes) -> Mapping[str, Any]:
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._unreadable() from error
        if not isinstance(answer, dict):
            raise self._unreadable()
        return answer

    def _refused(self, response: httpx.Response, body: bytes) -> FetchError:
        status = response.status_code
        busy = status == 429 or status >= 500
        said = self._said(body)
        after = response.headers.get("retry-after", "").strip()
        return FetchError(
            f"{self.name} answered with status {status}{f': {said}' if said else ''}.",
            hint=self.hints.get(status, _WAIT if busy else "Check its address and what it wants."),
            retryable=busy,
            retry_after=float(after) if busy and re.fullmatch(r"\d{1,6}", after) else None,
            status=status,
        )

    def _said(self, body: bytes) -> str:
        """What a JSON error says, in one line and without any key; "" for a page of HTML."""
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        for name in ("detail", "error", "message"):
            while isinstance(answer, dict) and name in answer:
                answer = answer[name]
        if not isinstance(answer, str):
            return ""
        return "".join(char for char in without_secrets(answer) if char.isprintable())[:_SHOWN].rstrip(". ")

    def _late(self) -> FetchError:
        return FetchError(f"{self.name} gave no whole reply within {self.seconds:.0f} s.", hint=_WAIT, retryable=True)

    def _unreadable(self) -> FetchError:
        return FetchError(
            f"{self.name} sent something that is not the JSON it should be.",
            hint=self.hints.get(200, "Check that its address is that of the API."),
        )
