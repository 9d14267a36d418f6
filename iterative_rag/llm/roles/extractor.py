"""Extraction by an LLM: which sentences of the windows say what the needs of a hop ask for? And which of a few answers
one need, which a small model can tell. Sentences are numbered: nothing is copied, so nothing is miscopied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from iterative_rag.errors import ContextOverflow, ReplyUnreadable
from iterative_rag.llm.prompts import as_field, fence, lines
from iterative_rag.llm.replies.forms import ExtractedFact, ExtractionReply, SentenceReply
from iterative_rag.llm.replies.quoted_values import borne_out
from iterative_rag.llm.roles.role_call import LLMRole
from iterative_rag.retrieval.chunking import readable_units
from iterative_rag.retrieval.windows import GAP, is_of_document
from iterative_rag.text.folding import folded, folded_words
from iterative_rag.text.languages import content_words
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Extract, Need, Sentence, Window

# Tokens of a reply that names one sentence: a number and a few words.
REPLY_TOKENS = 80
# For each need, of each window.
MOST_FACTS = 5
# Said of a question that several sentences answer.
ASPECT = f" (note every sentence that tells of it, up to {MOST_FACTS})"
# Shorter texts are not cut: what does not fit then is not the window.
SHORTEST = 400
# Where a text is cut, the best place first: behind a paragraph, a line, a sentence, a word.
_ENDS = ("\n\n", "\n", ". ", " ")
# How far beside the sentences that a model names its value is looked for, the nearest first; and how far before them
# the year of a day.
BESIDE, DATED_BEFORE = (1, -1, 2, -2), (-1, -2, -3, -4)
_YEAR = lazy_pattern(r"\d{4}")
# A quote is one stretch of a document, of so many characters at most; sentences with more than this between them are
# quoted apart, because what stands there is no part of the fact.
QUOTE_CHARS, BETWEEN_CHARS = 1000, 250
# A further quote of a statement is kept if it adds so many of its words: of 34 recorded statements with two quotes or
# more, 29 had one that added none, or one word, mostly the lead of the article.
ADDED_WORDS = 2


class LLMExtractor(LLMRole[ExtractionReply]):
    """Caches nothing itself: the document reader caches extracts by `fingerprint`, window and need."""

    # The characters of windows that go into a call, as the server's refusals have told; 0 for no bound. The calls of
    # one run on several threads share it: each sets it to what it knows.
    _room = 0

    @property
    def fingerprint(self) -> str:
        return self.call.fingerprint

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        """At most five extracts for each need and window, the most useful first; quotes are not verified here. Where
        the server finds the windows too long, they are asked about in pieces, once. Raises LLMError, CapReached."""
        size = sum(len(window.text) for window in windows)
        if not self._room or size <= self._room:
            try:
                return _at_most(self._asked(needs, windows, question))
            except ContextOverflow:
                if not self._refused(size):
                    raise
        extracts: list[Extract] = []
        for index, piece in [(n, piece) for n, window in enumerate(windows) for piece in _pieces(window, self._room)]:
            try:
                of_piece = self._asked(needs, [piece], question)
            except ContextOverflow:
                self._refused(len(piece.text))  # for the next window
                raise
            extracts += [replace(extract, window=index) for extract in of_piece]
        return _at_most(extracts)

    def _refused(self, chars: int) -> bool:
        """Learn that so many characters did not fit; whether fewer can be asked about."""
        self._room = max(SHORTEST, min(self._room or chars, chars // 2))
        return self._room < chars

    def _asked(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> list[Extract]:
        """The extracts of one call."""
        whole = "" if Need(question).key in {need.key for need in needs} else question
        shown = [
            (n, Sentence(window.document_id, window.title, start, end, window.text[start:end]))
            for n, window in enumerate(windows)
            for start, end in readable_units(window.text)
        ]
        sentences, asked = fence(numbered([sentence for _, sentence in shown])), _numbered(needs, whole)
        reply = self.call.ask(lambda reply: _complaint(reply, len(shown)), sentences=sentences, needs=asked)
        quoted = [(fact, _quoted(fact, shown, windows)) for fact in reply.facts]
        # Without a sentence it is no fact, which the model has been told once.
        if reply.facts and not any(fact.sentences for fact in reply.facts):
            told = f"The model {self.call.model.name} named facts without a sentence (extract)."
            raise ReplyUnreadable(told, reply="", hint="Try a larger model.")
        extracts: list[Extract] = []
        for fact, quotes in quoted:
            for quote in quotes:
                served, beside = _needs_of(fact, quote, needs, whole), [other.quote for other in quotes]
                extracts += _serving(quote, served, needs, whole, windows[quote.window], beside)
        return extracts


def _quoted(fact: ExtractedFact, shown: Sequence[tuple[int, Sentence]], windows: Sequence[Window]) -> list[Extract]:
    """The fact with the stretch of a window that holds its value, or with those that tell it together."""
    stretches: list[tuple[int, int, int]] = []
    for number in sorted(_with_value(fact, shown)):
        window, sentence = shown[number - 1]
        if stretches and stretches[-1][0] == window:
            _, start, end = stretches[-1]
            near = sentence.start - end <= BETWEEN_CHARS and sentence.end - start <= QUOTE_CHARS
            if near and GAP not in windows[window].text[start : sentence.end]:
                stretches[-1] = (window, start, sentence.end)
                continue
        stretches.append((window, sentence.start, sentence.end))
    quotes = [(window, windows[window].text[start:end]) for window, start, end in stretches]
    stating = [(window, quote) for window, quote in quotes if fact.value and holds(quote, fact.value)]
    telling = _telling(quotes, "" if stating else fact.value, fact.statement, windows)
    told = telling if not stating or set(stating) & set(telling) else [stating[0], *telling]
    told = told or quotes
    return [Extract(fact.statement or quote, quote, fact.value, window=window) for window, quote in told]


def _telling(
    quotes: Sequence[tuple[int, str]], value: str, statement: str, windows: Sequence[Window]
) -> list[tuple[int, str]]:
    """The quotes that hold words of a value that no quote holds whole, and of the statement, the most telling first,
    each of which adds some to those before: a lead that only says who is meant, as the title does, adds nothing."""
    titles = " ".join(windows[window].title for window, _ in quotes)
    unsaid, untold = content_words(value), content_words(statement) - content_words(titles)
    telling: list[tuple[int, str]] = []
    for cut in sorted(
        quotes, key=lambda cut: (-len(unsaid & content_words(cut[1])), -len(untold & content_words(cut[1])))
    ):
        words = content_words(cut[1])
        if unsaid & words or len(untold & words) >= (ADDED_WORDS if telling else 1):
            telling.append(cut)
            unsaid, untold = unsaid - words, untold - words
    return telling


def _with_value(fact: ExtractedFact, shown: Sequence[tuple[int, Sentence]]) -> set[int]:
    """The numbers that a fact names, with the nearest one whose sentence has its value where none of them does, or the
    year that is missing for the value."""
    named = {n for n in fact.sentences if 1 <= n <= len(shown)}
    if not fact.value or any(holds(shown[n - 1][1].text, fact.value) for n in named):
        return named
    said = {word for n in named for word in folded_words(shown[n - 1][1].text)}
    lacking = [word for word in folded_words(fact.value) if word not in said]
    undated = len(lacking) == 1 and _YEAR.fullmatch(lacking[0])
    wanted, steps = (lacking[0], DATED_BEFORE) if undated else (fact.value, BESIDE)
    beside = [n for step in steps for at in named if 1 <= (n := at + step) <= len(shown)]
    return named | set([n for n in beside if holds(shown[n - 1][1].text, wanted)][:1])


def _pieces(window: Window, room: int) -> Iterator[Window]:
    """The window in pieces that have room. No text is in two of them."""
    text = window.text
    while len(text) > room:
        ends = (offset + len(mark) for mark in _ENDS if (offset := text.rfind(mark, room // 2, room)) >= 0)
        end = next(ends, room)
        yield replace(window, text=text[:end])
        text = text[end:]
    yield replace(window, text=text)


def _at_most(extracts: Sequence[Extract]) -> tuple[Extract, ...]:
    """The first MOST_FACTS statements for each need and window, each with all of its quotes."""
    told: dict[tuple[tuple[int, ...], int], set[str]] = {}
    kept = []
    for extract in dict.fromkeys(extracts):
        statements = told.setdefault((extract.needs, extract.window), set())
        statements.add(extract.statement)
        if len(statements) <= MOST_FACTS:
            kept.append(extract)
    return tuple(kept)


def _complaint(reply: ExtractionReply, shown: int) -> str:
    if any(not any(1 <= n <= shown for n in fact.sentences) for fact in reply.facts):
        return f'every fact needs "sentences", numbers from 1 to {shown}; leave out facts that no sentence states'
    return ""


def _numbered(needs: Sequence[Need], whole: str) -> str:
    """The needs as numbered lines, then the question behind them, unless it is one of them ("")."""
    asked = [
        f"QUESTION {n}: {need.question.rstrip(' ?.')}{ASPECT if need.aspect else ''}"
        for n, need in enumerate(needs, start=1)
    ]
    if whole:
        asked.append(f"WHOLE QUESTION ({len(needs) + 1}): {whole.rstrip(' ?.')}")
    return lines(asked)


def _serving(
    extract: Extract, served: Sequence[int], needs: Sequence[Need], whole: str, seen: Window, beside: Sequence[str]
) -> Iterator[Extract]:
    """The extract for each need that it serves, as far as its quote and those `beside` it bear it out."""
    for n in served:
        if n == len(needs):
            value = extract.value if served == [n] else ""  # else it is the answer to one of the needs
            yield borne_out(replace(extract, value=value, needs=()), Need(whole), seen, beside)
        else:
            yield borne_out(replace(extract, needs=(n,)), needs[n], seen, beside)


def _needs_of(fact: ExtractedFact, extract: Extract, needs: Sequence[Need], whole: str) -> list[int]:
    """The positions of the needs that a fact names; `len(needs)` is the whole question ("": it was not shown). Where a
    fact names none of them, it serves the need whose words it holds, else the first."""
    named = [n - 1 for n in dict.fromkeys(fact.need) if 1 <= n <= len(needs) + bool(whole)]
    if named:
        return named
    said = content_words(f"{extract.statement} {extract.quote}")
    return [max(range(len(needs)), key=lambda n: (len(said & content_words(needs[n].question)), -n))]


# --- a few sentences, for one need ---------------------------------------------------------------


class LLMSentenceReader(LLMRole[SentenceReply]):
    """Implements protocols.SentenceReader."""

    def read(self, need: Need, sentences: Sequence[Sentence]) -> tuple[Sentence, str] | None:
        """As protocols.SentenceReader says. Raises LLMError, CapReached."""
        reply = self.call.ask(sentences=fence(numbered(sentences)), need=need.question)
        value = " ".join(reply.answer.split())
        if not value:
            return sentences[0], ""
        named = sentences[reply.sentence - 1 : reply.sentence] if reply.sentence > 0 else ()
        return next(((sentence, value) for sentence in (*named, *sentences) if holds(sentence.text, value)), None)


def holds(text: str, value: str) -> bool:
    """Whether a value stands in a text, in its own words."""
    return re.search(rf"(?<!\w){re.escape(folded(value))}(?!\w)", folded(text)) is not None


def numbered(sentences: Sequence[Sentence]) -> str:
    """The sentences, numbered from 1, each on a line under the title of its document. What does not stand in that has
    no number."""
    shown: list[str] = []
    for title, group in groupby(enumerate(sentences, start=1), key=lambda item: item[1].title):
        shown.append(f"[{as_field(title)}]")
        shown += (f"{n}. {sentence.text}" if is_of_document(sentence.text) else sentence.text for n, sentence in group)
    return lines(shown)
