"""Switches off the usage reports of the libraries that the package loads.

onnxruntime 1.29 and later read their switch once, on import. So the package sets it before it imports anything else,
and child processes inherit it.
"""

from __future__ import annotations

import os
import sys

# The variable of each library, and the values that stop its reports; the first is set.
_SWITCHES = {
    "onnxruntime": ("ORT_DISABLE_TELEMETRY", ("1", "true", "yes", "on")),
    "huggingface_hub": ("HF_HUB_DISABLE_TELEMETRY", ("1", "true", "yes", "on")),
    "ray": ("RAY_USAGE_STATS_ENABLED", ("0",)),
}
_warnings: dict[str, str] = {}


def switch_off() -> None:
    """Set the switches that the user has not set. Called when the package is imported."""
    for library, (variable, off) in _SWITCHES.items():
        given = os.environ.get(variable, "").strip()
        if not given:
            os.environ[variable] = off[0]
            why = "it was imported before iterative_rag" if library in sys.modules else ""
        else:
            why = "" if given.lower() in off else f"{variable}={given} is set"
        if why:
            _warnings[library] = f"{library} may report usage: {why}."


def warn_if_on(library: str) -> None:
    """Log a warning, once, if the reports of `library` are not switched off. Called where it is loaded."""
    import logging

    if warning := _warnings.pop(library, ""):
        logging.getLogger(__name__).warning(warning)
