"""Coverage as one line for each folder of the package: statements, those that no test ran, and the share that ran.

    python -m coverage json -q -o - | python -m scripts.coverage_by_folder

`scripts/test --cov` calls it. Files at the top of the package are counted together.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import PurePosixPath
from typing import Any

PACKAGE = "iterative_rag"


def by_folder(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Statements and missed statements of each folder, from a JSON report of coverage.py."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in report["files"].items():
        parts = PurePosixPath(name.replace("\\", "/")).parts
        inside = parts[parts.index(PACKAGE) + 1 :]
        folder = counts[f"{inside[0]}/" if len(inside) > 1 else "(top level)"]
        folder[0] += file["summary"]["num_statements"]
        folder[1] += file["summary"]["missing_lines"]
    return {folder: (statements, missed) for folder, (statements, missed) in sorted(counts.items())}


def line(name: str, statements: int, missed: int) -> str:
    covered = 100 * (statements - missed) / statements if statements else 100.0
    return f"{name:<20}{statements:>11,}{missed:>9,}{covered:>9.1f} %"


def main() -> None:
    folders = by_folder(json.load(sys.stdin))
    print(f"\n{'folder':<20}{'statements':>11}{'missed':>9}{'covered':>11}")
    for folder, counts in folders.items():
        print(line(folder, *counts))
    print(line("total", *(sum(column) for column in zip(*folders.values(), strict=True))))


if __name__ == "__main__":
    main()
