"""Maps the errors of a Qdrant client to ours, with hints. No message can hold the key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from iterative_rag.errors import CorpusMismatch, StoreError, StoreMissing, StoreUnreachable
from iterative_rag.index.server.server_address import API_KEY, ServerAddress
from iterative_rag.remote.api_keys import find
from iterative_rag.remote.server_calls import without_secrets

_LONGEST_REASON = 200


@contextmanager
def server_errors(address: ServerAddress, collection: str) -> Iterator[None]:
    """Raises a StoreError or CorpusMismatch instead of the client's own errors."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except UnexpectedResponse as error:
        raise _refused(error.status_code or 0, _said(error.content), address, collection) from None
    except ResourceExhaustedResponse:
        raise _refused(429, "it is asked too much at the moment", address, collection) from None
    except ResponseHandlingException as error:
        reason = without_secrets(str(error.source))[:_LONGEST_REASON].rstrip(".")
        there = not type(error.source).__name__.startswith("Connect")
        raise StoreUnreachable(
            f"The Qdrant server at {address.url} {'broke off its reply' if there else 'cannot be reached'}: "
            f"{reason or type(error.source).__name__}.",
            hint="See the server's log."
            if there
            else "Start it, correct the address of --index, or ask the embedded index: --index local",
        ) from None
    except (ValueError, RecursionError) as error:  # no JSON, or not of the expected shape
        raise StoreError(
            f"What answers at {address.url} is not a Qdrant server of a supported version ({type(error).__name__}).",
            hint="Correct the address of --index: it is that of the REST interface, mostly port 6333.",
        ) from None
    except ApiException as error:
        raise StoreError(
            f"The Qdrant server at {address.url} failed: {without_secrets(str(error))[:_LONGEST_REASON]}.",
            hint="Check the server's log.",
        ) from None


def _refused(status: int, said: str, address: ServerAddress, collection: str) -> Exception:
    server = f"The Qdrant server at {address.url}"
    if status in (401, 403):
        key = find(address.url, "qdrant")
        hint = f"Set {API_KEY} to a key that it takes." if key.value else f"It wants a key: set {API_KEY}."
        if key.withheld:
            hint = f"{key.withheld} To send it: {key.hint}"
        return StoreError(f"{server} refuses the {'key' if key.value else 'call without a key'}.", hint=hint)
    if status == 404:
        return StoreMissing(
            f"{server} has no collection {collection!r}.",
            hint=f"Index a corpus there: iterative-rag index PATH --corpus NAME --index '{address.option}'",
        )
    if "dimension" in said.lower():
        return CorpusMismatch(
            f"The collection {collection!r} at {address.url} has vectors of other dimensions.",
            hint="Ask with the embedder that it was made with, or name another collection in --index.",
        )
    if status in (408, 429) or status >= 500:
        return StoreUnreachable(f"{server} answered {status}: {said}.", hint="Wait, or look into the server's log.")
    return StoreError(f"{server} answered {status}: {said}.", hint="Check the server's log.")


def _said(content: bytes) -> str:
    text = content.decode(errors="replace")
    with suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["status"]["error"])
    return without_secrets(text)[:_LONGEST_REASON].rstrip(".") or "nothing"
