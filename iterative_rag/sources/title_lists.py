"""The articles that were chosen from an encyclopedia in one file for a corpus, kept beside its index.

Without them, indexing the file again would add all its articles, or keep only those of the last list.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.system.files import readable, write_whole

FILE_NAME = "titles.json"


class TitleLists:
    """The lists of one corpus, by the root of their source; a source without a list is indexed whole."""

    def __init__(self, corpus_folder: Path) -> None:
        self._path = corpus_folder / FILE_NAME

    def of(self, root: str) -> tuple[str, ...] | None:
        """The chosen titles in the order of choosing; None if there is no list. Raises CorpusError."""
        titles = self._all().get(root)
        return None if titles is None else tuple(titles)

    def add(self, root: str, titles: Collection[str]) -> tuple[str, ...]:
        """Add titles to the list; returns the whole list."""
        chosen = tuple(dict.fromkeys([*(self.of(root) or ()), *titles]))
        self._write(self._all() | {root: list(chosen)})
        return chosen

    def forget(self, root: str) -> None:
        """Remove the list: the source is indexed whole from now on."""
        lists = self._all()
        if lists.pop(root, None) is not None:
            self._write(lists)

    def _all(self) -> dict[str, list[str]]:
        from pydantic import TypeAdapter

        try:
            return TypeAdapter(dict[str, list[str]]).validate_json(readable(self._path).read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise CorpusError(
                f"The lists of chosen articles in {self._path} cannot be read ({type(error).__name__}).",
                hint="Remove the file, and add the articles again with --titles.",
            ) from error

    def _write(self, lists: dict[str, list[str]]) -> None:
        write_whole(self._path, json.dumps(lists, ensure_ascii=False).encode())
