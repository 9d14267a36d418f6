"""Writes the drawings of docs/strategies.md from the code of the strategies.

python -m scripts.make_strategy_drawings            # writes them
python -m scripts.make_strategy_drawings --check    # exit 1 if they are out of date; writes nothing
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fakes.strategy_drawing import mermaid
from iterative_rag.registry import STRATEGIES

TARGET = Path(__file__).resolve().parent.parent / "docs" / "strategies.md"
COMMAND = "python -m scripts.make_strategy_drawings"
BEGIN = f"<!-- Made by `{COMMAND}` from the code of the strategies. Change that, then run it again. -->\n"
END = "<!-- End of the drawings. -->\n"


def drawings() -> str:
    """One section for each strategy that settings offer."""
    parts = [f"### `{name}`\n\n```mermaid\n{mermaid(name)}\n```\n" for name in STRATEGIES.offered]
    return "\n".join(parts)


def with_drawings(page: str) -> str:
    """The page with the drawings of now between its two marks. Raises ValueError if a mark is missing."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{TARGET.name} lacks the marks of the drawings.")
    return f"{before}{BEGIN}\n{drawings()}\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the drawings of docs/strategies.md.")
    parser.add_argument("--check", action="store_true", help="only say whether the drawings are up to date")
    check = parser.parse_args().check
    page = TARGET.read_text(encoding="utf-8")
    made = with_drawings(page)
    if not check:
        TARGET.write_text(made, encoding="utf-8")
    elif made != page:
        print(f"The drawings of docs/strategies.md are out of date. Run: {COMMAND}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
