"""Which addresses may be shown as links."""

from __future__ import annotations

import re

_LINK = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)


def web_link(url: str | None) -> str:
    """The address if it may be shown as a link: http or https, of visible characters only; else ""."""
    return url if url and _LINK.fullmatch(url) and url.isprintable() else ""
