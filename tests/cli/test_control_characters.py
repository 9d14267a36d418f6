"""No control character of a document, a reply, a file name or an argument reaches a terminal; JSON escapes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command, TerminalCommand
from fakes.model_server import FakeServer
from fakes.two_article_corpus import QUESTION
from iterative_rag.text.folding import readable
from tests.cli.conftest import played

# One of each kind: C0, DEL, C1, direction, zero width, line separators, tags, annotations, soft hyphen, fillers.
NASTY = (
    "\x01\x07\x08\x0b\x0c\x1b[2J\x1b]0;title\x07\x1f\x7f\x80\x85\x9b31m\u200e\u200f\u061c\u202a\u202e\u2066\u2069"
    "\u200b\u200c\u200d\u2060\ufeff\u2028\u2029\u206a\ufff9\u00ad\u034f\u3164\U000e0041\U000e007f\U000e0100"
)
# What the command itself writes to a terminal: colours, cursor movements and carriage returns.
STYLING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def reply(body: Mapping[str, Any]) -> str:
    """The script of the towns, with control characters in all that the model says."""
    said = json.loads(played(body))
    for fact in said.get("facts", []):
        fact["statement"] += NASTY
    for name in ("answer", "short_answer"):
        if name in said:
            said[name] += "\x9b\u202e"
    return json.dumps(said)


@pytest.fixture
def indexed(run: Command, tmp_path: Path) -> None:
    texts = {
        f"Sunday bridge{NASTY}": "The Sunday bridge is a stone bridge in Aldermere.",
        f"Aldermere{NASTY}": f"# Heading{NASTY}\n\nAldermere is a market town.{NASTY} Its mayor is Edda Holm.",
    }
    rows = [json.dumps({"title": title, "text": text, "url": f"x{NASTY}"}) for title, text in texts.items()]
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a\x1b[2J\x9b\u202e.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "pages" / "b\x1b[2J\x9b\u202e\n.pdf").write_bytes(b"no PDF")
    done = run("index", "pages")
    assert done.code == 0, done.err


@pytest.fixture
def nasty(ollama: FakeServer) -> None:
    ollama.reply = reply


def assert_safe(written: str) -> None:
    assert written.strip()
    assert "\x1b[2J" not in written
    assert not UNSAFE.findall(STYLING.sub("", written))


def test_nothing_unsafe_reaches_a_terminal(
    on_a_terminal: TerminalCommand, indexed: None, nasty: None, tmp_path: Path
) -> None:
    def show(*arguments: str) -> str:
        written: str = on_a_terminal(list(arguments))
        assert_safe(written)
        return written

    ask = ("ask", QUESTION, "--llm", "ollama/tiny:8b")
    assert "Edda Holm" in show(*ask, "--json", "--trace", "/dev/stdout")
    assert "Edda Holm" in show("trace", "--calls")
    assert "Edda Holm" in show("history")
    assert "Edda Holm" in show("history", "show", "last")
    assert "skipped" in show("index", "pages")
    show("search", f"mayor of Aldermere{NASTY}")
    show("show", f"Aldermere{NASTY}")


@pytest.mark.parametrize(
    "arguments", [["ask", "Who is it?", "--max-hops", f"x{NASTY}"], ["--debug", "index", f"nowhere{NASTY}"]]
)
def test_arguments_come_back_without_control_characters(on_a_terminal: TerminalCommand, arguments: list[str]) -> None:
    assert_safe(on_a_terminal(arguments))


def test_json_in_a_pipe_is_escaped_and_reads_back(shell: Command, run: Command, indexed: None, nasty: None) -> None:
    done = shell("ask", QUESTION, "--llm", "ollama/tiny:8b", "--json", "--trace", "run.jsonl")
    made = json.loads(done.out)
    assert made["short_answer"] == "Edda Holm\x9b\u202e"
    quotes = {citation["quote"] for citation in made["citations"]}
    assert f"Aldermere is a market town.{readable(NASTY)} Its mayor is Edda Holm." in quotes
    for text in (done.out, run("trace", "--json").out, Path("run.jsonl").read_text(encoding="utf-8")):
        assert not UNSAFE.findall(text)
        assert "\\u202e" in text
    documents = run("show", f"Aldermere{NASTY}").out
    assert readable(NASTY) in documents, "a document goes into a pipe as it is indexed"
