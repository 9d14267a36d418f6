"""Sections whose rows are not in the text."""

from __future__ import annotations

import pytest

from iterative_rag.retrieval.lost_rows import lost_rows

PROSE = "Orm is a kingdom in the north, and its queens have told of their reigns in letters that are kept at Tarn."


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        # A plain-text extract: no blank line stands between a heading and what follows it.
        (
            f"{PROSE}\n\nFilmography\nFilm\nTelevision\nReferences\nExternal links",
            ["Filmography", "Film", "Television"],
        ),
        (f"{PROSE}\n\nTrack listing\nReception\n{PROSE}", ["Track listing"]),
        (f"{PROSE}\n\nWinners\n1990s\n2000s\n2010s\nSee also\nTarn", ["Winners", "1990s", "2000s", "2010s"]),
        (f"{PROSE}\n\nCharts\nCertifications\n\n\n== References ==\n", ["Charts", "Certifications"]),
        (f"{PROSE}\n\nCareer statistics\nBold indicates a record.\n\nReferences\nOrm", ["Career statistics"]),
        (f"{PROSE}\n\nKingdoms\nThe kingdoms of the north are:\n\nHistory\n{PROSE}", ["Kingdoms"]),
        (f"{PROSE}\n\nFilmography\nPersonal life\n{PROSE}", ["Filmography"]),
        (f"{PROSE}\n\nNotable people\nTwin towns – sister towns\nOrm is twinned with:\n\n Tarn", ["Notable people"]),
        (f"{PROSE}\n\nWinners\nQueens are in bold.\n\nNotes\n# A queen.\n† A king.", ["Winners"]),
        (f"{PROSE}\n\nRanks\nThe following table shows the ranks. {PROSE}\n\nTowns\n{PROSE}", ["Ranks"]),
        (
            f"{PROSE}\n\nWins (7)\nOrm Tour wins (5)\nPlay-off record (1–2)\n\nFinals\nSingles: 3 (2–1)\n"
            f'Doubles: 1 (0–1)\n\nStandings\nR = Rode\n"W" indicates a walk.\n\nReferences\nOrm',
            [
                "Wins (7)",
                "Orm Tour wins (5)",
                "Play-off record (1–2)",
                "Finals",
                "Singles: 3 (2–1)",
                "Doubles: 1 (0–1)",
                "Standings",
            ],
        ),
        (f"{PROSE}\n\nKey\nWinners\nWinners by town\n{PROSE}", ["Winners"]),
        (f"{PROSE}\n\nList\nThis list includes all queens.\n\nOther wives\n{PROSE}\n{PROSE}", ["List"]),
        # The rows are there, or there were none.
        (f"{PROSE}\n\nList\nThis list includes all queens.\n\nMaud of Orm\nAda of Tarn\n\nReferences", []),
        (f"{PROSE}\n\nList of serials\n2000s\nTarn by Maud Alder (2001–2003)\nOrm by Jon Brenk (2003–2004)", []),
        (f"{PROSE}\n\nStaff\nHead coaches\nMaud Alder (1996–1998)\nJon Brenk (1999–2007)\n\nReferences", []),
        (f"{PROSE}\n\nTeam records\nCareer\nRides: Maud Alder, 18\nWins: Jon Brenk, 172\n\nReferences", []),
        (
            f"{PROSE}\n\nHer grave reads\n\nRespect her\nThis was a queen\nHer word has held\nOur land is hers\n"
            f"He who comes here\nShall rest\n{PROSE}",
            [],
        ),
        (f"{PROSE}\n\nSerials\n2000s\nTarn by Maud Alder (2001–2003)\nOrm by Jon Brenk (2003–2004)", []),
        (f"{PROSE}\n\nReception\nCritical response\n{PROSE}", []),
        (f"{PROSE}\n\nAwards\nImage Awards\n{PROSE}", []),
        (f"{PROSE}\n\nFilmography\n\nThe Queen (1990)\nThe King (1994)\n\nReferences\nOrm", []),
        (f"{PROSE}\n\nCast\nMaud Alder as the queen\nJon Brenk as the king\n\nSee also\nTarn", []),
        (f"{PROSE}\n\nKingdoms\nThe kingdoms of the north are:\n\nOrm\nTarn\n\nHistory\n{PROSE}", []),
        # Headings that are marked.
        ("# Orm\n\nA kingdom.\n\n## Queens\n\n### Early\n\n### Late\n\n## Towns\n\nTarn.", ["Queens", "Early", "Late"]),
        ("Orm.\n\n== Queens ==\n\n=== Early ===\nMaud.\n\n== Kings ==\n\n== References ==\n", ["Kings"]),
        ("# Orm\n\n## Queens\n\n| Name | Year |\n|---|---|\n| Maud | 1700 |\n\n## See also\n", []),
        ("", []),
    ],
)
def test_a_heading_is_told_where_nothing_stands_below_it(text: str, lost: list[str]) -> None:
    assert list(lost_rows(text)) == lost
