"""Articles about people, masts and rivers that there are not, for tests of the built-in backend."""

from __future__ import annotations

ANN = """# Ann Orley

| Ann Orley | |
|---|---|
| Born | May 3, 1801, Lornfield, Westmark |
| Died | June 9, 1866, Tellby |
| Mother | Berta Quill Orley |
| Father | Karl Orley |
| Spouse | Tom Voss (married 1823) |
| Known for | Orley Bridge |

**Ann Orley** was a Westmarkian engineer who built bridges. She was the second engineer to win the Harp Prize.

## Work

In 1840 she finished the Orley Bridge over the Brell. Her pupil Hanna Ruud took over the firm in 1859. She never wrote
a book. The sculptor Peer Lund, a friend, made a statue of her.
"""
MASTS = """# List of masts of Westmark

## Table

| Mast | Town | Completed | Height (m) | Builder |
|---|---|---|---|---|
| Orm Mast | Tellby | 1931 | 310 | Iver Dahl |
| Long Needle | Brellmouth | 1962 | 402 | Ann Torp |
| Old Spire | Tellby | 1899 | 120 | Peer Lund |
| Sky Pin | Lornfield | 1988 | 377 | Iver Dahl |
"""
RIVER = """# Brell

| Brell | |
|---|---|
| Length | 412 km |
| Source | Lake Hollin |
| Mouth | Grey Sea at Brellmouth |

The Brell is the longest river of Westmark. It rises in Lake Hollin and flows into the Grey Sea.
"""
QUEENS = """# List of queens of Orm

| Number | Queen | King | Years |
|---|---|---|---|
| 1 | Maud Alder | Rolf I | 1700–1720 |
| 2 | Sigrid Holt | Rolf II | 1720–1751 |
| 3 | Tove Marsh | Knut | 1751–1790 |
"""
SIGRID = """# Sigrid Holt

| Sigrid Holt | |
|---|---|
| Born | 1699, Tellby |
| Mother | Janna Reed Holt |
| Father | Otto Holt |
"""
ADMIRALS = """# List of drowned admirals

| Order | Admiral | Drowned | Ship |
|---|---|---|---|
| First | Per Gran | 1801 | Swan |
| Second | Ivar Stene | 1844 | Gull |
"""
IVAR = """# Ivar Stene

| Ivar Stene | |
|---|---|
| Born | 1790, Brellmouth |
| Mother | Elsa Vinter |

Ivar Stene was the second admiral to drown at sea.
"""
PAGES = {
    "Ann Orley": ANN,
    "Brell": RIVER,
    "List of masts of Westmark": MASTS,
    "List of queens of Orm": QUEENS,
    "Sigrid Holt": SIGRID,
    "List of drowned admirals": ADMIRALS,
    "Ivar Stene": IVAR,
}
