"""What is read of a document around its hits."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from fakes.numbered_sentences import unnumbered
from fakes.scripted_llm import ScriptedLLM
from iterative_rag import IterativeRAG, Settings
from iterative_rag.app.factory import index_paths
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.retrieval.windows import GAP, PACKED, window, window_of_rest
from iterative_rag.types import Document, Hit, ShortlistedDocument, Window

BEFORE = (
    "".join(f"Sentence {n} says nothing about masts. " for n in range(300)) + "\n\n## Masts\n\nAll masts by height.\n\n"
)
AFTER = "\nNo mast was built later.\n" + "".join(f"Later sentence {n} says as little. " for n in range(300))
HEADER = "| Mast | Height |\n| --- | --- |\n"


def table(rows: int) -> str:
    return HEADER + "".join(f"| Mast {n} | {400 - n} m |\n" for n in range(rows))


def seen(text: str, *hits: tuple[int, int], size: int = 1500) -> Window:
    found = tuple(Hit("d", "Masts", start, end, 0.1) for start, end in hits)
    read = window(
        Document("d", "Masts", text, "masts.md"), ShortlistedDocument("d", "Masts", "masts.md", 1.0, found), size
    )
    for start, end in read.spans:
        assert text[start:end].rstrip() in read.text
    return read


def row(text: str, number: int) -> tuple[int, int]:
    start = text.index(f"| Mast {number} |")
    return start, start + 60


def test_a_table_is_read_whole_with_what_introduces_it() -> None:
    text = BEFORE + table(150) + AFTER
    read = seen(text, row(text, 70))
    assert all(f"| Mast {n} |" in read.text for n in range(150))
    assert "## Masts" in read.text
    assert len(read.text) < 3 * 1500 + 1500


def test_a_table_that_is_too_long_is_read_around_the_hit_with_its_header() -> None:
    text = BEFORE + table(900) + AFTER
    read = seen(text, row(text, 700))
    assert HEADER in read.text
    assert "| Mast 700 |" in read.text
    assert "| Mast 400 |" not in read.text
    assert len(read.text) < 1600
    assert read.text.endswith("|\n[...]")  # rows are missing behind it, too


def test_the_table_of_the_best_hit_leaves_the_other_hits_their_room() -> None:
    text = BEFORE + table(150) + AFTER
    prose = text.index("Later sentence 200 ")
    read = seen(text, row(text, 70), (prose, prose + 60))
    assert "Later sentence 200 " in read.text
    assert "| Mast 149 |" in read.text


def test_the_tables_of_all_hits_are_read_whole() -> None:
    lamps = table(60).replace("Mast", "Lamp")
    text = BEFORE + table(60) + AFTER + "\n\n" + lamps + AFTER
    lamp = text.index("| Lamp 30 |")
    read = seen(text, row(text, 30), (lamp, lamp + 60))
    assert lamps.rstrip() in read.text


LEAD = "Oda Velm (born 3 May 1890 in Karsa) was an engineer of masts. She led the mast office for twenty years."
FILLER = "".join(f"In report {n} the office wrote about the weather of the coast. " for n in range(40))
MARRIED = "In 1921 she married the painter Otto Brenk."
LIFE = "\n\n".join(
    [
        "# Oda Velm",
        "| Oda Velm | |\n|---|---|\n| Field | masts |",
        LEAD,
        "## Career",
        "### Early masts",
        FILLER,
        "### Late masts",
        FILLER,
        "## Personal life",
        FILLER,
        f"The two met in Karsa. {MARRIED} They lived by the sea.",
        FILLER,
        "## Honours",
        FILLER,
    ]
)


def entry_of(text: str, *hits: tuple[int, int]) -> ShortlistedDocument:
    found = tuple(Hit("d", "Oda Velm", start, end, 0.1) for start, end in hits)
    return ShortlistedDocument("d", "Oda Velm", "velm.md", 1.0, found)


def hit_of(text: str, words: str, chars: int = 200) -> tuple[int, int]:
    start = text.index(words)
    return start, start + chars


def packed(text: str, *hits: tuple[int, int], size: int = 1500) -> Window:
    read = window(Document("d", "Oda Velm", text, "velm.md"), entry_of(text, *hits), size, PACKED)
    assert read.text == GAP.join(text[start:end] for start, end in read.spans)
    assert sum(end - start for start, end in read.spans) <= size
    return read


def test_an_llm_reads_the_lead_and_the_heading_of_the_section_with_exact_offsets() -> None:
    read = packed(LIFE, hit_of(LIFE, MARRIED, len(MARRIED)))
    for quote in (LEAD, "## Personal life", MARRIED):
        place = locate(quote, LIFE, read.spans)
        assert place is not None, quote
        assert LIFE[slice(*place)] == quote
    # The second sentence of a lead stands on a line of its own in extracts, and often is the one that says it.
    broken = packed(LIFE.replace(LEAD, f"{LEAD}\nShe was 1.81 m tall."), hit_of(LIFE, MARRIED, len(MARRIED)))
    assert "1.81 m" in broken.text
    late = packed(LIFE, (4000, 4300))
    assert "## Career" in late.text
    assert "### Late masts" in late.text
    assert "### Early masts" not in late.text


def test_the_built_in_models_read_the_lead_besides_what_the_hits_fill() -> None:
    place = hit_of(LIFE, MARRIED, len(MARRIED))
    read = window(Document("d", "Oda Velm", LIFE, "velm.md"), entry_of(LIFE, place), 1000)
    assert read.text.startswith(LEAD)
    assert LIFE[place[0] - 300 : place[1]] in read.text


def test_the_sixth_hit_is_read_where_wide_margins_would_fill_the_window() -> None:
    parts = [f"Claim {n} was made by office {n}. {FILLER}" for n in range(8)]
    text = f"{LEAD}\n\n" + "\n\n".join(parts)
    hits = [hit_of(text, f"Claim {n} ", 400) for n in range(8)]
    read = packed(text, *hits, size=4000)
    assert all(f"Claim {n} was made by office {n}." in read.text for n in range(6))
    wide = window(Document("d", "Oda Velm", text, "velm.md"), entry_of(text, *hits), 4000)
    assert "Claim 5 was" not in wide.text


def test_tables_with_a_hit_are_read_whole_and_the_rest_of_one_comes_with_its_head() -> None:
    ships = "\n".join(f"| Ship {n} | {1700 + n} |" for n in range(40))
    masts = "\n".join(f"| Mast {n} | {n} m |" for n in range(40))
    text = f"{LEAD}\n\n| Ship | Year |\n|---|---|\n{ships}\n\n{FILLER}\n\n| Mast | Height |\n|---|---|\n{masts}\n"
    document, hits = (
        Document("d", "Oda Velm", text, "velm.md"),
        (hit_of(text, "| Ship 9", 40), hit_of(text, "| Mast 9", 40)),
    )
    read = window(document, entry_of(text, *hits), 300, PACKED)
    assert ships in read.text
    assert masts in read.text
    rest = window_of_rest(document, entry_of(text), 600, [(0, text.index("| Ship 20 |"))])
    assert rest is not None
    assert "| Ship | Year |" in rest.text
    assert "| Ship 19 |" not in rest.text


@pytest.mark.parametrize("opening", ["She", "These two masts", "In 1921 she", "The couple", "Their son"])
def test_a_part_begins_where_what_it_speaks_of_is_named(opening: str) -> None:
    """In 8 of 24 questions the names stood in the sentence before the window."""
    names = "Ada Tarn led the works at Lower Orra for long. It was hard work."
    deciding = f"{opening} stood out. {FILLER}"
    text = f"{LEAD}\n\n## Works\n\n{FILLER} {names} {deciding}\n\n{FILLER}"
    read = packed(text, hit_of(text, f"{opening} stood out.", 400), size=900)
    assert "Ada Tarn led the works at Lower Orra for long." in read.text
    rest = window_of_rest(
        Document("d", "Oda Velm", text, "velm.md"), entry_of(text), 600, [(0, text.index(f"{opening} stood"))]
    )
    assert rest is not None
    assert "Ada Tarn" in rest.text


def test_a_short_section_is_read_whole() -> None:
    works = "Her works are: " + "; ".join(f"mast {n} of 19{n}" for n in range(10, 40)) + "."
    text = f"{LEAD}\n\n## Early\n\n{FILLER}\n\n## Works\n\n{works} All stand. They were paid.\n\n## Late\n\n{FILLER}"
    read = packed(text, hit_of(text, "They were paid.", 15), size=1500)
    assert "## Works" in read.text
    assert works in read.text


def test_an_llm_is_shown_the_lead_of_a_long_article(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / "Oda_Velm.md").write_text(LIFE, encoding="utf-8")
    settings = Settings(corpus="masts", cache=False, window_chars=1500, grading="off", correction="off")
    index_paths([tmp_path / "articles"], settings=settings, corpus="masts")
    quoted = {"statement": "Oda Velm was born in 1890.", "quote": LEAD[:60], "value": "1890"}
    answer = {"status": "answered", "answer": "In 1890 [1].", "short_answer": "1890", "confidence": 0.9}
    with ScriptedLLM({"extract": [{"facts": [quoted]}], "answer": [answer]}) as llm:
        rag = IterativeRAG.from_settings(settings, llm=llm)
        given = rag.ask("When was the wife of the painter Otto Brenk born?", strategy="crag")
        (citation,) = given.citations
        rag.close()
    request = " ".join(unnumbered(llm.requests[0].user).split())
    assert LEAD in request
    assert "## Personal life" in request
    assert LIFE[citation.start : citation.end] == citation.quote == LEAD[:61]


def test_the_built_in_models_read_what_likeliest_answers_of_a_long_article(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 73 needs whose deciding sentence stood deep in a long article 61 had it in the windows that they read, now
    71."""
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(tmp_path / "home"))
    walls = [
        f"Wall {n} of the harbour of Skarn is of the design that a harbour of Skarn needs. {FILLER}" for n in range(60)
    ]
    drawn = "The plans of the harbour were drawn by the architect Ada Holm before the first stone was laid."
    lead = "The harbour of Skarn is the only one on the western coast of Westmark."
    text = "\n\n".join(["# Harbour of Skarn", lead, *walls[:30], drawn, *walls[30:]])
    settings = Settings(corpus="skarn", cache=False, llm="builtin")
    (tmp_path / "harbour.md").write_text(text, encoding="utf-8")
    index_paths([tmp_path / "harbour.md"], settings=settings, corpus="skarn")
    with contextlib.closing(IterativeRAG.from_settings(settings)) as rag:
        assert rag.ask("Who designed the harbour of Skarn?").short_answer == "Ada Holm"
