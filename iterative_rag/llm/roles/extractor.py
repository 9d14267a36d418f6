"""Extraction by an LLM: what do windows say about the needs of a hop, word for word?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.errors import ContextOverflow, ReplyUnreadable
from iterative_rag.llm.prompts import fence, lines, titled
from iterative_rag.llm.replies.forms import ExtractedFact, ExtractionReply
from iterative_rag.llm.replies.injection_guard import guarded
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.llm.roles.window_cutting import WindowRoom
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.text.languages import content_words
from iterative_rag.types import Extract, Need, Window

# For each need, of each window.
MOST_FACTS = 5
# Said of a question that several sentences answer.
ASPECT = f" (note every sentence that tells of it, up to {MOST_FACTS})"
# Characters of a quote that is objected to.
SHOWN_OF_A_QUOTE = 120


@dataclass(frozen=True, slots=True)
class LLMExtractor:
    """Caches nothing itself: the document reader caches extracts by `fingerprint`, window and need. `room` is what the
    server has shown to go into a call."""

    role_call: RoleCall[ExtractionReply]
    room: WindowRoom = field(default_factory=WindowRoom, compare=False)

    @property
    def fingerprint(self) -> str:
        return self.role_call.fingerprint

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        """At most five extracts for each need and window, the most useful first; quotes are not verified here. Where
        the server finds the windows too long, they are asked about in pieces, once. Raises LLMError, CapReached."""
        if self.room.holds(windows):
            try:
                return _at_most(self._asked(needs, windows, question))
            except ContextOverflow:
                if not self.room.halve(windows):
                    raise
        extracts: list[Extract] = []
        for place, piece in list(self.room.pieces(windows)):
            try:
                found = self._asked(needs, [piece], question)
            except ContextOverflow:
                self.room.halve([piece])  # for the next window
                raise
            extracts += [replace(extract, window=place) for extract in found]
        return _at_most(extracts)

    def _asked(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> list[Extract]:
        """The extracts of one call."""
        whole = "" if Need(question).key in {need.key for need in needs} else question
        reply = self.role_call.ask(
            lambda reply: _complaint(reply, windows),
            documents="\n".join(fence(titled(window.title, window.text)) for window in windows),
            needs=_numbered(needs, whole),
        )
        # Without a quote it is no fact, which the model has been told once.
        quoted = [fact for fact in reply.facts if fact.quote]
        if reply.facts and not quoted:
            raise ReplyUnreadable(
                f"The model {self.role_call.model.name} named facts without a quote (extract).",
                reply="",
                hint="Try a larger model.",
            )
        return [extract for fact in quoted for extract in _extracts(fact, needs, windows, whole)]


def _at_most(extracts: Sequence[Extract]) -> tuple[Extract, ...]:
    """The first MOST_FACTS for each need and window."""
    served: Counter[tuple[int, int]] = Counter()
    kept = []
    for extract in extracts:
        places = [(n, extract.window) for n in extract.needs or (-1,)]
        served.update(places)
        if max(served[place] for place in places) <= MOST_FACTS:
            kept.append(extract)
    return tuple(kept)


def _complaint(reply: ExtractionReply, windows: Sequence[Window]) -> str:
    if any(not fact.quote for fact in reply.facts):
        return 'every fact needs a "quote" copied from the document; leave out facts without one'
    for fact in reply.facts:
        if not any(locate(fact.quote, window.text, [(0, len(window.text))]) for window in windows):
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
    place = _window_of(fact.quote, windows)
    extract = Extract(fact.statement or fact.quote, fact.quote, fact.value, window=place)
    for n in _needs_of(fact, needs, whole):
        if n == len(needs):
            yield guarded(replace(extract, value="", needs=()), Need(whole), windows[place])
        else:
            yield guarded(replace(extract, needs=(n,)), needs[n], windows[place])


def _needs_of(fact: ExtractedFact, needs: Sequence[Need], whole: str) -> list[int]:
    """The positions of the needs that a fact names; `len(needs)` is the whole question ("": it was not shown). Where a
    fact names none of them, it serves the need whose words it holds, else the first."""
    named = [n - 1 for n in dict.fromkeys(fact.need) if 1 <= n <= len(needs) + bool(whole)]
    if named:
        return named
    said = content_words(f"{fact.statement} {fact.quote}")
    return [max(range(len(needs)), key=lambda n: (len(said & content_words(needs[n].question)), -n))]


def _window_of(quote: str, windows: Sequence[Window]) -> int:
    """The position of the window that holds a quote; the first where none does."""
    if len(windows) > 1:
        for n, window in enumerate(windows):
            if locate(quote, window.text, [(0, len(window.text))]):
                return n
    return 0
