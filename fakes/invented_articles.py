"""Articles about people, masts, rivers and bridges that there are not: `articles/*.md`, by their titles."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent / "articles"


def _articles(*titles: str) -> dict[str, str]:
    return {title: (_FOLDER / f"{title.replace(' ', '_')}.md").read_text(encoding="utf-8") for title in titles}


PAGES = _articles(
    "Ann Orley",
    "Brell",
    "List of masts of Westmark",
    "List of queens of Orm",
    "Sigrid Holt",
    "List of drowned admirals",
    "Ivar Stene",
)
ANN, RIVER, MASTS, *_ = PAGES.values()
# With tables and lists, as fetched pages have them.
TABLE_PAGES = _articles(
    "Bridges of the Orr",
    "List of rivers of Karsa",
    "Nine Lamps discography",
    "List of mayors of Varnholm",
    "Parks of Port Elm",
)
BRIDGES, RIVERS, ALBUMS, MAYORS, PARKS = TABLE_PAGES.values()
(SHOT_MAYORS,) = _articles("List of assassinated mayors of Orm").values()
