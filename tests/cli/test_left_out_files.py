"""Without the extra `files`, indexing says at its end which files it left out and what would read them."""

from __future__ import annotations

from pathlib import Path

from fakes.command_line import Command, TerminalCommand
from iterative_rag.errors.installation import install_command

_HIDE = """
import importlib.util
find = importlib.util.find_spec
hidden = {"pypdfium2", "lxml", "selectolax", "html_to_markdown"}
importlib.util.find_spec = lambda name, package=None: None if name in hidden else find(name, package)
"""


def test_files_of_a_missing_extra_are_counted_at_the_end(
    shell: Command, on_a_terminal: TerminalCommand, articles: Path, tmp_path: Path
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "sitecustomize.py").write_text(_HIDE)
    for name in ("a.html", "b.htm", "c.pdf", "d.pdf", "e.docx"):
        (articles / name).write_text("<p>Some text</p>")
    done = shell("index", "articles", "--corpus", "mine", PYTHONPATH=str(packages))
    assert done.code == 0
    assert "2 added" in done.out
    *_, left_out, told, command = done.err.splitlines()
    assert left_out == "Left out: 2 .pdf, 1 .html, 1 .htm, 1 .docx (a.html, b.htm, c.pdf, …)."
    assert told == "To read them, type this and then the same command again:"
    assert command == f"  {install_command('files')}"
    assert done.err.count(install_command("files")) == 1
    # A line break in it would be copied with it.
    narrow = on_a_terminal(["index", "articles", "--corpus", "mine"], columns=24, PYTHONPATH=str(packages))
    assert f"\r\n  {install_command('files')}\r\n" in narrow


def test_files_that_can_be_read_are_not_mentioned(run: Command, articles: Path) -> None:
    done = run("index", "articles", "--corpus", "mine")
    assert "Left out" not in done.err
