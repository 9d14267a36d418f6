"""Lists whose rows are not in the text."""

from __future__ import annotations

import pytest

from iterative_rag.retrieval.lost_rows import lost_at, lost_rows
from iterative_rag.types import Document, Hit, ShortlistedDocument

ROWS = "\n".join(f"- Queen {n}, {1700 + 20 * n}" for n in range(6))
FOOT = "\n\nSee also\nList of kings of Orm\nOrm\nMaud Alder\n\n## References\n\n"


def document(title: str, text: str) -> Document:
    return Document("d", title, text, "d.md")


@pytest.mark.parametrize(
    ("title", "text", "sections"),
    [
        ("List of queens of Orm", f"This is a list of the queens of Orm.\n\nQueens\nBy length of reign{FOOT}", [""]),
        ("Liste der Königinnen von Orm", "Diese Liste nennt die Königinnen.\n\nSiehe auch\nOrm\nTarn", [""]),
        ("List of queens of Orm", f"This is a list of the queens of Orm.\n\n{ROWS}{FOOT}", []),
        ("List of queens of Orm", f"The queens.\n\n{ROWS.replace('- ', '| ')}", []),
        ("Orm", f"Orm is a kingdom.\n\n## Queens\n\n## Towns\n\nTarn is a town.{FOOT}", ["Queens"]),
        ("Orm", "Orm is a kingdom.\n\n== Queens ==\n\n== References ==\n", ["Queens"]),
        ("Orm", "Orm is a kingdom.\n\n## History\n\n### Queens\n\nMaud was the first.\n", []),
        ("Orm", "Orm is a kingdom.", []),
        ("Orm", "", []),
    ],
)
def test_a_list_is_lost_where_nothing_follows_that_could_be_its_rows(
    title: str, text: str, sections: list[str]
) -> None:
    assert [lost.section for lost in lost_rows(document(title, text))] == sections


def test_only_the_list_that_the_best_hit_is_in_counts() -> None:
    text = "Orm is a kingdom.\n\n## Queens\n\n## Towns\n\nTarn is a town."
    orm, at = document("Orm", text), text.index("## Queens")

    def listed(*spans: tuple[int, int]) -> ShortlistedDocument:
        hits = tuple(Hit("d", "Orm", start, end, 1.0) for start, end in spans)
        return ShortlistedDocument("d", "Orm", "d.md", 1.0, hits)

    found = lost_at(orm, listed((at, at + 20), (0, 10)))
    assert found is not None
    assert text[found.start : found.end] == "## Queens"
    assert lost_at(orm, listed((0, 10), (at, at + 20))) is None
    assert lost_at(orm, listed()) is None
