"""JSON files: records and SQuAD."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
            {"title": "Karsa", "paragraphs": [{"context": "First."}, asked]},
            {"title": "Velm", "paragraphs": [{"context": "A river."}]},
        ],
    }
    spaced = [' \n{\n "data" : [ ] }', ' [ {"title": "A", "text": "B"} , {"title": "C", "text": "D"} ] ']
    assert [one.title for one in documents(written(tmp_path / "spaced.json", spaced[1]))] == ["A", "C"]
    assert "no record" in reasons(written(tmp_path / "none.json", spaced[0]))[0]
    assert "not JSON" in reasons(written(tmp_path / "half.json", '[{"title": "A", "text": "B"} {'))[0]
    karsa, velm = documents(written(tmp_path / "squad.json", json.dumps(squad)))
    assert (karsa.title, karsa.text) == ("Karsa", "First.\n\nSecond.")
    assert velm.text == "A river."


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
