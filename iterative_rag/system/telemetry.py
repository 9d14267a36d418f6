"""Switches off the usage reports of the libraries that the package loads.

onnxruntime 1.29 and later read their switch once, on import. So the package sets it before it imports anything else,
and child processes inherit it.
"""

from __future__ import annotations

import os
import sys


class _Switch:
    """An environment variable that stops a library's reports. `warning` is what is still to be logged about it.

    No dataclass: this is imported before all else, and `dataclasses` takes half as long to import as Python to start.
    """

    def __init__(self, library: str, variable: str, off: str, all_off: frozenset[str]) -> None:
        self.library, self.variable, self.off, self.all_off = library, variable, off, all_off
        self.warning = ""


_YES = frozenset({"1", "true", "yes", "on"})
_SWITCHES = (
    _Switch("onnxruntime", "ORT_DISABLE_TELEMETRY", "1", _YES),
    _Switch("huggingface_hub", "HF_HUB_DISABLE_TELEMETRY", "1", _YES),
    _Switch("ray", "RAY_USAGE_STATS_ENABLED", "0", frozenset({"0"})),
)


def switch_off() -> None:
    """Set the switches that the user has not set. Called when the package is imported."""
    for switch in _SWITCHES:
        given = os.environ.get(switch.variable, "").strip()
        if given.lower() in switch.all_off:
            continue
        if given:
            switch.warning = f"{switch.library} may report usage: {switch.variable}={given} is set."
            continue
        os.environ[switch.variable] = switch.off
        if switch.library in sys.modules:
            switch.warning = (
                f"{switch.library} was imported before iterative_rag and may report usage: "
                f"import iterative_rag first, or set {switch.variable}={switch.off}."
            )


def warn_if_on(library: str) -> None:
    """Log a warning, once, if the reports of `library` are not switched off. Called where it is loaded."""
    import logging

    for switch in _SWITCHES:
        if switch.library == library and switch.warning:
            logging.getLogger(__name__).warning(switch.warning)
            switch.warning = ""
