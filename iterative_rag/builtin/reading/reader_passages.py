"""A page's prose in passages of a size that the trained reader takes in at once."""

from __future__ import annotations

from iterative_rag.builtin.reading.page_units import UnitPage, sentences

# Characters of a passage; a longer paragraph stays whole, and the reader reads it in windows.
SIZE = 700


def passages(page: UnitPage) -> list[str]:
    """Verbatim runs of the page's paragraphs; headings, gaps and tables end a passage."""
    found: list[str] = []
    run: list[str] = []
    for line in [*page.text.split("\n"), "#"]:
        bare = line.strip()
        if not bare:
            if run:
                run.append(line)
            continue
        ends = bare == "[...]" or bare.startswith(("#", "|"))
        if run and (ends or sum(map(len, run)) + len(line) > SIZE):
            found.append("\n".join(run).rstrip())
            run = []
        if not ends:
            run.append(line)
    return found


def sentence_at(passage: str, start: int) -> str:
    """The sentence of a passage that holds the character at `start`, verbatim; the line where there is none."""
    first = passage.rfind("\n", 0, start) + 1
    end = passage.find("\n", start)
    line = passage[first : end if end >= 0 else len(passage)]
    at = first
    for sentence in sentences(line):
        place = passage.find(sentence, at)
        if place <= start < place + len(sentence):
            return sentence
        at = place + len(sentence)
    return line.strip()
