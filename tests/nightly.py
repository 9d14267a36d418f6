"""Long tables of cases, of which CI plays a slice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sliced(cases: Iterable[Any], every: int) -> list[Any]:
    """Each n-th case is always played, the others with `--nightly` only. Cases are tuples of arguments, or one each."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.nightly] if at % every else [])
        for at, case in enumerate(cases)
    ]
