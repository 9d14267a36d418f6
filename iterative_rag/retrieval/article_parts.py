"""Parts of one article that a reader asks for: sections and the rows of tables and lists by name, places by words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import TypeVar

from iterative_rag.retrieval.chunking import Unit, headings, sentences
from iterative_rag.retrieval.need_words import holds_words, plain_words
from iterative_rag.retrieval.spans import Span
from iterative_rag.text.comparing import shared_beginning
from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.languages import is_function_word, language
from iterative_rag.text.markdown_rows import ENTRY_SIGN, is_rule
from iterative_rag.text.patterns import lazy_pattern, table_beside

T = TypeVar("T")

# A word stands for those that share its first letters: "marry" and "married", "win" and "wins".
STEM = 4
# A list has at least so many entries, and one of plain lines so many: of these so large a share is more than a word, as
# headings without text are not.
FEWEST_ENTRIES, FEWEST_LINES, TELLING = 2, 4, 0.6

_ROW = lazy_pattern(r"^[ \t]*\|.*$", re.MULTILINE)
_ITEM = lazy_pattern(rf"^{ENTRY_SIGN}.*$", re.MULTILINE)
# A line of plain text that is no sentence.
_SHORT_LINE = lazy_pattern(rf"^(?!{ENTRY_SIGN})[^\sa-z|#=].{{0,199}}(?<![.!?:…])$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """`start` is that of the heading; the section ends where one of the same or a higher level begins."""

    heading: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table, or a list, whose entries are its rows. `heading` is that of the section it stands in; `header` the lines
    above its `rows`."""

    heading: str
    header: tuple[Span, ...]
    rows: tuple[Span, ...]


def sections(text: str) -> list[Section]:
    """The sections in document order, each with those below it."""
    heads = headings(text, 0, len(text))
    ends = [
        next((later.start for later in heads[n + 1 :] if later.level <= heading.level), len(text))
        for n, heading in enumerate(heads)
    ]
    return [Section(_name(text, heading), heading.start, end) for heading, end in zip(heads, ends, strict=True)]


_words_table = partial(table_beside, __file__, "row_words.toml")


@cache
def row_words() -> dict[str, frozenset[str]]:
    """Headings over rows, by kind, and those that stand over none."""
    kinds = _words_table()["rows"].items()
    return {kind: frozenset(" ".join(name.split()) for name in names.split(";")) for kind, names in kinds}


def asked_rows(heading: frozenset[str]) -> frozenset[str]:
    """The words by which a question asks for the rows below a heading of these words: "film" for a filmography."""
    rows = (row for row in _words_table()["asked_rows"] if heading.intersection(row["headings"].split()))
    return frozenset(word for row in rows for word in row["words"].split())


def section_named(text: str, heading: str) -> Section | None:
    """The section whose heading is nearest to what is asked for; None where none shares a word with it."""
    return _nearest(heading, [(section.heading, section) for section in sections(text)])


def beginning(text: str, size: int) -> Span:
    """The article up to its second section, `size` characters at most."""
    parts = [section for section in sections(text) if text[: section.start].strip()]
    return 0, min(parts[0].start if parts else len(text), size)


def tables(text: str) -> list[Table]:
    """The tables in document order."""
    runs = [(run, len(run.rows) > 1 and (2 if is_rule(text[slice(*run.rows[1])]) else 1)) for run in _runs(text, _ROW)]
    return [Table(run.heading, run.rows[:header], run.rows[header:]) for run, header in runs]


def lists(text: str) -> list[Table]:
    """The lists with bullets or numbers, then those of plain lines, each in document order."""
    titled = headings(text, 0, len(text))
    marked = [run for run in _runs(text, _ITEM) if len(run.rows) >= FEWEST_ENTRIES]
    plain = [_without_heading(text, run, titled) for run in _runs(text, _SHORT_LINE)]
    return [*marked, *(run for run in plain if _is_list([text[slice(*line)] for line in run.rows]))]


def _without_heading(text: str, run: Table, titled: Sequence[Unit]) -> Table:
    """A run of plain lines without the heading that it begins with; what follows a heading is none. "See also" and the
    like end it: what is linked below is no row of a section above that has none."""
    ends = (n for n, line in enumerate(run.rows) if folded(text[slice(*line)]).strip() in row_words()["apparatus"])
    lines = run.rows[: next(ends, len(run.rows))]
    first = next((n for n, other in enumerate(titled) if lines and other.start == lines[0][0]), None)
    if first is None or (first and not text[titled[first - 1].end : lines[0][0]].strip()):
        return replace(run, rows=lines)
    return Table(_name(text, titled[first]), (), lines[1:])


def _is_list(lines: Sequence[str]) -> bool:
    """Whether plain lines that follow one another list something, and are not headings without text."""
    telling = [line for line in lines if " " in line.strip() or any(sign.isdigit() for sign in line)]
    return len(lines) >= FEWEST_LINES and len(telling) >= TELLING * len(lines)


def _runs(text: str, line: re.Pattern[str]) -> list[Table]:
    """The lines of one kind that follow one another, as rows without a header, with the heading above them."""
    runs: list[list[Span]] = []
    titled = headings(text, 0, len(text))
    for match in line.finditer(text):
        if runs and text[runs[-1][-1][1] : match.start()] in ("", "\n"):
            runs[-1].append(match.span())
        else:
            runs.append([match.span()])
    above = ([_name(text, heading) for heading in titled if heading.start < lines[0][0]] for lines in runs)
    return [Table(names[-1] if names else "", (), tuple(lines)) for lines, names in zip(runs, above, strict=True)]


def table_named(text: str, candidates: Sequence[Table], name: str) -> Table | None:
    """Of these tables or lists the one of that number (from 1), or whose heading or header is nearest to the name;
    without a name, or of those with just this heading, the longest."""
    headed = [table for table in candidates if not name.strip() or stems(table.heading) == stems(name)]
    if headed or not name.strip():
        return max(headed, default=None, key=lambda table: len(table.rows))
    if name.strip().isdecimal():
        return candidates[int(name) - 1] if 0 < int(name) <= len(candidates) else None
    told = [" ".join([part.heading, *(text[slice(*line)] for line in part.header)]) for part in candidates]
    return _nearest(name, list(zip(told, candidates, strict=True)))


def rows(text: str, table: Table, words: str) -> list[Span]:
    """The rows that hold all words of a filter; all rows without one."""
    wanted = stems(words)
    return [row for row in table.rows if wanted <= stems(text[slice(*row)])]


def _name(text: str, heading: Unit) -> str:
    return text[heading.start : heading.end].strip("#= \t")


def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text, and its numbers."""
    return frozenset(word if word.isdigit() else word[:STEM] for word in folded_words(text))


def _nearest(name: str, parts: Sequence[tuple[str, T]]) -> T | None:
    """The first of those parts whose words are most like those of the name; None where none shares a word with it."""
    wanted = stems(name)
    shares = [len(wanted & held) / (len(wanted | held) or 1) for held in (stems(told) for told, _ in parts)]
    best = max(shares, default=0.0)
    return parts[shares.index(best)][1] if best else None


# --- places ------------------------------------------------------------------------------------

# Places of one article that are shown.
MOST_PLACES = 6
# Forms of one word begin alike, for so many letters, and end differently in so many at most: "marry" and "married".
ALIKE, ENDING = 4, 3


@dataclass(frozen=True, slots=True)
class WordPlaces:
    """Sentences and table rows in document order, at most MOST_PLACES of `count`. `exact`: they hold the words one
    after the other; else near one another, in a sentence or two that follow one another."""

    exact: bool
    count: int
    spans: tuple[Span, ...]


def word_places(text: str, words: str) -> WordPlaces | None:
    """The places with the whole phrase, ignoring case, accents and typography; else with all its words near one another
    in any form. None where there is none."""
    asked = plain_words(words)
    if not asked:
        return None
    spans = sentences(text)
    held = [plain_words(text[start:end]) for start, end in spans]
    if exact := [span for span, said in zip(spans, held, strict=True) if holds_words(said, asked)]:
        return WordPlaces(True, len(exact), tuple(exact[:MOST_PLACES]))
    code = language(text[:2000])
    wanted = [word for word in asked.split() if not is_function_word(word, code)] or asked.split()
    missing = [{word for word in wanted if not any(_alike(word, form) for form in said.split())} for said in held]
    places = [span for span, lacks in zip(spans, missing, strict=True) if not lacks]
    if not places:
        pairs = pairwise(zip(spans, missing, strict=True))
        places = [(first[0], second[1]) for (first, lacks), (second, lacks_too) in pairs if not lacks & lacks_too]
    return WordPlaces(False, len(places), tuple(places[:MOST_PLACES])) if places else None


def _alike(word: str, other: str) -> bool:
    """Whether two words may be forms of one. Numbers are not: 1910 is not 1911."""
    if word == other:
        return True
    if word.isdigit() or other.isdigit():
        return False
    same = shared_beginning(word, other)
    return same >= ALIKE and max(len(word), len(other)) - same <= ENDING
