"""Splits a page's prose into passages that fit one window of the trained reader."""

from __future__ import annotations

from iterative_rag.builtin.reading.page_units import UnitPage, sentences

# Characters of a passage. A longer paragraph stays whole; the reader splits it into windows.
SIZE = 700


def passages(page: UnitPage) -> list[str]:
    """Verbatim passages of consecutive paragraphs, ended by headings, omissions and tables."""
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
    """The verbatim sentence of a passage that contains the character at `start`; its line if there is none."""
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
