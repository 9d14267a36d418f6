"""The reader of the built-in backend: the network and the rules both read prose, and the rules read tables."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import folded
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.answer_form import fits
from iterative_rag.builtin.reading.candidate_ranking import trust
from iterative_rag.builtin.reading.closed_needs import decide
from iterative_rag.builtin.reading.findings import Finding, best_of
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.builtin.reading.passage_match import match_units
from iterative_rag.builtin.reading.reader_fusion import Offered, probability, same_value
from iterative_rag.builtin.reading.reader_passages import passages, sentence_at
from iterative_rag.builtin.reading.rule_reader import Offer, RuleReader
from iterative_rag.builtin.reading.span_reader import SpanReader, SpanReading

# Most passages of a page given to the network, spans of each, and candidates of the rules that are scored.
CLOSE, SPANS, RULED = 5, 5, 12


class TrainedReader:
    """Reads pages with both readers and fuses their scores; thread-safe."""

    def __init__(self, rules: RuleReader, spans: SpanReader) -> None:
        self._rules, self._spans = rules, spans

    @property
    def fingerprint(self) -> str:
        return f"{self._spans.name}/weighed-3/{self._rules.fingerprint}"

    def read(self, query: Query, page: UnitPage) -> list[Finding]:
        if (said := decide(query, page)) is not None:
            return said
        rows, offers = self._rules.look(query, page)
        prose = [
            Finding(one.value, one.quote, trust(probability(query, page, one)), one.quote)
            for one in self._weighed(query, page, offers)
        ]
        return best_of([*rows, *prose])

    def offered(self, query: Query, page: UnitPage) -> list[Offered]:
        """Every value that either reader proposes from the page's prose."""
        return self._weighed(query, page, self._rules.look(query, page)[1])

    def _weighed(self, query: Query, page: UnitPage, offers: list[Offer]) -> list[Offered]:
        texts = self._likely(query, page)
        readings = self._spans.read(query.text, page.title, texts, best=SPANS)
        return fuse(query, list(zip(texts, readings, strict=True)), offers)

    def _likely(self, query: Query, page: UnitPage) -> list[str]:
        """The passages with the best matching sentences, in the page's order."""
        texts = passages(page)
        if len(texts) <= CLOSE:
            return texts
        scores = {match.unit.text: match.score for match in match_units(query, page) if not match.unit.cells}
        best = sorted(texts, key=lambda text: -max((scores[one] for one in scores if one in text), default=0.0))[:CLOSE]
        return [text for text in texts if text in best]


def fuse(query: Query, read: list[tuple[str, SpanReading]], offers: list[Offer]) -> list[Offered]:
    """Merge the values that either reader proposes and whose form fits the query, with the scores of both."""
    found: dict[str, Offered] = {}
    for text, reading in read:
        for place, span in enumerate(reading.spans):
            value = span.text.strip("*")  # bold in Markdown
            if not value.strip() or not fits(query, value):
                continue
            quote = sentence_at(text, span.start)
            one = found.setdefault(folded(value), Offered(value, quote))
            if one.share is None or reading.relevance * span.probability > one.relevance * one.share:
                one.quote, one.share, one.place = quote, span.probability, place
                one.relevance = reading.relevance
    spoken = tuple(found)
    for offer in offers[:RULED]:
        if not fits(query, offer.value):
            continue
        key = folded(offer.value)
        key = key if key in found else same_value(spoken, key) or key
        one = found.setdefault(key, Offered(offer.value, offer.quote))
        if one.odds is None:
            one.odds, one.form = offer.ranked.odds, offer.ranked.candidate.features.get("form", 0.0)
            if one.share is None:
                one.relevance = max(
                    (reading.relevance for text, reading in read if offer.quote in text), default=one.relevance
                )
    return list(found.values())
