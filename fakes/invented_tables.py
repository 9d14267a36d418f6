"""Invented articles with tables and lists, as fetched pages have them in Markdown."""

from __future__ import annotations

BRIDGES = """# Bridges of the Orr

The Orr is a river of Karsa. Nine bridges cross it.

## List of bridges

| Bridge | Town | Opened | Length (m) | Material |
|---|---|---|---|---|
| Old Bridge | Tellin | 1642 | 96 | stone |
| Mill Bridge | Tellin | 1788 | 140 | stone |
| King's Bridge | Varnholm | 1861 | 412 | iron |
| Sorrel Bridge | Varnholm | 1893 | 388 | iron |
| Harbour Bridge | Port Elm | 1932 | 1,204 | steel |
| Ferry Bridge | Port Elm | 1954 | 960 | concrete |
| Aspen Bridge | Tellin | 1971 | 305 | concrete |
| Millennium Bridge | Varnholm | 2001 | 267 | steel |
| Gull Bridge | Port Elm | 2014 | 1,550 | steel |
"""
RIVERS = """# List of rivers of Karsa

| River | Length | Mouth | Countries |
|---|---|---|---|
| Orr | 1,204 km | Grey Sea | Karsa; Velm |
| Ulla | 388 mi | Lake Hollin | Velm |
| Sorn | 96 km | Orr | Karsa |
| Tarn | 540 km | Grey Sea | Karsa |
"""
ALBUMS = """# Nine Lamps discography

Nine Lamps are a band from Tellin.

## Studio albums

Studio albums with their sales

| Year | Title | Label | Sales |
|---|---|---|---|
| 1991 | Night Ferry | Elm Records | 120,000 |
| 1994 | The Salt Road | Elm Records | 340,000 |
| 1998 | Tin Weather | Harbour | 95,000 |
| 2003 | Long Division | Harbour | 210,000 |
"""
MAYORS = """# List of mayors of Varnholm

| No. | Mayor | Term | Party |
|---|---|---|---|
| 1 | Edda Lind | 1901–1908 | Liberal |
| 2 | Joss Varga | 1908–1919 | Farmers |
| 3 | Henrik Moll | 1919–1921 | Liberal |
| 4 | Ada Thorne | 1921–1934 | Labour |
| 5 | Piet Solan | 1934–1940 | Farmers |
"""
PARKS = """# Parks of Port Elm

## Parks

- Elm Park (1856), with a pond
- Harbour Green (1911)
- Gull Meadow, by the sea
- Rose Garden: the smallest
"""

SHOT_MAYORS = """# List of assassinated mayors of Orm

| Order | Mayor | Number of mayor | Shot on | Place of the attack | Assassin | Died on | Age at death | Successor |
|---|---|---|---|---|---|---|---|---|
| First | Oda Brenk | 16th | 3 May 1881 | Karsa Theatre, Tellin | Per Lund | 9 May 1881 | 56 | Nils Holm |
| Second | Ane Voss | 20th | 1 June 1901 | Orm station, Tellin | Bo Ruud | 4 June 1901 | 49 | Una Orr |
"""

PAGES = {
    "Bridges of the Orr": BRIDGES,
    "List of rivers of Karsa": RIVERS,
    "Nine Lamps discography": ALBUMS,
    "List of mayors of Varnholm": MAYORS,
    "Parks of Port Elm": PARKS,
}
