"""Draws docs/terminal.svg, the picture in the README, from what the command prints on a real terminal.

    python -m scripts.make_terminal_picture [--check]

With `--check` it draws nothing, and fails where the picture shows another answer than the command gives. Everything
runs as a user would run it, with an empty data folder and the built-in backend.
"""

from __future__ import annotations

import fcntl
import html
import io
import os
import pty
import re
import shlex
import struct
import sys
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "terminal.svg"
COLUMNS = 96
QUESTION = "Who was the mother of the 15th first lady of the United States?"
# Without the web fonts of rich's own format: a page that shows the picture loads nothing.
FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" xml:space="preserve">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; white-space: pre; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "ITERATIVE_RAG_HOME": folder,
            "ITERATIVE_RAG_LLM": "builtin",
            "TERM": "xterm-256color",
            "COLUMNS": str(COLUMNS),
        }
        on_terminal(["index", "input_wikipedia", "--corpus", "starter"], environment)
        lines = [Text.from_ansi(line) for line in last_states(on_terminal(["ask", QUESTION], environment))]
    if sys.argv[1:] == ["--check"]:
        told, drawn = answer_in([line.plain for line in lines]), answer_in(drawn_lines())
        if told != drawn:
            raise SystemExit("\n".join(["The picture shows another answer:", *drawn, "", "The command prints:", *told]))
        return 0
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.assemble(("$ ", "bold green"), f'iterative-rag ask "{QUESTION}"'), highlight=False)
    for line in lines:
        console.print(line, highlight=False)
    TARGET.write_text(
        console.export_svg(title="iterative_rag", theme=MONOKAI, code_format=FORMAT, unique_id="terminal"),
        encoding="utf-8",
    )
    return 0


def on_terminal(arguments: list[str], environment: dict[str, str]) -> str:
    """What the command writes to a terminal, with its escape sequences."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(ROOT)
        os.execvpe(sys.executable, [sys.executable, "-m", "iterative_rag", *arguments], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    printed = bytearray()
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the terminal is gone with its process
            break
        if not part:
            break
        printed += part
    _, status = os.waitpid(process, 0)
    if status:
        raise SystemExit(f"{shlex.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}:\n{printed.decode()}")
    return printed.decode()


def last_states(printed: str) -> list[str]:
    """The lines as they stand at the end: of a line that is drawn again and again, what came last."""
    kept = re.sub(r"[^\n]*\n(?:\x1b\[\?25h)?\r?\x1b\[1A\x1b\[2K", "", printed.replace("\r\n", "\n"))  # erased lines
    lines = [line.rpartition("\x1b[2K")[2] for line in kept.split("\n")]
    return [re.sub(r"\x1b\[\?25[lh]", "", line).rstrip() for line in lines]


def drawn_lines() -> list[str]:
    """The lines of the picture: its texts of the same height."""
    lines: dict[str, str] = {}
    for y, text in re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', TARGET.read_text(encoding="utf-8"), re.S):
        lines[y] = lines.get(y, "") + html.unescape(text).replace("\xa0", " ")
    return list(lines.values())


def answer_in(lines: Sequence[str]) -> list[str]:
    """What is printed from the answer on, without the last line: each run counts its seconds, and has its own name."""
    told = [" ".join(line.split()) for line in lines if line.strip()]
    begin = next((n for n, line in enumerate(told) if line.startswith("The mother of")), 0)
    return told[begin:-1]


if __name__ == "__main__":
    raise SystemExit(main())
