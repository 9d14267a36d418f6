"""Documents by their titles."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from iterative_rag.errors import CorpusError
from iterative_rag.types.documents import as_field


def ids_of_title(corpus: str, title: str, titles: Sequence[tuple[str, str]]) -> list[str]:
    """The ids of that title, of (id, title): case, underscores and what nobody sees aside. Raises CorpusError, which
    names the nearest."""
    found = [document_id for document_id, known in titles if _plain(known) == _plain(title)]
    if not found:
        by_plain = {_plain(known): known for _, known in titles}
        near = difflib.get_close_matches(_plain(title), by_plain, n=3, cutoff=0.5)
        near += [plain for plain in by_plain if _plain(title) in plain and plain not in near][: 5 - len(near)]
        names = ", ".join(repr(by_plain[plain]) for plain in near)
        raise CorpusError(
            f"The corpus {corpus!r} has no document titled {title!r}.",
            hint=f"Did you mean {names}?" if names else "Search for it: iterative-rag search WORDS",
        )
    return found


def _plain(title: str) -> str:
    return " ".join(as_field(title).replace("_", " ").split()).casefold()
