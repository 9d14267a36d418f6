"""Errors in the form of the protocol: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

from iterative_rag.errors import CorpusNotFound, IterativeRAGError, NothingWithin, ServerBusy, UsageError
from iterative_rag.serve.api.responses import status_of
from iterative_rag.serve.runs.events import error_to_json

# Seconds after which a client whose run was not taken may try again.
RETRY_AFTER = "5"


class RequestRefused(UsageError):
    """A parameter that is wrong, or that is not supported here. `code` is the protocol's."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.param, self.code = param, code


class ModelUnknown(RequestRefused):
    """The model of a request does not exist."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"The model {model!r:.200} does not exist.",
            param="model",
            code="model_not_found",
            hint="The list of models names them.",
        )


def error_body(error: IterativeRAGError) -> dict[str, Any]:
    """What the protocol says of an error; it names no path, no server and no key of this machine."""
    told = error_to_json(error)
    message = " ".join(filter(None, (told["message"], told["hint"])))
    param, code = (error.param, error.code) if isinstance(error, RequestRefused) else (None, None)
    match error:
        case ServerBusy():
            kind, code = "rate_limit_error", "rate_limit_exceeded"
        case UsageError() | CorpusNotFound() | NothingWithin():
            kind = "invalid_request_error"
        case _:
            kind, code = "api_error", told["code"]
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def refusal_response(error: IterativeRAGError) -> Response:
    status = 404 if isinstance(error, ModelUnknown) else status_of(error)
    return JSONResponse(error_body(error), status, {"retry-after": RETRY_AFTER} if status == 429 else None)
