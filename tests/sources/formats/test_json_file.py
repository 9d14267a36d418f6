"""JSON files: records and SQuAD."""

from __future__ import annotations

import json
from pathlib import Path

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
    assert "neither a list" in reasons(written(tmp_path / "none.json", spaced[0]))[0]
    assert "not JSON" in reasons(written(tmp_path / "half.json", '[{"title": "A", "text": "B"} {}]'))[0]
    karsa, velm = documents(written(tmp_path / "squad.json", json.dumps(squad)))
    assert (karsa.title, karsa.text) == ("Karsa (town)", "# Karsa (town)\n\nFirst.\n\nSecond.\n\nThird.")
    assert velm.text == "# Velm\n\nA river."


def test_a_single_object_is_a_record_of_whatever_fields(tmp_path: Path) -> None:
    (bridge,) = documents(written(tmp_path / "velm.json", '{"name": "Velm bridge", "opened": 1843, "arches": [3, 4]}'))
    assert (bridge.title, bridge.text) == ("Velm bridge", "# Velm bridge\n\n- opened: 1843\n- arches: 3, 4")
    assert "neither a list" in reasons(written(tmp_path / "none.json", "{}"))[0]
