"""One request to a search engine's JSON API, within a deadline and a size limit; repeated only if the engine asks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import FetchError
from iterative_rag.remote.disclosure import SEARCH_WORDS
from iterative_rag.remote.server_calls import CallState, without_secrets

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0  # for one search, with the pause that a busy engine asks for
MAX_BYTES = 4 * 1024 * 1024
_WAIT = "Wait a while, or choose another --search-engine."
_MAX_MESSAGE = 200  # characters of an engine's error message


@dataclass(frozen=True, slots=True)
class JsonApi:
    """The API of an engine. `name` is used in messages; `hints` say what to do about a status.

    `key` goes into the Authorization header and nowhere else. Redirects are not followed: neither the key nor the query
    is for the host that one may point to.
    """

    name: str
    url: str
    user_agent: str
    hints: Mapping[int, str] = field(default_factory=dict)
    key: str = field(default="", repr=False)
    seconds: float = SECONDS

    def get(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """The JSON object that the API replies with. Raises FetchError."""
        return self._request("GET", params=parameters)

    def post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """As `get`."""
        return self._request("POST", json=body)

    def _request(self, method: str, **content: Any) -> Mapping[str, Any]:
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

        call = CallState()
        call.ends = deadline
        headers = {"User-Agent": self.user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
        options = call.http_options(self.url, key=self.key, what=SEARCH_WORDS)
        try:
            with (
                httpx.Client(headers=headers, **options) as client,
                client.stream(method, self.url, **content) as response,
            ):
                body = self._body(response)
        except httpx.TimeoutException as error:
            raise FetchError(
                f"{self.name} did not reply in full within {self.seconds:.0f} s.", hint=_WAIT, retryable=True
            ) from error
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise FetchError(f"The address of {self.name} is not valid.", hint="Check its URL.") from error
        except httpx.ConnectError as error:
            raise FetchError(
                f"{self.name} cannot be reached.", hint="Check the network and the address.", retryable=True
            ) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise FetchError(
                f"{self.name} broke off its reply ({type(error).__name__}).", hint=_WAIT, retryable=True
            ) from error
        if response.status_code != 200:
            raise self._status_error(response, body)
        return self._read(body)

    def _body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        for part in response.iter_bytes():  # raises TimeoutException after the deadline
            body += part
            if len(body) > MAX_BYTES:
                raise FetchError(f"{self.name} sent more than {MAX_BYTES / 1e6:.0f} MB.", hint="Check its address.")
        return bytes(body)

    def _read(self, body: bytes) -> Mapping[str, Any]:
        answer = _parsed(body)
        if not isinstance(answer, dict):
            raise FetchError(
                f"{self.name} sent something that is not a JSON object.",
                hint=self.hints.get(200, "Check that its address is that of the API."),
            )
        return answer

    def _status_error(self, response: httpx.Response, body: bytes) -> FetchError:
        status = response.status_code
        busy = status == 429 or status >= 500
        message = _error_message(body)
        after = response.headers.get("retry-after", "").strip()
        return FetchError(
            f"{self.name} answered with status {status}{f': {message}' if message else ''}.",
            hint=self.hints.get(status, _WAIT if busy else "Check its address and what it requires."),
            retryable=busy,
            retry_after=float(after) if busy and re.fullmatch(r"\d{1,6}", after) else None,
            status=status,
        )


def _parsed(body: bytes) -> Any:
    """None for what is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error_message(body: bytes) -> str:
    """The message of an error in JSON, on one line and without any key; "" for an HTML page."""
    answer = _parsed(body)
    for name in ("detail", "error", "message"):
        while isinstance(answer, dict) and name in answer:
            answer = answer[name]
    if not isinstance(answer, str):
        return ""
    return "".join(char for char in without_secrets(answer) if char.isprintable())[:_MAX_MESSAGE].rstrip(". ")
