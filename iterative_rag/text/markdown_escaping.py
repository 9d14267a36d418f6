"""Text of documents and models as Markdown that shows it as it is, and makes nothing of it."""

from __future__ import annotations

from iterative_rag.text.patterns import lazy_pattern

_MARKUP = lazy_pattern(r"([\\`*_{}\[\]<>#|~$!])")
# Where a line begins so, Markdown sees a list, a heading or a rule.
_LINE_START = lazy_pattern(r"^(\d+)([.)])(?=\s)|^([-+=])")


def escaped_markdown(line: str) -> str:
    """One line of text, with whatever Markdown would take for markup escaped."""
    escaped = _MARKUP.sub(r"\\\1", line).replace("&", "&amp;")
    return _LINE_START.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", escaped)
