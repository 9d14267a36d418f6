"""How large a model is: by its name, else by its server's own figures."""

from __future__ import annotations

import re
from typing import Any

from iterative_rag.remote.hosts import is_loopback, is_private
from iterative_rag.remote.model_spec import Spec
from iterative_rag.text.patterns import lazy_pattern

# Models below so many billion parameters are small; from the other on, they read better than the built-in reader.
SMALL, LARGE = 4.0, 14.0
_SIZE = lazy_pattern(r"(?<![\w.])(?:(\d+(?:\.\d+)?)b|(\d{3})m)(?![a-z])", re.IGNORECASE)
_SECONDS = 2.0


def billions(name: str, spec: Spec | None = None) -> float | None:
    """The billions of parameters that the name of a model tells, else the server of its spec; None where neither does:
    a server that cannot be asked leaves it open. Companies do not tell, so only Ollama and local servers are asked."""
    if told := _SIZE.search(spec.model if spec else name):
        return float(told[1]) if told[1] else float(told[2]) / 1000
    nearby = spec is not None and (is_loopback(spec.url) or is_private(spec.url))
    if spec is None or not (spec.kind == "ollama" or (spec.kind == "openai-like" and nearby)):
        return None
    import httpx

    from iterative_rag.remote.bounded_body import hooks
    from iterative_rag.remote.server_calls import ollama_url

    url = spec.url or ollama_url()
    try:
        with httpx.Client(timeout=_SECONDS, trust_env=not is_loopback(url), event_hooks=hooks(_SECONDS)) as client:
            if spec.kind == "ollama":
                shown = client.post(f"{url}/api/show", json={"model": spec.model}).raise_for_status().json()
                count = shown.get("model_info", {}).get("general.parameter_count")
                return float(count) / 1e9 if count else _billions(shown["details"]["parameter_size"])
            listed = client.get(f"{url}/models").raise_for_status().json()["data"]
            named = [entry for entry in listed if entry["id"] == spec.model] or listed
            return float(named[0]["meta"]["n_params"]) / 1e9
    except (httpx.HTTPError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _billions(size: Any) -> float:
    """`7.6B`, `494.03M`. Raises ValueError."""
    return float(str(size)[:-1]) * {"B": 1.0, "M": 1e-3}[str(size)[-1]]
