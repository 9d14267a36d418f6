"""Regular expressions that are compiled, and tables of words that are read, on first use.

The package has hundreds of them, and one command uses only some: compiling all of them on import took a tenth of the
time of a repeated question.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast


@cache
def table_beside(module: str, name: str) -> Mapping[str, Any]:
    """The TOML file of this name in the folder of a module, which gives its `__file__`."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(pattern, flags)`, deferred until one of its methods is called, which then also raises re.error."""
    return cast(re.Pattern[str], _LazyPattern(pattern, flags))


class _LazyPattern:
    """Compiles on first use and binds the compiled methods to the instance, so that later calls go straight to them."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __repr__(self) -> str:
        return f"lazy_pattern({self.pattern!r})"

    def __getattr__(self, name: str) -> Any:
        held = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, held)
        return held


# A word of any script, without digits; and a digit, without which a text has no date and no amount.
LETTERS, DIGIT = lazy_pattern(r"[^\W\d_]+"), lazy_pattern(r"\d")
