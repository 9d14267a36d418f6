"""Extraction by an LLM: what do windows say about the needs of a hop, word for word?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iterative_rag.errors import ContextOverflow, ReplyUnreadable
from iterative_rag.llm.prompts import fence, lines, titled
from iterative_rag.llm.replies.forms import ExtractedFact, ExtractionReply
from iterative_rag.llm.replies.quoted_values import borne_out
from iterative_rag.llm.roles.role_call import LLMRole, RoleCall
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.text.languages import content_words
from iterative_rag.types import Extract, Need, Window

# For each need, of each window.
MOST_FACTS = 5
# Said of a question that several sentences answer.
ASPECT = f" (note every sentence that tells of it, up to {MOST_FACTS})"
# Shorter texts are not cut: what does not fit then is not the window.
SHORTEST = 400
# Where a text is cut, the best place first: behind a paragraph, a line, a sentence, a word.
_ENDS = ("\n\n", "\n", ". ", " ")
# Characters of a quote that is objected to.
SHOWN_OF_A_QUOTE = 120


class LLMExtractor(LLMRole[ExtractionReply]):
    """Caches nothing itself: the document reader caches extracts by `fingerprint`, window and need."""

    def __init__(self, call: RoleCall[ExtractionReply]) -> None:
        super().__init__(call)
        # The characters of windows that go into a call, as the server's refusals have told; 0 for no bound. The calls
        # of one run on several threads share it: each sets it to what it knows.
        self._room = 0

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
        reply = self.call.ask(
            lambda reply: _complaint(reply, windows),
            documents="\n".join(fence(titled(window.title, window.text)) for window in windows),
            needs=_numbered(needs, whole),
        )
        # Without a quote it is no fact, which the model has been told once.
        quoted = [fact for fact in reply.facts if fact.quote]
        if reply.facts and not quoted:
            raise ReplyUnreadable(
                f"The model {self.call.model.name} named facts without a quote (extract).",
                reply="",
                hint="Try a larger model.",
            )
        return [extract for fact in quoted for extract in _extracts(fact, needs, windows, whole)]


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
    """The first MOST_FACTS for each need and window."""
    served: Counter[tuple[int, int]] = Counter()
    kept = []
    for extract in extracts:
        places = [(n, extract.window) for n in extract.needs or (-1,)]
        served.update(places)
        if max(served[pair] for pair in places) <= MOST_FACTS:
            kept.append(extract)
    return tuple(kept)


def _complaint(reply: ExtractionReply, windows: Sequence[Window]) -> str:
    if any(not fact.quote for fact in reply.facts):
        return 'every fact needs a "quote" copied from the document; leave out facts without one'
    for fact in reply.facts:
        if _window_of(fact.quote, windows) is None:
            return (
                f"the quote {fact.quote[:SHOWN_OF_A_QUOTE]!r} does not stand in the document; copy it letter by "
                "letter, or leave the fact out where the document does not say it"
            )
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


def _extracts(fact: ExtractedFact, needs: Sequence[Need], windows: Sequence[Window], whole: str) -> Iterator[Extract]:
    """One extract for each need that a fact names; what it says is checked against the window that it quotes."""
    index = _window_of(fact.quote, windows) or 0
    extract = Extract(fact.statement or fact.quote, fact.quote, fact.value, window=index)
    for n in _needs_of(fact, needs, whole):
        if n == len(needs):
            yield borne_out(replace(extract, value="", needs=()), Need(whole), windows[index])
        else:
            yield borne_out(replace(extract, needs=(n,)), needs[n], windows[index])


def _needs_of(fact: ExtractedFact, needs: Sequence[Need], whole: str) -> list[int]:
    """The positions of the needs that a fact names; `len(needs)` is the whole question ("": it was not shown). Where a
    fact names none of them, it serves the need whose words it holds, else the first."""
    named = [n - 1 for n in dict.fromkeys(fact.need) if 1 <= n <= len(needs) + bool(whole)]
    if named:
        return named
    said = content_words(f"{fact.statement} {fact.quote}")
    return [max(range(len(needs)), key=lambda n: (len(said & content_words(needs[n].question)), -n))]


def _window_of(quote: str, windows: Sequence[Window]) -> int | None:
    """The position of the first window that holds a quote; None where none does."""
    places = (n for n, window in enumerate(windows) if locate(quote, window.text, [(0, len(window.text))]))
    return next(places, None)
