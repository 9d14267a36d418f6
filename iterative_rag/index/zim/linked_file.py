"""The ZIM files that were asked: a corpus whose folder holds nothing but where the file is, so that every door knows it
by its name."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

from iterative_rag.errors import CorpusNotFound, UsageError
from iterative_rag.index.corpus_names import encoded
from iterative_rag.sources.formats.format import shown
from iterative_rag.system.files import unwritable
from iterative_rag.system.private_files import open_private, private_folder

_LINK = "zim-file"
_SUFFIX = ".zim"
_DUMPS = (".xml", ".xml.bz2", ".xml.gz", ".xml.xz", ".xml.7z")


def linked_file(folder: Path) -> Path | None:
    """The ZIM file that the folder of a corpus leads to; None for a corpus that was indexed."""
    with suppress(FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return Path((folder / _LINK).read_text(encoding="utf-8"))
    return None


def known_name(root: Path, asked: str) -> str:
    """The name of a corpus: `asked` itself, or that of the ZIM file at this path, which is known by it from now on.

    Raises CorpusNotFound for a dump or a missing file, and UsageError where its name cannot be that of a corpus or is
    that of another file.
    """
    try:
        path = Path(asked).expanduser().absolute()
    except RuntimeError:  # "~name" of nobody
        path = Path(asked).absolute()
    if asked.lower().endswith(_DUMPS) and path.is_file():
        command = f"iterative-rag index {shlex.quote(asked)} --corpus {shlex.quote(path.name.partition('.')[0])}"
        raise CorpusNotFound(
            f"{asked} has no index to search.",
            hint=f"Index it: {command}. Or take the same wiki as a ZIM file (library.kiwix.org).",
        )
    if not asked.lower().endswith(_SUFFIX):
        return asked
    if not path.is_file():
        if Path(asked).name == asked and (root / encoded(asked)).exists():
            return asked
        raise CorpusNotFound(f"There is no file {asked}.", hint="Check the path. Known files: iterative-rag corpus")
    folder = root / encoded(path.name)
    other = linked_file(folder)
    if other not in (None, path) and other.is_file() and not other.samefile(path):
        raise UsageError(
            f"{path.name} is known as another file, {other}.",
            hint=f"Give one of them another name, or forget the other: iterative-rag corpus remove {path.name} --yes",
        )
    if other != path and not any(folder.glob("*.sqlite")):
        try:
            private_folder(root)
            private_folder(folder)
            with open_private(folder / f"{_LINK}.new") as file:
                file.write(shown(path))
            (folder / f"{_LINK}.new").replace(folder / _LINK)
        except OSError as error:
            raise unwritable(folder, error) from error
    return path.name


def only_read(name: str) -> UsageError:
    return UsageError(
        f"{name} is a ZIM file, to which nothing is added.",
        hint=f"Index into another corpus, and ask both: --corpus {name},NAME",
    )
