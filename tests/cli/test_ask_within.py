"""Asking within a part of a corpus: by title, source, section, date, language and metadata, on the command line."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from iterative_rag import IterativeRAG, Within
from iterative_rag.errors import NothingWithin

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
    folder = tmp_path / "notes"
    for name, text in NOTES.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        os.utime(place, (1.7e9, 1.7e9))  # 14 November 2023
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


def test_a_section_is_read_without_what_stands_around_it(run: Command, notes: Path) -> None:
    for section, master in (("Past", "Odo Lark"), ("Present", "Una Quill")):
        answer = asked(run, "Who is the harbour master of Fenwick?", "--section", section)
        assert answer["short_answer"] == master
        quoted = answer["citations"][0]
        text = (notes / "Harbour.md").read_text()
        assert text[quoted["start"] : quoted["end"]] == quoted["quote"]


def test_an_empty_part_is_told_and_is_no_answer(run: Command, notes: Path) -> None:
    done = run("ask", MAYOR, "--corpus", "notes", "--llm", "builtin", "--title", "Vessel report west")
    assert done.code == 4
    assert "No document matches --title 'Vessel report west'" in done.err
    assert "The corpus 'notes' has 3 documents" in done.err
    assert "Vessel report south" in done.err
    assert not done.out
    done = run("ask", MAYOR, "--corpus", "notes", "--llm", "builtin", "--where", "auhtor=Holm")
    assert (done.code, "Its keys: 'author', 'date'" in done.err) == (4, True)


def test_what_is_not_in_the_part_is_not_answered_from_the_rest_of_the_corpus(run: Command, notes: Path) -> None:
    asked(run, MAYOR)  # its facts are in the cache now
    answer = asked(run, MAYOR, "--title", "Harbour")
    assert (answer["status"], answer["citations"]) == ("abstained", [])
    assert "--title Harbour (1 of 3 documents)" in answer["corpus_notice"]


def test_where_a_document_has_no_date_that_of_its_file_counts_and_is_told(run: Command, notes: Path) -> None:
    answer = asked(run, "Who is the harbour master of Fenwick?", "--since", "2023-11", "--section", "Present")
    assert answer["short_answer"] == "Una Quill"
    assert "Of 1 document the date is that of the file" in answer["corpus_notice"]
    done = run("search", "harbour master", "--corpus", "notes", "--since", "2025")
    assert (done.code, "The newest is of 2024-05-02" in done.err) == (4, True)


def test_changed_metadata_is_taken_up_without_embedding_anything(run: Command, notes: Path) -> None:
    place = notes / "north/Report_2019.md"
    place.write_text(place.read_text().replace("Edda Holm", "Nils Ash"), encoding="utf-8")
    done = run("index", str(notes), "--corpus", "notes")
    assert "3 unchanged" in done.out
    assert "0 passages embedded" in done.out
    assert asked(run, MAYOR, "--where", "author=Nils Ash")["short_answer"] == "Osric Vane"


def test_the_metadata_that_can_be_asked_for_are_listed(run: Command, notes: Path) -> None:
    assert "author (2), date (2), language (1)" in run("corpus", "status", "notes").out
    assert json.loads(run("corpus", "status", "notes", "--json").out)["corpora"][0]["keys"]["author"] == 2


def test_conditions_that_are_none_are_refused(run: Command, notes: Path) -> None:
    for option, value, told in (
        ("--since", "last week", "--since last week is not valid: it must be a day, month or year"),
        ("--where", "author", "--where author is not valid: it must be KEY=VALUE"),
    ):
        done = run("ask", MAYOR, "--corpus", "notes", "--llm", "builtin", option, value)
        assert (done.code, told in done.err) == (2, True), done.err


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


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ({"since": 2024}, "since as text, not 2024", 'since="2024"'),
        ({"title": ["a"]}, "title as text", "title="),
        ({"where": "author=Holm"}, "a tuple of texts, not 'author=Holm'", 'where=("author=Holm",)'),
        ({"where": (1,)}, "a tuple of texts", "where="),
    ],
)
def test_a_part_that_is_no_text_is_refused_with_what_to_write(given: dict[str, Any], said: str, hint: str) -> None:
    """A year as a number ended in a TypeError."""
    with pytest.raises(ValueError, match=f"{re.escape(said)}.*{re.escape(hint)}"):
        Within(**given)


def test_rows_of_a_table_file_are_chosen_by_a_column(run: Command, tmp_path: Path) -> None:
    rows = [f"Bridge {number},{'Ost' if number % 2 else 'West'},{1900 + number}" for number in range(1, 40)]
    place = tmp_path / "bridges.csv"
    place.write_text("name,district,year\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert run("index", str(place), "--corpus", "bridges", "--quiet").code == 0
    done = run("search", "bridge", "--corpus", "bridges", "--where", "district=ost", "--where", "year=1907", "--json")
    hits = json.loads(done.out)
    assert hits
    assert all("Bridge 7 |" in hit["text"] for hit in hits)
    done = run("search", "bridge", "--corpus", "bridges", "--where", "district=Nord")
    assert done.code == 4
