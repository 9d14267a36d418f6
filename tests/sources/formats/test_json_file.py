"""JSON files: records and SQuAD."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.types import Document
from tests.sources.formats.reading import documents, reasons, written


def test_json_records_and_squad(tmp_path: Path) -> None:
    records = [{"title": "One", "text": "Text one.", "url": "https://x.example/1"}, {"title": "Two", "passage": "Two."}]
    one, two = documents(written(tmp_path / "records.json", json.dumps(records)))
    assert (one.title, one.text, one.url) == ("One", "Text one.", "https://x.example/1")
    assert two.text == "Two."
    asked = {"context": "Second.", "qas": [{"question": "Who?"}]}
    squad = {
        "version": "2.0",
        "data": [
            {"title": "Karsa_%28town%29", "paragraphs": [{"context": "First."}, asked]},
            {"title": "Velm", "paragraphs": [{"context": "A river."}]},
            {"title": "Karsa_%28town%29", "paragraphs": [{"context": "Third."}]},
        ],
    }
    spaced = [' \n{\n "data" : [ ] }', ' [ {"title": "A", "text": "B"} , {"title": "C", "text": "D"} ] ']
    assert [one.title for one in documents(written(tmp_path / "spaced.json", spaced[1]))] == ["A", "C"]
    assert "no record" in reasons(written(tmp_path / "none.json", spaced[0]))[0]
    assert "not JSON" in reasons(written(tmp_path / "half.json", '[{"title": "A", "text": "B"} {}]'))[0]
    karsa, velm = documents(written(tmp_path / "squad.json", json.dumps(squad)))
    assert (karsa.title, karsa.text) == ("Karsa (town)", "# Karsa (town)\n\nFirst.\n\nSecond.\n\nThird.")
    assert velm.text == "# Velm\n\nA river."


def test_a_single_object_is_a_record_of_whatever_fields(tmp_path: Path) -> None:
    (bridge,) = documents(written(tmp_path / "velm.json", '{"name": "Velm bridge", "opened": 1843, "arches": [3, 4]}'))
    assert (bridge.title, bridge.text) == ("Velm bridge", "# Velm bridge\n\n- opened: 1843\n- arches: 3, 4")
    assert "no record" in reasons(written(tmp_path / "none.json", "{}"))[0]


@pytest.mark.parametrize(
    ("written_as", "said"),
    [
        ('{"title": "A", "text": "One."}\n{"title": "B", "text": "Two."}\n', {"A": "One.", "B": "Two."}),
        ('{"title": "A", "text": "One."} {"title": "B", "text": "Two."}', {"A": "One.", "B": "Two."}),
        ('[{"title": "A", "text": "One."}]\n[{"title": "B", "text": "Two."}]', {"A": "One.", "B": "Two."}),
        (
            '{"version": 1, "data": [{"title": "A", "text": "One."}], "more": [{"title": "B", "text": "Two."}]}',
            {"A": "One.", "B": "Two."},
        ),
        ('{"response": {"docs": [{"title": "A", "body": "One."}]}}', {"A": "One."}),
        ('{"A": {"text": "One."}, "B": {"text": "Two."}}', {"A": "One.", "B": "Two."}),
        (
            '{"title": "A", "contents": "One.", "crew": [{"name": "Lee", "from": 1950}]}',
            {"A": "One.\n\n- crew: name: Lee, from: 1950"},
        ),
        ('[["A", ["One. ", "Two."]], ["B", ["Three."]]]', {"A": "One. Two.", "B": "Three."}),
        ('[{"wikipedia_title": "A", "text": ["A\\n", "One.\\n", "Two."]}]', {"A": "A\n\nOne.\n\nTwo."}),
        (
            '{"title": "A", "text": [["One.", "Two."], ["Three."]], "offsets": [[0, 4], [5, 9]]}',
            {"A": "One. Two.\n\nThree."},
        ),
        ('["The Tern is a tug.", "The Auk is a barge."]', dict.fromkeys(["The Tern is a tug.", "The Auk is a barge."])),
    ],
)
def test_records_of_every_form_are_documents(tmp_path: Path, written_as: str, said: dict[str, str | None]) -> None:
    found = documents(written(tmp_path / "records.json", written_as))
    assert {one.title: one.text for one in found} == {title: text or title for title, text in said.items()}


@pytest.mark.parametrize(
    ("broken", "titles", "reason"),
    [
        (
            '{"title": "A", "text": "One."} and more',
            ["A"],
            "What follows record 1 is not JSON: Expecting value",
        ),
        ('[{"title": "A", "text": "One."}, 5, {"title": "B", "text": "Two."}]', ["A", "B"], "not a JSON object"),
    ],
)
def test_what_is_no_record_is_told(tmp_path: Path, broken: str, titles: list[str], reason: str) -> None:
    written(tmp_path / "records.json", broken)
    items = list(Folder(tmp_path).documents())
    assert [item.title for item in items if isinstance(item, Document)] == titles
    (skipped,) = (item for item in items if isinstance(item, Skipped))
    assert reason in skipped.reason


def test_a_large_object_of_lists_is_read_entry_by_entry(tmp_path: Path) -> None:
    rows = [{"title": f"Ship {number}", "text": f"Built in {number}. " * 300} for number in range(1000, 3000)]
    text = json.dumps(
        {"version": "2.0", "ships": rows, "note": "The harbour of Portsay was closed to lorries in 1950."}
    )
    *ships, note = documents(written(tmp_path / "ships.json", text))
    assert [one.title for one in ships] == [row["title"] for row in rows]
    assert "- note: The harbour" in note.text
