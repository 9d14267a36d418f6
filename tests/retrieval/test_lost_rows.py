"""Lists whose rows are not in the text."""

from __future__ import annotations

import pytest

from iterative_rag.retrieval.lost_rows import lost_at, lost_for, lost_rows
from iterative_rag.types import Document, Hit, Need, ShortlistedDocument

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
        (
            "Longest reigns",
            "This is a list of the longest reigns of Orm.\n\nBy years\nQueens\nKings\nSee also\nOrm",
            [""],
        ),
        ("Longest reigns", f"The following is a list of reigns.\n\n{ROWS}", []),
        (
            "Orm",
            "Orm is a kingdom.\n\nNotable queens\nListed by length of reign:\n\nReferences\nOrm",
            ["Notable queens"],
        ),
        ("Orm", "Orm is a kingdom.\n\n## Queens\n\nMaud is in bold.\n\n## Towns\n\nTarn is a town.", ["Queens"]),
        ("Orm", "Orm is a kingdom.\n\nQueens\nThese were queens:\n\nMaud (1700)\nAlda (1720)\n\nNotes\nOrm", []),
        (
            "Orm",
            "Orm is a kingdom.\n\n## Queens\n\nThese were queens:\n- Maud\n- Alda\n\n## Towns\n\nTarn is a town.",
            [],
        ),
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


@pytest.mark.parametrize(("question", "is_told"), [("Who won in 1981?", True), ("When was Orm founded?", False)])
def test_a_lost_list_is_told_where_its_heading_names_what_is_asked_for(question: str, is_told: bool) -> None:
    """The winners of a race were looked for on its page six times: the best hit was always in another section."""
    orm = document("Orm Derby", "The Orm Derby is a race.\n\n## Winners\n\n## Rules\n\nHorses run.")
    entry = ShortlistedDocument("d", "Orm Derby", "d.md", 1.0, (Hit("d", "Orm Derby", 0, 10, 1.0),))
    assert (lost_for(orm, entry, Need(question)) is not None) == is_told
