"""Sections whose rows are not in the text: extracts of articles keep the heading of a table and lose its rows."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from iterative_rag.retrieval.article_parts import asked_rows, row_words, stems
from iterative_rag.retrieval.chunking import HEADING_CHARS
from iterative_rag.retrieval.need_words import ADDITION, is_titled
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import content_words, is_function_word
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Document, Need
from iterative_rag.types.documents import ROWS_LOST_KEY

# A longer line tells something itself; a shorter one below a heading may only announce rows, or explain their signs.
CAPTION_CHARS = 160
# A line of prose is longer.
PROSE_CHARS = 90
# Extracts mark the last of their headings alone.
FEWEST_MARKS = 2
# Words of a heading over rows.
LONGEST = 8
# Names of one document that are kept.
MOST_NAMES = 40

_MARKED = lazy_pattern(r"(#{1,6}|={2,6})[ \t]*([^#=\s].*?)[ \t=#]*")
_NUMBERED = lazy_pattern(
    r"(?:1[5-9]|20)\d\d(?:s|[–-]\d{2,4}|[–-]present)?"
    r"|(?:Season|Series|Game|Week|Round|Group|Section) (?:\d+|[A-H]|one|two|three|four|five|six|seven)(?: \([^()]*\))?"
    r"|[^()]*\b(?:wins?|titles?|finals?|records?|podiums|medals)\b[^()\d]*\d*\s?\(\d{1,3}(?:[–-]\d{1,3}){0,2}\)"
    r"|(?:Singles|Doubles|Mixed doubles):? \d+ \([^()]*\)"
)
_LIST = frozenset({"list"})
_TABLE = lazy_pattern(r"\bfollowing (?:\w+ ){0,2}(?:table|chart)s?\b|\b(?:table|chart)s? below\b", re.IGNORECASE)
_LISTING = lazy_pattern(r"This list (?:includes|contains|comprises|shows|gives|is)\b")
_KEY = lazy_pattern(r"(?:key|legend)s?", re.IGNORECASE)
_YEAR = lazy_pattern(r"\b(?:1[5-9]|20)\d\d\b")
# What a line of a list has, and a heading hardly.
_ENTRY = lazy_pattern(r"^\s|[:;\"“”|=@]|, | – | - | as | by [A-Z]\w+ [A-Z]|\((?!\d{4}[–-]|continued)")
_IN_BRACKETS = lazy_pattern(r"\([^()]*\)")
_JOINING = ("by", "of", "per", "for", "in", "with", "at", "since")
_WORD = lazy_pattern(r"[^\W\d_]+")
_SOURCE = lazy_pattern(r"^(?:source|reference|note)s?\b", re.IGNORECASE)
_CAPTION = lazy_pattern(
    r"^(?:key|legend|sources?|references|note|bold|italics|correct|updated)\b"
    r"|^all (?:times|songs|tracks|credits|lyrics|music)\b"
    r"|^[*†‡^]|\blisted first\b|^as of\b.{0,60}$|\b(?:indicates?|denotes?|below|adapted from|in bold(?:face)?)\b|:$"
    r"|\bgiven in\b|^[\"“]?\w{1,12}[\"”]? = |\bunless (?:otherwise )?(?:specified|stated|noted)\b|^the following\b",
    re.IGNORECASE,
)


def lost_rows(text: str) -> tuple[str, ...]:
    """The headings whose rows are missing, in the order of the text, each once."""
    lines = text.split("\n")
    marks = {
        n: match for n, line in enumerate(lines) if line[:1] in "#=" and (match := _MARKED.fullmatch(line.strip()))
    }
    lost = _below_marks(lines, marks) if len(marks) >= FEWEST_MARKS else _in_plain_text(lines, marks)
    return tuple(dict.fromkeys([*lost, *_spoken_of(lines, marks)]))[:MOST_NAMES]


def _spoken_of(lines: Sequence[str], marks: Mapping[int, re.Match[str]]) -> Iterator[str]:
    """The headings above sentences that speak of a table, in a text without any, or of a list that does not follow."""
    if any(line.startswith("|") for line in lines):
        return
    heading = ""
    for n, line in enumerate(lines):
        if n in marks:
            heading = marks[n][2]
        elif _looks_like_heading(line) and lines[n - 1].strip() in ("", heading):
            heading = line.strip()
        elif heading and (_TABLE.search(line) or (_LISTING.match(line) and _ends_section(lines, n))):
            yield heading


def _ends_section(lines: Sequence[str], n: int) -> bool:
    following = list(takewhile(str.strip, lines[n + 2 :]))
    return lines[n + 1 : n + 2] == [""] and _begins_section(following)


def with_lost_rows(document: Document) -> Document:
    """The document with the headings whose rows are missing in its metadata."""
    kept = tuple(pair for pair in document.metadata if pair[0] != ROWS_LOST_KEY)
    return replace(document, metadata=(*kept, *((ROWS_LOST_KEY, name) for name in lost_rows(document.text))))


def lost_for(document: Document, need: Need) -> str:
    """The first section of a document that should hold what a need asks for, and has lost its rows; "" for none, also
    where the need neither names the document nor has the words of its title."""
    title, subject = content_words(document.title), content_words(ADDITION.sub("", document.title)) - _LIST
    if not (is_titled(document.title, need.see) or stems(" ".join(subject)) <= stems(need.question)):
        return ""
    asked = content_words(need.question) - title
    years = set(_YEAR.findall(need.question))
    main = ""  # what the title says, or in an article that is a list "List of ..."
    for name in document.lost_rows:
        said = content_words(name)
        words = said - title
        if words & asked or asked & asked_rows(words) or any(year[:3] == name[:3] for year in years):
            return name
        main = main or (name if said and (not words or _LIST & said & title) else "")
    return main


# --- headings that are marked ---------------------------------------------------------------------


def _below_marks(lines: Sequence[str], marks: Mapping[int, re.Match[str]]) -> Iterator[str]:
    """A section is lost where neither it nor a section below it holds more than a line that announces rows."""
    for n, mark in marks.items():
        end = next((m for m, later in marks.items() if m > n and len(later[1]) <= len(mark[1])), len(lines))
        body = [line for m, line in enumerate(lines[n:end], start=n) if line.strip() and m not in marks]
        if (not body or (len(body) == 1 and _only_announces(body[0]))) and not _is(mark[2], "apparatus"):
            yield mark[2]


# --- headings that only look so -------------------------------------------------------------------


def _in_plain_text(lines: Sequence[str], marks: Container[int]) -> Iterator[str]:
    """A blank line stands before a heading only where something was told: so what stands in one block above another
    heading is a heading without a body of its own. What follows a heading after a blank line is a list, its body."""
    blocks: list[list[str]] = [[]]
    for n, line in enumerate(lines):
        if n in marks:
            blocks += [[""], []]
        elif line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    legends = [bool(block) and all(map(_only_announces, block)) for block in blocks]
    blocks = [block for block, legend in zip(blocks, legends, strict=True) if block and not legend]
    waits = False  # whether the block before ends on a heading, so that this one is its body
    for block, following in zip(blocks, [*blocks[1:], []], strict=False):
        size = next((n for n, line in enumerate(block) if not _looks_like_heading(line)), len(block))
        run, body = block[:size], block[size:]
        listed = bool(run) and not _is_known(run[0]) and (waits or _is_entry(run[0]))
        if run and not listed:
            yield from _lost_of(run, body, following)
        waits = bool(run) and not body and (size == 1 or _is_known(run[-1])) and not listed
        waits = waits or (bool(body) and body[-1].rstrip().endswith(":") and not _SOURCE.match(body[-1]))


def _lost_of(run: Sequence[str], body: Sequence[str], following: Sequence[str]) -> Iterator[str]:
    """The lost ones of headings that follow one another, above what stands below the last of them."""
    run = run[1:] if _KEY.fullmatch(run[0].strip()) and run[1:] else run
    own = next((n for n, line in enumerate(run) if _is(line, "apparatus")), len(run))
    told = own == len(run)  # whether the last heading may have a body, and those right above it may hold it
    entries = [n for n, line in enumerate(run) if n and _is_entry(line)]
    if told and entries and not (body and entries == [len(run) - 1]):
        run, body = run[: entries[0]], run[entries[0] :]
    prose = bool(body) and (len(body[0]) > PROSE_CHARS or body[0].rstrip().endswith(":"))
    alone = bool(body) and all(map(_only_announces, body)) and not _is_list(following, below=body[-1])
    if _announces(run[-1]):
        unfollowed = not body and _begins_section(following)
    else:
        unfollowed = not body and following[:1] == [""] and len(run) == 1
    anchors = [n for n, line in enumerate(run[:own]) if _is_known(line)]
    anchors += [len(run) - 1] if prose or alone or unfollowed else []
    last = min(own, max(anchors, default=-1)) if told else own
    if last == len(run) - 1 and (alone or unfollowed):
        told, last = False, len(run)
    listed = told and (bool(run[last + 1 :]) or (bool(body) and not prose))
    said = [line for line in run[:own] if " " in line and not _is_known(line)]
    if 2 * sum(is_function_word(folded(line).split()[0], "en") for line in said) > own > 3:
        return  # the lines of a poem
    for n, line in enumerate(run[: max(last, 0)]):
        if _is(line, "apparatus") or (listed and n == last - 1 and not _words(line).isdisjoint(row_words()["holding"])):
            continue
        if not told or n < last - 2 or _is_empty(line, run[n + 1]):
            yield line.strip()


def _is_empty(heading: str, below: str) -> bool:
    """Whether a heading right above another one has no body, and the other does not stand below it."""
    if _is(below, "tops") and not _is(heading, "tops"):
        return True
    rows_below = _announces(below) or _is_entry(below) or _NUMBERED.search(below)
    parents = row_words()["parents"] | (row_words()["gathering"] if rows_below else frozenset())
    beside = re.match(rf"{re.escape(folded(heading))} (?:{'|'.join(_JOINING)})\b", folded(below))  # "Winners by school"
    return _announces(heading) and (beside is not None or _words(heading).isdisjoint(parents))


def _words(heading: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded(heading)))


def _begins_section(block: Sequence[str]) -> bool:
    """Whether a block is a section of its own, and not the list of the section before it."""
    if not block or not block[0] or _is_known(block[0]) or any(_is(line, "apparatus") for line in block):
        return True
    titled = _looks_like_heading(block[0]) and not _is_entry(block[0])
    return titled and len(block) > 1 and not all(map(_looks_like_heading, block[1:3]))


def _is_list(block: Sequence[str], below: str) -> bool:
    """Whether a block is what a line above it announces."""
    if below.rstrip().endswith(":") and not _SOURCE.match(below):
        return not _begins_section(block)
    return len(block) > 1 and not _begins_section(block)


def _is_entry(line: str) -> bool:
    return _ENTRY.search(line) is not None and _NUMBERED.fullmatch(line) is None


def _looks_like_heading(line: str) -> bool:
    said = line.strip()
    fits = 0 < len(said) <= HEADING_CHARS and said[-1] not in ".,:;!?…\"'”’"
    return fits and (said[0].isupper() or said[0].isdigit()) and not (_only_announces(said) and " " in said)


def _only_announces(line: str) -> bool:
    return len(line) <= CAPTION_CHARS and _CAPTION.search(line.strip()) is not None


def _is_known(heading: str) -> bool:
    return _announces(heading) or _is(heading, "apparatus") or _is(heading, "tops")


def _announces(heading: str) -> bool:
    """Whether a heading stands over rows: "Track listing", "Career statistics", "1990s", "List of champions"."""
    words = _WORD.findall(folded(_IN_BRACKETS.sub("", heading)))
    if _NUMBERED.fullmatch(heading.strip()) or _is(heading, "rows"):
        return True
    named = words[:1] if words[1:2] and words[1] in _JOINING else words[-1:]
    return len(words) <= LONGEST and not row_words()["nouns"].isdisjoint(named)


def _is(heading: str, kind: str) -> bool:
    return " ".join(_WORD.findall(folded(heading))) in row_words()[kind]
