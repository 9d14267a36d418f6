"""How an answer reads: a sentence, the way to it, quotes without markup, whole words and units."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fakes.command_line import Command
from fakes.indexed_folder import index_articles

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
    (base / "articles").mkdir()
    for title, text in TEXTS.items():
        (base / "articles" / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
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
    assert "<blockquote>Mother: Tilda Brenk</blockquote>" in page
    assert "- mother of Oda Brenk → Tilda Brenk \\[2\\]\n" in run("history", "show", "last", "--format", "md").out


def test_json_has_the_verbatim_quote_and_the_one_for_reading(ask: Command) -> None:
    made = json.loads(ask("Who is the mother of the designer of the Velm Tower?", "--json").out)
    assert made["chain"] == [
        {"asked": "Who is the designer of the Velm Tower?", "found": "Oda Brenk", "citations": [1], "builds_on": []},
        {"asked": "Who is the mother of Oda Brenk?", "found": "Tilda Brenk", "citations": [2], "builds_on": [1]},
    ]
    for citation in made["citations"]:
        text = Path(citation["source"]).read_text(encoding="utf-8")
        assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert [(one["quote"], one["display"]) for one in made["citations"]][1] == (
        "| Mother | **Tilda Brenk** |",
        "Mother: Tilda Brenk",
    )


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Who is the mayor of the town where the Sunday bridge stands?", "Ines Korr"),  # it was "es Korr"
        ("How tall is the Velm Tower?", "661 ft"),
    ],
)
def test_a_short_answer_has_whole_words_and_its_unit(ask: Command, question: str, short: str) -> None:
    assert ask(question, "-q").out == f"{short}\n"
