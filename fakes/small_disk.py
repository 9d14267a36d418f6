"""A small file system of its own that can be filled to the last byte, mounted (needs root)."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_FILLER = "filler"


class CannotMount(Exception):
    """Why there can be no small disk here."""


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int, kind: str = "ext4") -> Iterator[Path]:
    """An empty disk, mounted below `folder`: an image with ext4, or tmpfs. Raises CannotMount."""
    image, place = folder / "disk.img", folder / "disk"
    place.mkdir()
    if kind == "tmpfs":
        _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place))
    else:
        with image.open("wb") as file:
            file.truncate(megabytes * 1024 * 1024)
        _run("mkfs.ext4", "-q", "-b", "4096", "-m", "0", str(image))
        _run("mount", "-o", "loop", str(image), str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
        image.unlink(missing_ok=True)


def fill(disk: Path, leave_megabytes: int = 0) -> None:
    """Take all that is free, or all but so much."""
    spare = disk / "spare"
    if leave_megabytes:
        spare.write_bytes(bytes(leave_megabytes * 1024 * 1024))
    for size in (1024 * 1024, 4096, 1):
        with contextlib.suppress(OSError), (disk / f"{_FILLER}{size}").open("wb", buffering=0) as file:
            while file.write(bytes(size)) == size:
                pass
    spare.unlink(missing_ok=True)


def make_room(disk: Path) -> None:
    for filler in disk.glob(f"{_FILLER}*"):
        filler.unlink()


def _run(*command: str) -> None:
    if shutil.which(command[0]) is None:
        raise CannotMount(f"there is no {command[0]}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotMount(" ".join(done.stderr.split()) or f"{command[0]} failed")
