"""Asking within a part of a corpus: by title, source, section, date, language and metadata, on the command line."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from iterative_rag import IterativeRAG, Within
from iterative_rag.errors import NothingWithin
from tests.cli.conftest import written

# Two bridges of one name, told apart only by what is around the text.
NOTES = {
    "north/Report_2019.md": (
        "---\ntitle: Vessel report north\ndate: 2019-03-01\nauthor: Edda Holm\n---\n"
        "# Vessel report north\n\nThe mayor of Aldermere is Osric Vane.\n"
    ),
    "south/Report_2024.md": (
        "---\ntitle: Vessel report south\ndate: 2024-05-02\nauthor: Ines Roth\nlanguage: en\n---\n"
        "# Vessel report south\n\nThe mayor of Aldermere is Tilda Brand.\n"
    ),
    "Harbour.md": (
        "# Harbour\n\n## Past\n\nThe harbour master of Fenwick was Odo Lark. "
        + "The quay was made of oak. " * 30
        + "\n\n"
        "## Present\n\nThe harbour master of Fenwick is Una Quill. " + "The quay is made of granite. " * 30 + "\n"
    ),
}
MAYOR = "Who is the mayor of Aldermere?"


@pytest.fixture
def notes(tmp_path: Path, run: Command) -> Path:
    folder = written(tmp_path / "notes", NOTES)
    for name in NOTES:
        os.utime(folder / name, (1.7e9, 1.7e9))  # 14 November 2023
    assert run("index", str(folder), "--corpus", "notes", "--quiet").code == 0
    return folder


def asked(run: Command, question: str, *options: str) -> dict[str, Any]:
    done = run("ask", question, "--corpus", "notes", "--llm", "builtin", "--json", *options)
    assert done.code in (0, 3), done.err
    answer: dict[str, Any] = json.loads(done.out)
    return answer


@pytest.mark.parametrize(
    ("options", "mayor"),
    [
        (("--title", "north"), "Osric Vane"),
        (("--source", "*/south/*"), "Tilda Brand"),
        (("--since", "2020"), "Tilda Brand"),
        (("--where", "author=edda holm"), "Osric Vane"),
        (("--where", "author=*Roth", "--where", "date=2024*"), "Tilda Brand"),
        (("--document-language", "en"), "Tilda Brand"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else one,
)
def test_only_the_part_that_is_asked_for_answers(
    run: Command, notes: Path, options: tuple[str, ...], mayor: str
) -> None:
    answer = asked(run, MAYOR, *options)
    assert answer["short_answer"] == mayor
    assert {one["title"] for hop in answer["hops"] for one in hop["facts"]} <= {answer["citations"][0]["title"]}
    assert "Only a part of the corpus was searched" in answer["corpus_notice"]
    assert len(json.loads(answer["settings"]["within"])) == 1


def test_an_empty_part_is_told_and_is_no_answer(run: Command, notes: Path) -> None:
    done = run("ask", MAYOR, "--corpus", "notes", "--llm", "builtin", "--title", "Vessel report west")
    assert done.code == 4
    assert "No document matches --title 'Vessel report west'" in done.err
    assert "The corpus 'notes' has 3 documents" in done.err
    assert "Vessel report south" in done.err
    assert not done.out
    done = run("ask", MAYOR, "--corpus", "notes", "--llm", "builtin", "--where", "auhtor=Holm")
    assert (done.code, "Keys of their metadata: 'author', 'date'" in done.err) == (4, True)


def test_what_is_not_in_the_part_is_not_answered_from_the_rest_of_the_corpus(run: Command, notes: Path) -> None:
    asked(run, MAYOR)  # its facts are in the cache now
    answer = asked(run, MAYOR, "--title", "Harbour")
    assert (answer["status"], answer["citations"]) == ("abstained", [])
    assert "--title Harbour (1 of 3 documents)" in answer["corpus_notice"]


def test_the_fields_of_records_are_metadata_and_python_asks_within_them(run: Command, tmp_path: Path) -> None:
    records = [
        {"title": "North", "text": "The mayor of Aldermere is Osric Vane.", "year": 2019, "tags": ["old", "report"]},
        {"title": "South", "text": "The mayor of Aldermere is Tilda Brand.", "metadata": {"year": 2024}},
    ]
    place = tmp_path / "reports.jsonl"
    place.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert run("index", str(place), "--corpus", "reports", "--quiet").code == 0
    with closing(IterativeRAG.from_settings(llm="builtin", corpus="reports")) as rag:
        for within, mayor in (
            (Within(where=("tags=old",)), "Osric Vane"),
            (Within(where=("year=2024",)), "Tilda Brand"),
            (Within(title="nor*"), "Osric Vane"),
        ):
            assert rag.ask(MAYOR, within=within).short_answer == mayor
        with pytest.raises(NothingWithin, match="--where year=2020"):
            rag.ask(MAYOR, within=Within(where=("year=2020",)))
        with pytest.raises(ValueError, match="is no date"):
            Within(since="2024-13")
