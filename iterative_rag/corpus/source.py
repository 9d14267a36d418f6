"""Choose the reader of a path."""

from __future__ import annotations

from pathlib import Path

from iterative_rag.corpus.jsonl import JsonLines
from iterative_rag.corpus.text_files import SUFFIXES, TextFiles
from iterative_rag.errors import CorpusError


def open_source(path: Path | str) -> TextFiles | JsonLines:
    """A folder or a text file, or JSON Lines by suffix. Raises CorpusError for anything else."""
    path = Path(path).expanduser()
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return JsonLines(path)
    if path.is_dir() or path.suffix.lower() in SUFFIXES or not path.exists():
        return TextFiles(path)
    raise CorpusError(
        f"{path} is neither a folder nor a {', '.join(SUFFIXES)}, .jsonl or .jsonl.gz file.",
        hint="Give a folder of .txt or .md files, or a .jsonl of {title, text}.",
    )
