"""The examples of docs/extending.md work, each put into the package as one file and one line, and used from outside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import iterative_rag
from fakes.search_engine_server import answering, json_reply
from iterative_rag import registry
from iterative_rag.registry import TABLES

PACKAGE = Path(iterative_rag.__file__).parent
PAGE = PACKAGE.parent / "docs" / "extending.md"
REPLY = {"status": "answered", "answer": "The port is 8443 [1].", "short_answer": "8443", "confidence": 0.9}
QUESTION = "Which port does the harbour service use?"


@dataclass(frozen=True)
class Example:
    """`file` is relative to the package; `line` goes into `table` of the registry."""

    file: str
    code: str
    table: str
    line: str


def examples() -> list[Example]:
    """The pairs of blocks of the page: a file, and its line of the registry."""
    blocks = re.findall(
        r"^```python\n# iterative_rag/(\S+?\.py)(?:, in (\w+))?\n(.*?)^```$", PAGE.read_text(), re.M | re.S
    )
    files, lines = blocks[::2], blocks[1::2]
    assert all(name == "registry.py" for name, _, _ in lines)
    return [Example(file, code, table, line) for (file, _, code), (_, table, line) in zip(files, lines, strict=True)]


def copied_with_examples(folder: Path) -> Path:
    """A copy of the package with the examples in it: links to all files but the registry and the new ones."""
    package = folder / "iterative_rag"
    package.mkdir()
    for child in PACKAGE.iterdir():
        if child.name not in ("registry.py", "__pycache__"):
            (package / child.name).symlink_to(child)
    text = (PACKAGE / "registry.py").read_text(encoding="utf-8")
    for one in examples():
        _own_folders(package, Path(one.file).parent)
        (package / one.file).write_text(one.code, encoding="utf-8")
        table = re.search(rf"(?ms)^{one.table} = Registry\(.*?(?=^\)$)", text)
        assert table, one.table
        text = f"{text[: table.end()]}    {one.line.strip()},\n{text[table.end() :]}"
    (package / "registry.py").write_text(text, encoding="utf-8")
    return folder


def _own_folders(package: Path, relative: Path) -> None:
    """Make these folders real ones, with links to what is in them, so that a file can be added."""
    for depth in range(len(relative.parts)):
        folder = package.joinpath(*relative.parts[: depth + 1])
        if folder.is_symlink():
            original = folder.resolve()
            folder.unlink()
            folder.mkdir()
            for child in original.iterdir():
                if child.name != "__pycache__":
                    (folder / child.name).symlink_to(child)


class Extended:
    """The command line of the extended package, with a corpus that only the examples can read and search."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "package").mkdir()
        self._package = copied_with_examples(folder / "package")
        self._index = f"disk://{folder}/vectors"
        articles = folder / "articles"
        articles.mkdir()
        (articles / "harbour.ini").write_text("[server]\nport = 8443\nowner = Orla Venn\n", encoding="utf-8")
        (articles / "broken.ini").write_text("port = 1\n", encoding="utf-8")
        (articles / "Tarn.md").write_text(
            "# Tarn\n\nTarn lies on the river Mell. It has a harbour.\n", encoding="utf-8"
        )

    def run(self, *arguments: str, code: int = 0, **settings: str) -> str:
        """Standard output and error of a command that ends with this code."""
        variables = {f"ITERATIVE_RAG_{name.upper()}": value for name, value in settings.items()}
        done = subprocess.run(
            [sys.executable, "-m", "iterative_rag", *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(self._package),
                "ITERATIVE_RAG_HOME": str(self.folder / "home"),
                "ITERATIVE_RAG_EMBEDDER": "trigrams",
                "ITERATIVE_RAG_INDEX": self._index,
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Extended:
    with_examples = Extended(tmp_path_factory.mktemp("extending"))
    shown = with_examples.run("index", "articles", "--corpus", "default")
    assert "It is not an INI file: MissingSectionHeaderError." in shown
    return with_examples


def test_there_is_an_example_of_each_kind() -> None:
    tables = [getattr(registry, one.table) for one in examples()]
    assert sorted(map(TABLES.index, tables)) == list(range(len(TABLES)))


def test_the_file_format_the_embedder_the_store_and_the_reranker(extended: Extended) -> None:
    (found,) = json.loads(extended.run("search", "Orla Venn", "--limit", "1", "--json", rerank="overlap"))
    assert (found["title"], found["reader_rank"]) == ("harbour", 1)
    assert list((extended.folder / "vectors" / "default").iterdir())


def test_the_strategy(extended: Extended) -> None:
    asked = ("ask", "On which river does Tarn lie?", "--llm", "builtin", "--strategy", "wide", "--json", "--quiet")
    answer = json.loads(extended.run(*asked))
    assert "Mell" in answer["short_answer"]
    assert answer["settings"]["strategy"] == "wide"


def test_the_llm_provider(extended: Extended) -> None:
    reply = {"content": json.dumps(REPLY), "tokens_evaluated": 90, "tokens_predicted": 20}
    with answering(json_reply({}, status=503, Retry_After="0"), json_reply(reply)) as server:
        asked = ("ask", QUESTION, "--strategy", "naive", "--llm", f"llama-cpp/qwen@{server.url}", "--json", "--quiet")
        answer = json.loads(extended.run(*asked))
    assert (answer["short_answer"], answer["usage"]["prompt_tokens"]) == ("8443", 90)
    assert [one.path for one in server.asked] == ["/completion", "/completion"]
    assert "port: 8443" in server.asked[0].body["prompt"]
    with answering(json_reply({}, status=401)) as server:
        refused = extended.run("ask", QUESTION, "--no-cache", "--llm", f"llama-cpp/qwen@{server.url}", code=5)
    assert "llama-cpp at http://127.0.0.1" in refused
    assert "iterative-rag keys set 127.0.0.1" in refused


def test_the_search_engine(extended: Extended) -> None:
    """Asked only with --web; its page lies on this machine, where no page is fetched from."""
    hits = {"hits": [{"title": "Harbours", "url": "http://127.0.0.1:9/harbours", "summary": "Ports."}]}
    question = ("ask", "Who built the lighthouse of Tarn?", "--llm", "builtin", "--strategy", "crag")
    with answering(json_reply(hits)) as server:
        extended.run(*question, "--web", "--search-engine", f"library@{server.url}", code=3)
        assert "lighthouse" in server.asked[0].query["q"]
