"""Small JSON files that only their owner may read or change: keys, trusted folders, hosts already announced."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iterative_rag.errors import SettingsError
from iterative_rag.system.files import readable, unwritable
from iterative_rag.system.private_files import private_folder


def read(path: Path) -> dict[str, Any]:
    """The object in the file; {} where there is none. Raises SettingsError."""
    try:
        with readable(path).open(encoding="utf-8") as file:
            open_to_others = os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:  # the file may be whole: it stays
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", hint=f"Look at it: ls -l '{path}'") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be read: {type(error).__name__}.", hint=f"rm '{path}'") from error
    if open_to_others:
        raise SettingsError(f"{path} is open to other users of this machine.", hint=f"chmod 600 '{path}'")
    if not isinstance(content, dict):
        raise SettingsError(f"{path} does not hold a JSON object.", hint=f"rm '{path}'")
    return content


def update(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Apply `change` to the object in the file and write it atomically. Raises CorpusError and SettingsError."""
    from filelock import FileLock

    try:
        private_folder(path.parent)
        with FileLock(path.with_name(f".{path.name}.lock"), mode=0o600):
            held = read(path)
            change(held)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600 from the start
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(held, file, indent=2, sort_keys=True)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise unwritable(path, error) from error
