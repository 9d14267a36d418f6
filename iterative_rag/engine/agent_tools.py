"""The tools of the strategy `agent`, over one corpus: what a call finds, and what of it the model has not seen yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import shortened, shown
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.article_parts import (
    Span,
    beginning,
    places,
    rows,
    section_named,
    sections,
    table_named,
    tables,
)
from iterative_rag.retrieval.article_titles import ArticleTitles
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.retrieval.windows import GAP, PACKED, window
from iterative_rag.settings import Settings
from iterative_rag.system.threads import LastingPool
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    CalculateCall,
    Computation,
    Document,
    FindCall,
    Need,
    RowsCall,
    SearchCall,
    SectionCall,
    ShortlistedDocument,
    ToolCall,
    WrongCall,
)

# Documents of one search whose text is shown, if there is room; of the others the title.
SHOWN_IN_FULL = 4
# Characters of one document that a search shows at least.
LEAST_SHOWN = 400
# Headings that a model is told of, where an article has no such section.
HEADINGS_TOLD = 40
SHOWN_BEFORE = "(shown before)"
CUT = "\n[cut here; find_in_article or list_rows with a filter shows less]"
_calls = LastingPool("iterative-rag tools", threads=64)


@dataclass(frozen=True, slots=True)
class Passages:
    """Parts of a document that a call found."""

    document: Document
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one call, before it is known what the model has seen.

    `told` is our own word on it; `listed` are titles and headings, which are text of documents. `shortlists` are
    those of a search's queries.
    """

    asked: str
    told: str
    listed: str = ""
    passages: tuple[Passages, ...] = ()
    shortlists: tuple[tuple[Need, tuple[ShortlistedDocument, ...]], ...] = ()
    computation: Computation | None = None


@dataclass(slots=True)
class Toolbox:
    """The tools of one run. It remembers which parts of which documents were shown."""

    corpus: Corpus
    settings: Settings
    titles: ArticleTitles = field(init=False)
    _shown: dict[str, list[Span]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.titles = ArticleTitles(self.corpus)

    def carry_out(self, calls: Sequence[ToolCall], chars: int) -> list[Found]:
        """All calls at once; `chars` is what each may show."""
        futures = [_calls.submit(self._carried_out, call, chars) for call in calls]
        return [future.result() for future in futures]

    def opened(self) -> list[str]:
        """The ids of the documents that were shown."""
        return list(self._shown)

    def text(self, found: Found, chars: int) -> str:
        """What documents say, in `chars` characters. A search does not show again what was shown; who asks for a place
        of an article gets it."""
        parts = [found.listed] if found.listed else []
        hidden = 0
        for one in found.passages:
            seen = self._shown.setdefault(one.document.id, [])
            known = seen if found.shortlists else []
            new = [span for span in one.spans if not any(a <= span[0] and span[1] <= b for a, b in known)]
            left = chars - sum(map(len, parts))
            if left <= 0:
                hidden += 1
                continue
            body = GAP.join(one.document.text[start:end].strip() for start, end in new) if new else SHOWN_BEFORE
            if len(body) > left:
                body = body[: max(0, left)] + CUT
            else:
                seen += new
            parts.append(f"# {one.document.title}\n{body}")
        if hidden:
            parts.append(f"({counted(hidden, 'more article')} not shown: ask for fewer at once)")
        return "\n\n".join(parts)

    def _carried_out(self, call: ToolCall, chars: int) -> Found:
        match call:
            case SearchCall():
                return self._search(call, chars)
            case FindCall(title, words):
                return self._find(f"find_in_article {title}: {words}", title, words)
            case SectionCall(title, heading):
                return self._section(f"read_section {title}: {heading or 'beginning'}", title, heading, chars)
            case RowsCall():
                return self._rows(call)
            case CalculateCall(expression, facts):
                return _calculated(expression, facts)
            case WrongCall(tool, reason):
                return Found(tool or "call", f"refused: {reason}")
            case _:
                raise AssertionError(f"{type(call).__name__} is not a tool over the corpus")

    def _search(self, call: SearchCall, chars: int) -> Found:
        needs = [Need(query) for query in call.queries]
        settings = self.settings
        found = shortlist(
            self.corpus, needs, documents=settings.shortlist, passages=settings.passages, sharpen=True, keep_tail=True
        )
        size = max(LEAST_SHOWN, chars // (SHOWN_IN_FULL * len(needs)))
        passages: dict[str, Passages] = {}
        for rank in range(SHOWN_IN_FULL):
            for documents in found:
                for entry in documents[rank : rank + 1]:
                    document = self.corpus.document(entry.document_id)
                    spans = window(document, entry, size, PACKED).spans
                    passages.setdefault(document.id, Passages(document, tuple(spans)))
        for entry in (entry for documents in found for entry in documents):
            self.titles.learn(entry.title, entry.document_id)
        listed = "\n".join(
            f"{query}: {' · '.join(entry.title for entry in documents) or 'nothing'}"
            for query, documents in zip(call.queries, found, strict=True)
        )
        told = counted(len({entry.document_id for documents in found for entry in documents}), "article")
        shortlists = tuple(zip(needs, found, strict=True))
        return Found(f"search {' | '.join(call.queries)}", told, listed, tuple(passages.values()), shortlists)

    def _find(self, asked: str, title: str, words: str) -> Found:
        document = self.titles.article(title)
        if document is None:
            return self._no_article(asked, title)
        spans = places(document.text, words)
        if not spans:
            return Found(asked, "the article does not hold these words")
        return Found(asked, counted(len(spans), "place"), passages=(Passages(document, tuple(spans)),))

    def _section(self, asked: str, title: str, heading: str, chars: int) -> Found:
        document = self.titles.article(title)
        if document is None:
            return self._no_article(asked, title)
        headings = [one.heading for one in sections(document.text)[:HEADINGS_TOLD]]
        listed = f"Sections: {' · '.join(headings) or 'none'}"
        if not heading:
            span = beginning(document.text, max(chars, LEAST_SHOWN))
            return Found(asked, counted(len(headings), "section"), listed, (Passages(document, (span,)),))
        section = section_named(document.text, heading)
        if section is None:
            return Found(asked, "the article has no section like that", listed)
        return Found(asked, "found", passages=(Passages(document, ((section.start, section.end),)),))

    def _rows(self, call: RowsCall) -> Found:
        asked = f"list_rows {call.title}: {' · '.join(filter(None, (call.table, call.filter))) or 'all'}"
        document = self.titles.article(call.title)
        if document is None:
            return self._no_article(asked, call.title)
        found = tables(document.text)
        named = (f"{n}. {table.heading or document.title} ({len(table.rows)})" for n, table in enumerate(found, 1))
        listed = f"Tables, with their rows: {' · '.join(named) or 'none'}"
        table = table_named(document.text, call.table)
        if table is None:
            return Found(asked, "the article has no table like that", listed)
        chosen = rows(document.text, table, call.filter)
        if not chosen:
            return Found(asked, f"none of {counted(len(table.rows), 'row')} holds all these words", listed)
        told = f"{len(chosen)} of {counted(len(table.rows), 'row')}"
        return Found(asked, told, listed, (Passages(document, _joined([*table.header, *chosen])),))

    def _no_article(self, asked: str, title: str) -> Found:
        near = self.titles.near(title)
        told = "there is no article of that title" + ("; these come near" if near else "; search for it")
        return Found(asked, told, " · ".join(near))


def _calculated(expression: str, facts: Sequence[int]) -> Found:
    asked = f"calculate {shortened(expression)}"
    try:
        result = compute(expression)
    except ComputeError as error:
        return Found(asked, f"refused: {error}")
    return Found(asked, shown(expression, result), computation=Computation(expression, result, tuple(facts)))


def _joined(lines: Sequence[Span]) -> tuple[Span, ...]:
    """Lines that follow one another as one span."""
    spans: list[Span] = []
    for start, end in sorted(lines):
        if spans and start - spans[-1][1] <= 1:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)
