"""Searches the likeliest spans of a passage in the logits of a reader's start and end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

# Number of the likeliest first tokens from which spans are searched.
_STARTS: Final = 24


def likeliest(start: Floats, end: Floats, longest: int) -> list[tuple[float, int, int]]:
    """The best spans as (probability, first token, last token), best first.

    `start` and `end` are logits of shape (tokens,). A span's probability is the product of both, normalized over all
    spans of at most `longest` tokens.
    """
    import numpy as np

    first, last = np.exp(start - start.max()), np.exp(end - end.max())
    summed = np.concatenate([[0.0], np.cumsum(last, dtype=np.float64)])
    places = np.arange(len(first))
    total = float(first @ (summed[np.minimum(places + longest, len(first))] - summed[places]))
    found: list[tuple[float, int, int]] = []
    for place in np.argsort(-first, kind="stable")[:_STARTS]:
        reach = last[place : place + longest]
        for step in np.argsort(-reach, kind="stable")[:4]:
            found.append((float(first[place] * reach[step] / max(total, 1e-30)), int(place), int(place + step)))
    return sorted(found, key=lambda item: (-item[0], item[1], item[2]))


def log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))
