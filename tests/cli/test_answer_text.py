"""How an answer reads: a sentence, the way to it, quotes without markup, whole words and units."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.model_server import FakeServer
from fakes.readme_question import ARTICLES, QUESTION, SCRIPT
from fakes.readme_question import SHORT_ANSWER as ANSWER
from fakes.script_mind import ScriptMind
from fakes.two_article_corpus import index_articles
from iterative_rag.app.factory import starter_corpus_path
from tests.cli.conftest import written

TOWN = """Aldermere is a market town on the Lorn. The mayor of Aldermere is Ines Korr, who was elected in 1990.

The **Velm Tower** in Aldermere is 661 ft (201 m) tall and was designed by **Oda Brenk**."""
TEXTS = {
    "Aldermere": TOWN,
    "Sunday bridge": "The Sunday bridge is a stone bridge in Aldermere. It is old.",
    "Oda Brenk": "| | |\n|---|---|\n| Born | 3 March 1874 |\n| Mother | **Tilda Brenk** |",
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("towns")
    written(base / "articles", {f"{title}.md": f"# {title}\n\n{text}\n" for title, text in TEXTS.items()})
    return index_articles(base)


@pytest.fixture
def ask(run: Command, indexed: Path, tmp_path: Path) -> Command:
    shutil.copytree(indexed, tmp_path / "home")
    return lambda question, *options: run("ask", question, "--llm", "builtin", *options)


def test_a_sentence_then_the_chain_then_quotes_without_markup(ask: Command, run: Command) -> None:
    done = ask("Who is the mother of the designer of the Velm Tower?")
    text = done.out.removeprefix("Weak guess: ").splitlines()  # as it is trusted
    assert text[:4] == [
        "The mother of the designer of the Velm Tower is Tilda Brenk [2].",
        "  designer of the Velm Tower → Oda Brenk [1]",
        "  mother of Oda Brenk → Tilda Brenk [2]",
        "",
    ]
    assert "    “Mother: Tilda Brenk”" in text
    assert len(set(filter(None, text))) == len(list(filter(None, text)))
    assert not {"**", "|"} & set(done.out.split())
    question, _, answer = run("history", "show", "last").out.partition("\n")
    assert question == "> Who is the mother of the designer of the Velm Tower?"
    assert answer.lstrip("\n") == done.out
    assert run("trace", "last").out.count("\n  mother of Oda Brenk → Tilda Brenk [2]\n") == 1
    page = run("history", "show", "last", "--format", "html").out
    assert "<p>The mother of the designer of the Velm Tower is <strong>Tilda Brenk</strong> [2].</p>" in page
    assert "<mark>Mother: Tilda Brenk</mark>" in page
    assert "- mother of Oda Brenk → Tilda Brenk \\[2\\]\n" in run("history", "show", "last", "--format", "md").out


# --- the whole chain ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of its articles, which is the corpus `lane` of the data folder beside it."""
    folder = tmp_path_factory.mktemp("lane")
    (folder / "articles").mkdir()
    for name in ARTICLES:
        shutil.copy(starter_corpus_path() / f"{name}.md", folder / "articles")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        yield folder / "articles"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    mind = ScriptMind(SCRIPT)
    with FakeServer(reply=mind.reply, functions=mind.functions) as server:
        yield server


def model(server: FakeServer) -> str:
    return f"openai-like/tiny:8b@{server.url}/v1"


def quoted(text: str) -> list[int]:
    """The links whose quotes these are."""
    return [n for n, link in enumerate(SCRIPT.links) if any(quoted.quote in text for quoted in link.facts)]


@pytest.mark.parametrize("strategy", ["iterative", "plan", "agent"])
def test_every_link_of_the_chain_is_cited(
    articles: Path, server: FakeServer, run: Command, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(articles.parent / "home"))
    run("index", str(articles), "--corpus", "lane")
    asked = ("--corpus", "lane", "--llm", model(server), "--strategy", strategy, "--json")
    made: dict[str, Any] = json.loads(run("ask", QUESTION, *asked).out)
    assert (made["status"], made["short_answer"]) == ("answered", ANSWER)
    assert quoted(json.dumps(made["citations"])) == [0, 1, 2, 3]
    by_number = {one["n"]: one for one in made["citations"]}
    # What the text cites keeps its numbers, and the rest of the chain follows.
    assert ([*quoted(by_number[1]["quote"])], [*quoted(by_number[2]["quote"])]) == ([2], [3])
    built = {
        quoted(by_number[n]["quote"])[0]: [quoted(by_number[below]["quote"])[0] for below in link["builds_on"]]
        for link in made["chain"]
        for n in link["citations"]
    }
    assert built == {0: [], 1: [], 2: [0], 3: [1]}
    assert run("history", "show", "last", "--format", "json").out.count('"builds_on"') == 4


def test_rows_that_the_corpus_lacks_are_told_though_doubtful_values_were_found(run: Command, tmp_path: Path) -> None:
    (tmp_path / "albums").mkdir()
    (tmp_path / "albums" / "Night Roads III.md").write_text(
        "# Night Roads III\n\nNight Roads III is the third album of Oxlip. It was recorded near Velm in 1994.\n\n"
        "## Track listing\n\n## Personnel\n\nMara Quill sang. Tom Ash was the drummer.\n",
        encoding="utf-8",
    )
    assert run("index", str(tmp_path / "albums"), "--corpus", "albums", "--quiet").code == 0
    asked = run(
        "ask", "What is the first track on Night Roads III?", "--corpus", "albums", "--llm", "builtin", "--json"
    )
    told = json.loads(asked.out)
    assert told["reason_code"] == "rows_lost"
    assert '"Track listing" in the article "Night Roads III"' in told["reason"]
