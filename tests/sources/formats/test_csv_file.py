"""Tables in CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.formats.reading import documents, only, written


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "name,city\nAnn,Rome\nBob,Paris\n", ["| name | city |", "| Ann | Rome |", "| Bob | Paris |"]),
        ("a.csv", "name;city\nAnn;Rome, Italy\n", ["| name | city |", "| Ann | Rome, Italy |"]),
        ("a.tsv", 'name\tcity\n"Ann ""A."""\tx|y\n', ["| name | city |", '| Ann "A." | x\\|y |']),
        ("a.csv", 'name,said\nAnn,"two\nlines"\n', ["| name | said |", "| Ann | two lines |"]),
        ("a.csv", "1909,31\n1911,29\n1913,30\n", ["|  |  |", "| 1909 | 31 |", "| 1911 | 29 |", "| 1913 | 30 |"]),
        ("a.csv", "name\nAnn\n", ["| name |", "| Ann |"]),
    ],
)
def test_a_table_is_one_with_its_header(tmp_path: Path, name: str, content: str, rows: list[str]) -> None:
    table = only(written(tmp_path / name, content))
    assert table.title == "a"
    head, rule, *lines = table.text.removeprefix("# a\n\n").splitlines()
    assert [head, *lines] == rows
    assert set(rule) == {"|", "-"}


def test_a_long_table_becomes_several_with_the_header_in_each(tmp_path: Path) -> None:
    rows = [f"Tower {number},{number} m" for number in range(1, 4502)]
    parts = documents(written(tmp_path / "towers.csv", "\n".join(["name,height", *rows])))
    assert [one.title for one in parts] == [
        "towers (rows 1–2000)",
        "towers (rows 2001–4000)",
        "towers (rows 4001–4501)",
    ]
    assert len({one.id for one in parts}) == 3
    assert all("| name | height |" in one.text for one in parts)
    shown = [line for one in parts for line in one.text.splitlines() if line.startswith("| Tower ")]
    assert shown == [f"| {row.replace(',', ' | ')} |" for row in rows]
