"""What speaks for and against a reading of a question on a table, as named numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from iterative_rag.builtin.language.function_words import word_set, words
from iterative_rag.builtin.language.lexicon import AnswerKind, alike, kind_of_noun
from iterative_rag.builtin.tables.cell_values import cell_value, column_kinds, has_words
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.table_operations import TableOperation, TableReading
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion, canonical

LONG_VALUE = 8  # words
# Kinds of answers that a header can tell: "Town" of a place, "Builder" of a person.
_TELLING = frozenset({AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.YEAR, AnswerKind.DATE, AnswerKind.NUMBER})
# What an article may be about, as a question on its tables calls it.
ARTICLE_NOUNS = word_set("team club player band artist actor actress driver season show series event singer")
_EXTREMES = frozenset({OperationHint.MOST, OperationHint.LEAST, OperationHint.OLDEST, OperationHint.NEWEST})


class ReadingFeatures:
    """The features of the readings of one question on one table."""

    def __init__(self, question: TableQuestion, table: PageTable) -> None:
        self._question, self._table = question, table
        self._content = question.content_bits
        self._total = max(1, self._content.bit_count())
        stems = [frozenset(canonical(word) for word in words(name)) for name in table.header]
        self._exact = [question.bits(header) for header in stems]
        said = {token.stem: alike(token.stem) for token in question.tokens if token.content}
        self._near = [
            exact
            | question.bits(frozenset(other for word in header for other in alike(word)))
            | question.bits(frozenset(word for word, others in said.items() if not header.isdisjoint(others)))
            for exact, header in zip(self._exact, stems, strict=True)
        ]
        self._shares = [
            sum(bool(question.bits(frozenset({word}))) for word in header) / max(1, len(header)) for header in stems
        ]
        self._stems = stems
        self._kinds = column_kinds(table)
        named = [words(name.partition("(")[0]) for name in table.header]
        self._header_kinds = [kind_of_noun(name[-1]) if name else AnswerKind.THING for name in named]
        self._context = question.bits(frozenset(canonical(word) for word in words(table.context))) | _of_article(
            question
        )
        head = question.asked[-1:] and question.asked[-1]
        self._asked = [bool(head) and head in header for header in stems]
        free = [token.text for token in question.tokens if token.content]
        self._alike = [
            max((_likeness(word, name) for name in words(header) for word in free), default=0.0)
            for header in table.header
        ]
        self._unique = [len(set(cells)) / max(1, len(cells)) for cells in map(table.column, range(len(table.header)))]
        self._near_asked = [bool(question.near_asked & header) for header in stems]
        self._all_asked = [
            len(set(question.asked) & header) / max(1, len(question.asked)) if question.asked else 0.0
            for header in stems
        ]

    def of(self, reading: TableReading) -> dict[str, float]:
        features: dict[str, float] = {}
        for name, value in (
            *self._operation(reading),
            *self._coverage(reading),
            *self._left_out(reading),
            *self._conditions(reading),
            *self._answer(reading),
            *self._measure(reading),
        ):
            if value:
                features[name] = features.get(name, 0.0) + value
        return features

    def uncovered(self, reading: TableReading) -> int:
        """The words of the question that nothing of the table or of the operation accounts for, as bits."""
        return self._content & ~self._covered(reading)

    def _covered(self, reading: TableReading) -> int:
        covered = reading.selection.bits | reading.rank_bits | self._context
        for column in {reading.column, reading.measure, *reading.selection.columns} - {-1}:
            covered |= self._near[column]
        if reading.operation is TableOperation.COUNT and (any(self._asked) or any(self._near_asked)):
            covered |= self._question.bits(frozenset(self._question.asked[-1:]))
        if reading.measure >= 0 and self._question.measure & self._stems[reading.measure]:
            covered |= self._question.measure_bits
        return covered

    def _operation(self, reading: TableReading) -> Iterator[tuple[str, float]]:
        question, operation = self._question, reading.operation
        yield f"{operation}", 1.0
        for hint in question.hints:
            yield f"{operation}, {hint}", 1.0
        yield f"{operation} of {question.kind}", 1.0
        yield "rank", float(reading.rank > 1)
        unused = any(
            rank > 1 and not (reading.selection.bits | reading.rank_bits) >> at & 1 for rank, at in question.ranks
        )
        yield "rank left", float(unused)
        many = len(reading.values) > 1
        yield "several, one asked", float(many and OperationHint.PLURAL not in question.hints)
        yield "several asked", float(many and OperationHint.PLURAL in question.hints)
        yield "one, several asked", float(not many and OperationHint.PLURAL in question.hints)

    def _coverage(self, reading: TableReading) -> Iterator[tuple[str, float]]:
        left = self.uncovered(reading).bit_count()
        yield "words left", left / self._total
        yield "words left, number", min(left, 5) / 5
        yield "nothing left", float(not left)
        asked = self._question.bits(frozenset(self._question.asked[-1:]))
        yield f"{reading.operation}, asked left", float(bool(asked & self.uncovered(reading)))

    def _left_out(self, reading: TableReading) -> Iterator[tuple[str, float]]:
        """What a right reading hardly ever leaves out."""
        query, left = self._question.query, self.uncovered(reading)
        yield "names left", float(bool(left & self._question.bits(query.name_words)))
        yield "years left", float(bool(left & self._question.bits(frozenset(map(str, query.years)))))
        bounds = sum(condition.quantified and not condition.excluded for condition in reading.selection.conditions)
        yield "bounds left", float(bounds < len(self._question.bounds))
        yield f"{reading.operation} among", float(bool(reading.selection.among))
        yield (
            f"no {self._question.kind}",
            float(not all(is_of_kind(self._question.kind, value) for value in reading.values)),
        )

    def _conditions(self, reading: TableReading) -> Iterator[tuple[str, float]]:
        chosen, rows = reading.selection.conditions, len(self._table.rows)
        yield f"{len(chosen)} conditions", 1.0
        yield f"{reading.operation} of all", float(not chosen)
        if not chosen:
            return
        yield "rows", math.log(len(reading.selection.rows) / rows)
        yield "single row", float(len(reading.selection.rows) == 1)
        yield f"{reading.operation} of single row", float(len(reading.selection.rows) == 1)
        named = [condition for condition in chosen if not condition.quantified]
        if named:
            yield "cell's share", sum(condition.quality for condition in named) / len(named)
            yield "least cell's share", min(condition.quality for condition in named)
            yield "whole cells", float(all(condition.quality >= 1 for condition in named))
        for condition in chosen:
            told = bool(self._exact[condition.column] & ~condition.bits)
            kind = (
                "others" if condition.excluded else "bound" if condition.quantified else self._kinds[condition.column]
            )
            yield f"condition on {kind}, {'named' if told else 'not named'}", 1.0
            yield "words of conditions", (condition.bits & self._content).bit_count() / self._total

    def _answer(self, reading: TableReading) -> Iterator[tuple[str, float]]:
        question, column = self._question, reading.column
        if column < 0:
            return
        kind = self._kinds[column]
        yield f"{question.kind} in {kind}", 1.0
        yield "asked in header", float(self._asked[column])
        yield "asked elsewhere", float(not self._asked[column] and any(self._asked))
        yield "near asked in header", float(self._near_asked[column] and not self._asked[column])
        yield "share of asked", self._all_asked[column]
        yield "share of header", self._shares[column]
        free = self._exact[column] & ~reading.selection.bits
        yield "header in question", float(bool(free))
        yield "answer in condition's column", float(column in reading.selection.columns)
        yield "answer in measure's column", float(column == reading.measure)
        yield f"{reading.operation} of measure", float(column == reading.measure)
        yield "first column", float(column == 0)
        yield "first words", float(kind == "words" and "words" not in self._kinds[:column])
        named = self._context & question.bits(frozenset(question.asked[-1:]))
        yield (
            "asked in context, first words",
            float(bool(named) and kind == "words" and "words" not in self._kinds[:column] and not any(self._asked)),
        )
        if self._header_kinds[column] in _TELLING and question.kind in _TELLING:
            yield "header of asked kind", float(self._header_kinds[column] is question.kind)
            yield "header of another kind", float(self._header_kinds[column] is not question.kind)
        yield "alike header", self._alike[column]
        yield "unique column", self._unique[column]
        yield "place of column", column / len(self._kinds)
        if free:
            yield "place of header", _first(free) / len(question.tokens)
            other = self._exact[reading.measure] if reading.measure >= 0 else 0
            yield "header before measure", float(bool(other) and _first(free) < _first(other))
        yield "no header", float(not self._table.header[column].strip())
        said = {canonical(word) for value in reading.values for word in words(value)}
        yield "answer in question", float(bool(said) and bool(said <= {token.stem for token in question.tokens}))
        yield "long answer", float(max(len(value.split()) for value in reading.values) > LONG_VALUE)
        yield "no word or number", float(not said)
        if reading.operation is TableOperation.COUNT:
            yield "distinct asked", float(self._asked[column] or self._near_asked[column])

    def _measure(self, reading: TableReading) -> Iterator[tuple[str, float]]:
        measure = reading.measure
        if measure < 0:
            return
        question = self._question
        free = ~reading.selection.bits
        yield f"{reading.operation} by {self._kinds[measure]}", 1.0
        yield "measure of scores", float(self._kinds[measure] == "scores")
        yield "measure in header", float(bool(question.measure & self._stems[measure]))
        yield "measure named", float(bool(self._exact[measure] & free))
        yield "measure near", float(bool(self._near[measure] & free))
        yield (
            "measure named elsewhere",
            float(not self._exact[measure] & free and any(bits & free for bits in self._exact)),
        )
        yield "share of measure", self._shares[measure]
        yield "alike measure", self._alike[measure]
        if reading.operation in {TableOperation.GREATEST, TableOperation.SMALLEST}:
            dated = self._kinds[measure] == "days"
            for hint in question.hints & _EXTREMES:
                yield f"{reading.operation} by {'days' if dated else 'numbers'}, {hint}", 1.0
            rank = bool({"rank", "pos", "posit", "place", "no"} & self._stems[measure])
            yield f"{reading.operation} of rank", float(rank)


def _of_article(question: TableQuestion) -> int:
    """The tokens that mean what the page is about: "the team" in "Ajax: how many games did the team win?"."""
    said = [token.text for token in question.tokens]
    return sum(
        1 << at for at, word in enumerate(said) if word in ARTICLE_NOUNS and said[at - 1 : at] in (["the"], ["this"])
    )


def is_of_kind(kind: AnswerKind, value: str) -> bool:
    """Whether a cell has the kind that is asked for."""
    if kind is AnswerKind.NUMBER:
        return cell_value(value).number is not None
    if kind in {AnswerKind.YEAR, AnswerKind.DATE}:
        return cell_value(value).day is not None
    return kind not in {AnswerKind.PERSON, AnswerKind.PLACE} or has_words(value)


def _first(bits: int) -> int:
    """The first token of a bit mask."""
    return (bits & -bits).bit_length() - 1


@lru_cache(maxsize=65536)
def _likeness(word: str, other: str) -> float:
    """The share of two words' runs of three letters that both have: "winner" and "winning"."""
    runs, others = ({f" {text}"[at : at + 3] for at in range(len(text) - 1)} for text in (word, other))
    return 2 * len(runs & others) / max(1, len(runs) + len(others))
