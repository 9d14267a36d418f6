"""Write a computation the way people do: "1912 − 1825 = 87"."""

from __future__ import annotations

import re

from iterative_rag.text.patterns import lazy_pattern

# A table in an expression may be long; its beginning is enough to recognise it.
MOST_SHOWN = 160
# What the result of a computation begins with where it is rounded: "≈ 267.2 miles".
ROUNDED = "≈ "
_MINUS = lazy_pattern(r"(?<=\s)-(?=\s)")


def shown(expression: str, result: str) -> str:
    """ "1912 − 1825 = 87", "430 km to miles ≈ 267.2 miles"; a comparison that holds stands alone: "1825 < 1912"."""
    written = _MINUS.sub("−", shortened(expression))
    if result in {"true", "false"}:
        return written if result == "true" else f"{written} is false"
    return f"{written} {result}" if result.startswith(ROUNDED) else f"{written} = {result}"


def shortened(expression: str) -> str:
    """An expression on one line, truncated if it is long."""
    line = " ".join(expression.split())
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]} …"


def found_in(text: str, expression: str, result: str) -> re.Match[str] | None:
    """Where a text already shows the computation, with any spacing and any dash as the minus sign."""
    parts = re.findall(r"[\w.,]+|\S", shown(expression, result))
    dashed = [r"[-−–]" if part in "-−–" else re.escape(part) for part in parts]
    spaced = r"\s*".join(dashed)
    return re.search(rf"(?<![\w.]){spaced}(?!\w|\.\d)", text)
