"""The tools of the strategy `agent`, over one corpus: what each call finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from iterative_rag.computing import ComputeError, compute
from iterative_rag.computing.display import shortened, shown
from iterative_rag.engine.agent_results import LEAST_SHOWN, Found, Passages
from iterative_rag.llm.prompts import as_field, lines
from iterative_rag.protocols import Corpus, Reranker
from iterative_rag.retrieval.article_parts import (
    Table,
    beginning,
    lists,
    rows,
    section_named,
    sections,
    table_named,
    tables,
    word_places,
)
from iterative_rag.retrieval.article_titles import ArticleTitles
from iterative_rag.retrieval.likelihood import FURTHER, Likelihood
from iterative_rag.retrieval.reading_policy import mentions
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.retrieval.spans import Span, merged
from iterative_rag.settings import Settings
from iterative_rag.system.threads import refuse_stopped
from iterative_rag.text.languages import content_words
from iterative_rag.text.plurals import counted
from iterative_rag.types.documents import Document, ShortlistedDocument
from iterative_rag.types.loop import Computation, LostRows, Need
from iterative_rag.types.tool_use import CalculateCall, FindCall, RowsCall, SearchCall, SectionCall, ToolCall, WrongCall

# Characters that are shown of the documents of one query, best first; of the others the title. Of 45 sentences that a
# model quoted after 19 searches these held 42, in three quarters of the characters of four whole windows a query.
SHOWN = (2000, 900, 600)
# Headings that a model is told of, where an article has no such section.
HEADINGS_TOLD = 40
ROWS_LOST = "the article has this heading, but its rows are not in this corpus: do not look for them here again"


class Toolbox:
    """The tools of one run."""

    def __init__(self, corpus: Corpus, settings: Settings, ranker: Reranker | None) -> None:
        self.corpus, self.settings, self.titles = corpus, settings, ArticleTitles(corpus)
        self._likelihood = Likelihood(corpus, ranker)

    def carry_out(self, calls: Sequence[ToolCall], chars: int) -> list[Found]:
        """What each call finds; `chars` is what they may show together."""
        found: list[Found] = []
        for call in calls:
            refuse_stopped()
            match call:
                case SearchCall():
                    found.append(self._search(call))
                case FindCall(title, words):
                    asked = f"find_in_article {title}: {words}"
                    found.append(self._of_article(title, asked, partial(_places, asked, words)))
                case SectionCall(title, heading):
                    asked = f"read_section {title}: {heading or 'beginning'}"
                    found.append(self._of_article(title, asked, partial(_section, asked, heading, chars)))
                case RowsCall(title, table, wanted):
                    asked = f"list_rows {title}: {' · '.join(filter(None, (table, wanted))) or 'all'}"
                    found.append(self._of_article(title, asked, partial(_rows, asked, table, wanted)))
                case CalculateCall(expression, facts):
                    found.append(_calculated(expression, facts))
                case WrongCall(tool, reason):
                    found.append(Found(tool or "call", f"refused: {reason}"))
        return found

    def _search(self, call: SearchCall) -> Found:
        needs = [Need(query) for query in call.queries]
        settings = self.settings
        found = shortlist(self.corpus, needs, documents=settings.shortlist, passages=settings.passages)
        ranked = [self._likelihood.ranked(need, documents) for need, documents in zip(needs, found, strict=True)]
        passages: dict[str, Passages] = {}
        for rank, most in enumerate(SHOWN):
            for entry, chance in (pair for documents in ranked for pair in documents[rank : rank + 1]):
                if not rank or chance >= FURTHER:
                    document = self.corpus.document(entry.document_id)
                    passages.setdefault(document.id, Passages(document, entry=entry, most=most))
        listings = [tuple(entry for entry, _ in documents) for documents in ranked]
        for entry in (entry for documents in listings for entry in documents):
            self.titles.learn(entry.title, entry.document_id)
        listed = lines(
            f"{query}: {self._named(query, documents)}{' · '.join(as_field(entry.title) for entry in documents)}"
            for query, documents in zip(call.queries, listings, strict=True)
        )
        told = counted(len({entry.document_id for documents in listings for entry in documents}), "article")
        shortlists = tuple(zip(needs, listings, strict=True))
        return Found(f"search {' | '.join(call.queries)}", told, listed, tuple(passages.values()), shortlists)

    def _named(self, query: str, documents: Sequence[ShortlistedDocument]) -> str:
        """What is said where no title or passage that a search found has a name of the query."""
        need = Need(f"About {query}")  # a question begins with a word that is no name
        for entry in documents:
            text = self.corpus.document(entry.document_id).text
            if mentions(need, entry.title, "\n".join(text[hit.start : hit.end] for hit in entry.hits)):
                return ""
        return "no article names this; near: " if documents else "nothing"

    def _of_article(self, title: str, asked: str, look_into: Callable[[Document], Found]) -> Found:
        """What a look into the one article of this title finds; else what titles there are."""
        match self.titles.articles(title):
            case [document]:
                return look_into(document)
            case []:
                near = self.titles.near(title)
                told = "there is no article of that title" + ("; these come near" if near else "; search for it")
                return Found(asked, told, lines([" · ".join(map(as_field, near))]))
            case namesakes:
                told = f"{len(namesakes)} articles have that title; name one as it is written here, with its source"
                return Found(asked, told, lines([" · ".join(map(self.titles.label, namesakes))]))


def _places(asked: str, words: str, document: Document) -> Found:
    matches = word_places(document.text, words)
    if matches is None:
        return Found(asked, "the article does not hold these words")
    spans = tuple(_with_lines(document.text, span) for span in matches.spans)
    told = ("" if matches.exact else "in other forms or near one another, in ") + counted(matches.count, "place")
    if matches.count > len(matches.spans):
        told += f", the first {len(matches.spans)} shown"
    return Found(asked, told, passages=(Passages(document, spans),))


def _with_lines(text: str, span: Span) -> Span:
    """A heading with the lines below it that have room, also those whose first looks like one; anything else as it
    is."""
    parts = sections(text)
    at = next((n for n, part in enumerate(parts) if part.start == span[0]), None)
    if at is None:
        return span
    below = next((part.end for part in parts[at : at + 2] if text[span[1] : part.end].strip()), span[1])
    fits = below - span[0] <= LEAST_SHOWN
    return span[0], below if fits else max(span[1], text.rfind("\n", span[1], span[0] + LEAST_SHOWN))


def _section(asked: str, heading: str, chars: int, document: Document) -> Found:
    """A section of a document; its beginning has `chars` characters at most."""
    headings = [section.heading for section in sections(document.text)[:HEADINGS_TOLD]]
    listed = lines([f"Sections: {' · '.join(headings) or 'none'}"])
    if not heading:
        span = beginning(document.text, max(chars, LEAST_SHOWN))
        return Found(asked, counted(len(headings), "section"), listed, (Passages(document, (span,)),))
    section = section_named(document.text, heading)
    if section is None:
        return Found(asked, "the article has no section like that", listed)
    passages = (Passages(document, ((section.start, section.end),)),)
    lost = _lost(document, section.heading)
    return Found(asked, ROWS_LOST if lost else "found", passages=passages, lost=lost)


def _rows(asked: str, name: str, wanted: str, document: Document) -> Found:
    """The rows of a table, or the entries of a list where no table is meant."""
    text = document.text
    tabular, bulleted = tables(text), lists(text)
    named = [_named("Tables, with their rows", document, tabular)] if tabular else []
    named += [_named("Lists, with their entries", document, bulleted)] if bulleted else []
    listed = lines(named)
    told = "" if tabular else "no tables in this article; "
    table = table_named(text, tabular, name) or table_named(text, bulleted, name)
    if (table is None or not content_words(name) <= content_words(table.heading)) and (lost := _lost(document, name)):
        return Found(asked, ROWS_LOST, listed, lost=lost)
    if table is None:
        told += ("no list like that" if name else "no lists") if not tabular else "the article has no table like that"
        return Found(asked, told, listed)
    searched = [table] if name or not wanted else [*tabular, *bulleted]
    held = [(part, chosen) for part in searched if (chosen := rows(text, part, wanted))]
    count = counted(sum(len(part.rows) for part, _ in held or [(part, []) for part in searched]), "row")
    if not held:
        return Found(asked, f"{told}none of {count} holds all these words", listed)
    told += f"{sum(len(chosen) for _, chosen in held)} of {count}"
    shown = [line for part, chosen in held for line in (*part.header, *chosen)]
    return Found(asked, told, listed, (Passages(document, merged(shown, gap=1)),))


def _lost(document: Document, name: str) -> LostRows | None:
    """The section of that name whose rows are missing; without a name the first of them."""
    about = content_words(document.title)
    asked = content_words(name) - about or content_words(name)
    held = ((lost, content_words(lost) - about) for lost in document.lost_rows)
    section = next((lost for lost, words in held if asked <= words or (words and words <= asked)), "")
    return LostRows(Need(section).key, document.title, section) if section else None


def _named(what: str, document: Document, entries: Sequence[Table]) -> str:
    named = (f"{n}. {table.heading or document.title} ({len(table.rows)})" for n, table in enumerate(entries, 1))
    return f"{what}: {' · '.join(named)}"


def _calculated(expression: str, facts: Sequence[int]) -> Found:
    asked = f"calculate {shortened(expression)}"
    try:
        result = compute(expression)
    except ComputeError as error:
        return Found(asked, f"refused: {error}")
    return Found(asked, shown(expression, result), computation=Computation(expression, result, tuple(facts)))
