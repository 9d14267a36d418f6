"""A system that refuses calls: a library to preload, built of system_faults.c, and the faults that it is asked for."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).with_name("system_faults.c")


class CannotBuild(Exception):
    """Why there is no such library here."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What fails with which error: `kinds` are the letters of system_faults.c; it `lasts` or strikes once."""

    code: int
    kinds: str
    lasts: bool = True

    def environment(self, library: Path, under: Path, at: int) -> dict[str, str]:
        """That of a process whose call number `at` about files below `under` is the first to fail."""
        faults = {"ERRNO": self.code, "KINDS": self.kinds, "LASTS": int(self.lasts), "AT": at, "UNDER": f"{under}/"}
        return {"LD_PRELOAD": str(library), **{f"FAULTS_{name}": str(value) for name, value in faults.items()}}


REFUSALS: Mapping[str, Refusal] = {
    "EAGAIN thread": Refusal(errno.EAGAIN, "t"),
    "EAGAIN fork": Refusal(errno.EAGAIN, "f"),
    "EAGAIN file": Refusal(errno.EAGAIN, "rws", lasts=False),
    "ENOMEM": Refusal(errno.ENOMEM, "mo"),
    "ENOMEM once": Refusal(errno.ENOMEM, "mo", lasts=False),
    "EMFILE": Refusal(errno.EMFILE, "o"),
    "EMFILE once": Refusal(errno.EMFILE, "o", lasts=False),
    "EIO": Refusal(errno.EIO, "rws"),
    "EIO once": Refusal(errno.EIO, "rwsn", lasts=False),
    "EROFS": Refusal(errno.EROFS, "own"),
    "ENOSPC": Refusal(errno.ENOSPC, "wsn"),
    "ENOSPC once": Refusal(errno.ENOSPC, "w", lasts=False),
    "clock": Refusal(0, "orwsnmtc"),  # before 1970 from then on
}


def built(folder: Path) -> Path:
    """The library. Raises CannotBuild."""
    if sys.platform != "linux" or shutil.which("gcc") is None:
        raise CannotBuild("the faults are a library for Linux, which gcc builds")
    library = folder / "system_faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl", "-lpthread"], check=True)
    return library
