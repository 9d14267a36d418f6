"""Sealing an index: its points packed into one segment that is quick to open and to search.

In a process of its own, since Edge holds the GIL meanwhile: `python -m iterative_rag.index.sealing`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.index.sqlite_errors import index_disk_full

# From so many points on a graph finds the nearest vectors; below, all of them are compared by their quantised form. At
# this number it halves the time of a query, for nineteen times that of sealing (docs/scale.md).
GRAPH_POINTS = 500_000


def seal(folder: Path, dimensions: int, *, graph: bool) -> None:
    """Seal the shard in `folder`. Raises CorpusError; the shard is then unusable."""
    # -P, and no empty or relative entry in PYTHONPATH: nothing is imported from the working folder, which is
    # untrusted.
    command = [sys.executable, "-P", "-m", __name__, str(folder), str(dimensions), str(int(graph))]
    entries = [str(Path(__file__).parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, entries))}
    child = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if child.returncode == 0:
        return
    said = child.stderr.strip().splitlines()[-1:] or [f"the process ended with {child.returncode}"]
    if any(mark in said[0].lower() for mark in ("no space left", "os error 28", "disk quota", "is full")):
        raise index_disk_full(folder)
    raise CorpusError(
        f"The index at {folder} cannot be packed: {said[0][:300]}.", hint="Check the free memory and the system log."
    )


if __name__ == "__main__":
    from iterative_rag.index.edge_store import pack

    pack(Path(sys.argv[1]), int(sys.argv[2]), graph=sys.argv[3] == "1")
