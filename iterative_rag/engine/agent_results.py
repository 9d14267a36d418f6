"""What the calls of a turn found, what of it the model is shown, what a run remembers of it besides its state, and what
the quotes are worth that the model claims to have read.

Each result gets the room that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.llm.prompts import as_field
from iterative_rag.llm.replies.quoted_values import borne_out
from iterative_rag.protocols import FactCheck
from iterative_rag.retrieval.article_titles import ArticleTitles
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.retrieval.spans import Span
from iterative_rag.retrieval.windows import GAP, MOST_LOST, PACKED, window
from iterative_rag.text.comparing import stands_in
from iterative_rag.text.languages import language
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.value_members import with_implied
from iterative_rag.text.values import Mention
from iterative_rag.types.documents import Document, ShortlistedDocument
from iterative_rag.types.loop import Computation, Extract, Fact, Inquiry, LostRows, Need, Window
from iterative_rag.types.tool_use import FindCall, QuotedPassage, RowsCall, SectionCall, ToolCall, ToolResult

# Characters that an article is shown with at least, if it has so many: a whole passage with the heading above it.
LEAST_SHOWN = 600
# Where there is less room for an article than this, its lead would leave none for the passage that was found.
LEAST_WITH_LEAD = 900
WITH_LEAD = replace(PACKED, lead=300, tables=0)
HITS_ALONE = replace(WITH_LEAD, lead=0)
REFUSED = "refused quotes"
# Facts are shown in full in each turn.
_TOLD_ELSEWHERE = (REFUSED, "note")
SHOWN_BEFORE = "(shown before; find_in_article or read_section shows it again)"
SHOWN_ABOVE = "(shown above)"
WHOLE = "\n(this is the whole article)"
# The characters of the line that is kept of each earlier call.
LOG_CHARS = 160
CUT = "\n[cut here; find_in_article or list_rows with a filter shows less]"


@dataclass(frozen=True, slots=True)
class Passages:
    """Parts of a document that a call found. A search finds an `entry` instead, whose window is cut to the room, and to
    `most` characters."""

    document: Document
    spans: tuple[Span, ...] = ()
    entry: ShortlistedDocument | None = None
    most: int = 0

    @property
    def length(self) -> int:
        """The characters that it would take if there were room for everything."""
        return min(self.most, len(self.document.text)) if self.entry else sum(end - start for start, end in self.spans)

    def within(self, room: int) -> tuple[Span, ...]:
        """Its parts, those of an entry for about `room` characters."""
        if self.entry is None:
            return self.spans
        layout = WITH_LEAD if room >= LEAST_WITH_LEAD else HITS_ALONE
        return window(self.document, self.entry, room, layout).spans


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one call, before it is known what the model has seen.

    `told` is our own word on it; `listed` are titles and headings, which are text of documents. `shortlists` are
    those of a search's queries; `lost` are the rows that were asked for, and that the corpus lacks.
    """

    asked: str
    told: str
    listed: str = ""
    passages: tuple[Passages, ...] = ()
    shortlists: tuple[tuple[Need, tuple[ShortlistedDocument, ...]], ...] = ()
    lost: LostRows | None = None
    computation: Computation | None = None

    @property
    def length(self) -> int:
        return len(self.listed) + sum(passages.length + len(passages.document.title) for passages in self.passages)


class ShownTexts:
    """What a run has shown of which documents, in all and in the present turn."""

    def __init__(self, titles: ArticleTitles) -> None:
        self._titles = titles
        self.opened: dict[str, Document] = {}
        self._shown: dict[str, list[Span]] = {}
        self._in_sight: dict[str, list[Span]] = {}

    def texts(self, results: Sequence[Found], chars: int) -> Iterator[str]:
        """What documents say, for each call, in `chars` characters together. What a short result leaves, longer ones
        get; no text and no list of titles is shown twice."""
        told: set[str] = set()
        self._in_sight = {}
        for result, room in zip(results, shared(chars, [result.length for result in results]), strict=True):
            yield self.text(replace(result, listed="") if result.listed in told else result, room)
            told.add(result.listed)

    def text(self, result: Found, chars: int) -> str:
        """What documents say, in `chars` characters. A search does not show again what was shown; who asks for a place
        of an article gets it, unless it is in sight."""
        parts = [result.listed] if result.listed else []
        hidden: list[str] = []
        for n, passages in enumerate(result.passages):
            left = chars - sum(map(len, parts))
            label = as_field(self._titles.label(passages.document))
            if left < min(LEAST_SHOWN, passages.length) and (n or left <= 0):
                hidden.append(label)
                continue
            fitting = result.passages[n : n + max(1, left // LEAST_SHOWN)]
            room = shared(left, [other.length for other in fitting])[0]
            parts.append(f"# {label}{lost_rows_told(passages.document)}\n{self._body(passages, room)}")
        if hidden:
            parts.append(f"(not shown, since there is no more room: {' · '.join(hidden)})")
        return "\n\n".join(parts)

    def _body(self, passages: Passages, room: int) -> str:
        """The parts that were not shown before, as far as there is room; those count as shown from now on."""
        text = passages.document.text
        self.opened.setdefault(passages.document.id, passages.document)
        seen = self._shown.setdefault(passages.document.id, [])
        in_sight = self._in_sight.setdefault(passages.document.id, [])
        fresh = _outside(passages.within(room), in_sight)
        new = _outside(fresh, seen) if passages.entry else fresh
        if not new:
            return SHOWN_BEFORE if fresh else SHOWN_ABOVE
        shown: list[str] = []
        for start, end in new:
            said = text[start:end].strip()
            left = room - sum(map(len, shown))
            if len(said) > left:
                return GAP.join([*shown, said[:left]] if left > 0 else shown) + CUT
            shown.append(said)
            seen.append((start, end))
            in_sight.append((start, end))
        return GAP.join(shown) + WHOLE * (len(shown[0]) == len(text.strip()))


def _outside(spans: Sequence[Span], known: Sequence[Span]) -> list[Span]:
    """The spans that lie in none of those known."""
    return [span for span in spans if not any(start <= span[0] and span[1] <= end for start, end in known)]


def lost_rows_told(document: Document) -> str:
    """` (without their rows in this corpus: Track listing · Charts)`; "" where nothing is missing."""
    names = list(map(as_field, document.lost_rows))
    more = f" and {len(names) - MOST_LOST} more" if len(names) > MOST_LOST else ""
    return f" (without their rows in this corpus: {' · '.join(names[:MOST_LOST])}{more})" if names else ""


def shared(room: int, wanted: Sequence[int]) -> list[int]:
    """Room for each that wants some: those that want little get it, the others the same share of what is left."""
    shares = [0] * len(wanted)
    for served, n in enumerate(sorted(range(len(wanted)), key=lambda n: wanted[n])):
        shares[n] = max(0, min(wanted[n], room // (len(wanted) - served)))
        room -= shares[n]
    return shares


@dataclass(slots=True)
class AgentMemory:
    """`made` are all calls, `results` those of the last turn, `log` has a line for every call but those whose results
    stay in sight."""

    log: list[str] = field(default_factory=list)
    results: tuple[ToolResult, ...] = ()
    made: set[ToolCall] = field(default_factory=set)
    computations: list[Computation] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    lost: list[LostRows] = field(default_factory=list)

    def begin(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Those of a turn's calls that are to be carried out, each once. A place in an article is shown again: its
        results may be out of view."""
        looks = FindCall | SectionCall | RowsCall
        new = [call for call in dict.fromkeys(calls) if isinstance(call, looks) or call not in self.made]
        self.made.update(new)
        return new

    def remember(self, results: Sequence[ToolResult]) -> None:
        """The results of a turn, which the next one shows."""
        self.results = tuple(results)
        self.log += [_line(result) for result in results if result.call not in _TOLD_ELSEWHERE]

    def first_time(self, what: str) -> bool:
        """Whether the model has not been told this yet."""
        new = what not in self.told
        self.told.add(what)
        return new


def _line(result: ToolResult) -> str:
    """A call in one line: what came of it, and for a search the titles."""
    titles = result.text.partition("\n")[0] if result.call.startswith("search ") else ""
    return " ".join(f"{result.call}: {result.told} {titles}".split())[:LOG_CHARS]


# --- quotes -----------------------------------------------------------------------------------


def verified(
    quoted: QuotedPassage, inquiry: Inquiry, titles: ArticleTitles, opened: Sequence[Document], check: FactCheck | None
) -> Fact | None:
    """The fact, with what the `check` says of it, if the quote stands in an article of that title or, where it names
    none that does, in one that was `opened`; else None."""
    named = titles.articles(quoted.title) if quoted.title else []
    for document in (*named, *opened):
        span = locate(quoted.quote, document.text, [(0, len(document.text))])
        if span is not None:
            return _fact(quoted, inquiry, document, *span, check)
    return None


def values_of(
    computation: Computation, named: Sequence[int], inquiry: Inquiry, earlier: Sequence[Computation]
) -> tuple[tuple[int, ...], list[str]]:
    """Which of the facts that a computation names hold one of its values, and the values that none of them holds, nor
    an earlier result or the question; of a single digit, which may be a number of things counted, nothing is said."""
    expression = computation.expression
    wanted = single(mentions(expression, "en"))
    quoted = {n: _values(inquiry.facts[n].quote) for n in named if n < len(inquiry.facts)}
    facts = [n for n, values in quoted.items() if any(stands_in(value, other) for value in wanted for other in values)]
    known = [value for values in quoted.values() for value in values]
    known += [value for text in (inquiry.original, *(step.result for step in earlier)) for value in _values(text)]
    spelt = [expression[value.start : value.end] for value in wanted if not any(stands_in(value, k) for k in known)]
    return tuple(facts), [value for value in spelt if len(value) > 1] if named else []


def _values(text: str) -> tuple[Mention, ...]:
    return with_implied(single(mentions(text, language(text) or "en")), text)


def _fact(
    quoted: QuotedPassage, inquiry: Inquiry, document: Document, start: int, end: int, check: FactCheck | None
) -> Fact:
    """The fact, with no value that its quote does not support, and no question that names what was never shown."""
    quote = document.text[start:end]
    seen = Window(document.id, document.title, document.source, ((0, len(document.text)),), document.text)
    known = " ".join([inquiry.original, *(fact.quote for fact in inquiry.facts)])
    said = f"{quoted.question} {quoted.value}".strip()
    held = borne_out(Extract(said or quote, quote, quoted.value), Need(known), seen)
    asked = quoted.question if held.statement == said else ""
    # Values of facts that answer different questions must not look like answers to the same one.
    held = replace(held, value=held.value if asked else "")
    return fact_at(document, start, end, Need(" ".join(asked.split()) or inquiry.original), held, check)
