"""A file of questions -> a Dataset. The fields of the first row decide which form it is.

| form | told by | and may have |
|---|---|---|
| FRAMES | `Prompt, Answer`, with `wiki_links` or `wikipedia_link_1` ... | `reasoning_types, id, aliases, kind` |
| HotpotQA, 2Wiki | `question, answer, context, supporting_facts` | `_id, type` |
| multi-hop | `question, answer, paragraphs: [{title, text, supporting}]` | `id, aliases, type` |
| plain | `question, answer` (or `answers`) | `id, aliases, types, kind, gold_titles` |
| SQuAD | `data: [{title, paragraphs: [{context, qas: [...]}]}]` | `is_impossible` of version 2 |

A list of answers gives alternatives. MuSiQue's own names of fields are read as those of multi-hop questions. FRAMES
is read from the published TSV too, or from CSV.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.gold_articles import links_in, title_of
from iterative_rag.evaluation.question_files import Row, broken, read_bytes, rows
from iterative_rag.evaluation.records import Answerability, Dataset, Paragraph, Question
from iterative_rag.sources.wikipedia.page_names import is_link

_SUFFIXES = (".gz", ".jsonl", ".json", ".tsv", ".csv", ".txt")


def load(path: Path) -> Dataset:
    """The questions of a file. Raises UsageError naming the fault and its line."""
    path = path.expanduser()
    data = read_bytes(path)
    parsed = rows(path, data)
    form = next((form for form in _FORMS if parsed[0].fields.keys() >= form.told_by), None)
    if form is None:
        forms = "; ".join(f"{form.name} ({', '.join(sorted(form.told_by))})" for form in _FORMS)
        fields = ", ".join(map(str, parsed[0].fields)) or "none"
        raise broken(path, f"the fields of {parsed[0].place} make no question ({fields})", hint=f"Forms: {forms}.")
    questions = _with_ids(path, [question for row in parsed for question in _read(form, row)])
    if not questions:
        raise broken(path, "it holds no question")
    return Dataset(_stem(path), form.name, hashlib.sha256(data).hexdigest(), questions)


def select(
    dataset: Dataset, *, limit: int | None = None, sample: int | None = None, seed: int = 0, ids: Collection[str] = ()
) -> tuple[Question, ...]:
    """Keep those of `ids` (all where it is empty), draw a random sample in the dataset's order, and take the first
    ones."""
    for name, number in (("limit", limit), ("sample", sample)):
        if number is not None and number < 1:
            raise UsageError(f"--{name} {number} leaves no question.", hint=f"Give --{name} 1 or more.")
    chosen = [question for question in dataset.questions if not ids or question.id in ids]
    if sample is not None and sample < len(chosen):
        drawn = random.Random(seed).sample(range(len(chosen)), sample)
        chosen = [chosen[index] for index in sorted(drawn)]
    return tuple(chosen[:limit])


# --- fields ----------------------------------------------------------------------------------


def _as_text(value: Any) -> str:
    """A text or a number in words, "" for null. Raises ValueError for anything else, also for NaN and infinity."""
    if not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError("it is no text, and no number")
    return "" if value is None else str(value).strip()


def _listed(value: Any) -> Any:
    """The JSON or Python text of a list or an object as what it says; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise ValueError("it is no list")


def _as_texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, each once; a text alone is one of them, where it has no "|"."""
    value = _listed(value)
    items = value.split("|") if isinstance(value, str) else [] if value is None else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str | int | float) for item in items):
        raise ValueError("it is no list of texts")
    return tuple(dict.fromkeys(filter(None, map(_as_text, items))))


def _as_answers(value: Any) -> tuple[str, ...]:
    """One answer or several; JSON's true and false are yes and no."""
    values = value if isinstance(value, list) else [value]
    worded = ("yes" if item is True else "no" if item is False else item for item in values)
    return tuple(dict.fromkeys(filter(None, map(_as_text, worded))))


def _columns(value: Any) -> Any:
    """Pairs, also where they come as two columns (as Hugging Face makes of them) or as printed text."""
    value = _listed(value)
    return list(zip(*value.values(), strict=True)) if isinstance(value, dict) else value


def _titles(links: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(title for link in links if (title := title_of(link))))


_Text = Annotated[str, BeforeValidator(_as_text)]
_Words = Annotated[str, BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value)]
_Texts = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]
_Answers = Annotated[tuple[str, ...], BeforeValidator(_as_answers)]
_Kind = Annotated[Answerability, BeforeValidator(lambda value: _as_text(value).lower() or "answerable")]


# --- the forms -------------------------------------------------------------------------------


class _Asked(BaseModel):
    """A row of one question, with the fields that most forms share."""

    name: ClassVar[str] = "plain"
    told_by: ClassVar[set[str]] = {"question"}

    id: _Text = Field("", validation_alias=AliasChoices("id", "_id"))
    text: _Words = Field(min_length=1, validation_alias="question")
    answers: _Answers = Field(validation_alias=AliasChoices("answer", "answers"))
    aliases: _Texts = Field((), validation_alias=AliasChoices("aliases", "answer_aliases"))
    types: _Texts = Field((), validation_alias=AliasChoices("types", "type", "reasoning_types"))
    kind: _Kind = Answerability.ANSWERABLE
    gold_titles: _Texts = ()

    def questions(self) -> Iterator[Question]:
        yield self.question(_titles(self.gold_titles))

    def question(self, gold_titles: tuple[str, ...], paragraphs: tuple[Paragraph, ...] = ()) -> Question:
        answers = tuple(dict.fromkeys((*self.answers, *self.aliases)))
        return Question(self.id, self.text, answers, self.kind, self.types, gold_titles, paragraphs)


class _Frames(_Asked):
    name = "FRAMES"
    told_by: ClassVar[set[str]] = {"Prompt", "Answer"}

    id: _Text = Field("", validation_alias=AliasChoices("id", "", "Unnamed: 0"))
    text: _Words = Field(min_length=1, validation_alias="Prompt")
    answers: _Answers = Field(validation_alias="Answer")
    links: _Texts = Field((), validation_alias="wiki_links")
    model_config = {"extra": "allow"}

    def questions(self) -> Iterator[Question]:
        columns = ((name, cell) for name, cell in (self.model_extra or {}).items() if isinstance(cell, str) and cell)
        # One column per link; the last, "wikipedia_link_11+", holds the rest.
        cells = self.links or [cell for name, cell in columns if name.startswith("wikipedia_link_")]
        entries = (link for cell in cells for link in (links_in(cell) if is_link(cell) else [cell]))
        yield self.question(_titles(entries))


class _Hotpot(_Asked):
    """HotpotQA's and 2Wiki's own files, and the columns that Hugging Face makes of them."""

    name = "HotpotQA"
    told_by: ClassVar[set[str]] = {"question", "context", "supporting_facts"}

    context: Annotated[list[tuple[str, list[str]]], BeforeValidator(_columns)]
    supporting_facts: Annotated[list[tuple[str, Any]], BeforeValidator(_columns)]

    def questions(self) -> Iterator[Question]:
        needed = dict.fromkeys(title for title, _ in self.supporting_facts)
        paragraphs = (
            Paragraph(title, " ".join(sentence.strip() for sentence in sentences), title in needed)
            for title, sentences in self.context
        )
        yield self.question(tuple(needed), tuple(paragraphs))


class _Part(BaseModel):
    title: str
    text: str = Field(validation_alias=AliasChoices("text", "paragraph_text"))
    supporting: bool = Field(validation_alias=AliasChoices("supporting", "is_supporting"))


class _MultiHop(_Asked):
    name = "multi-hop"
    told_by: ClassVar[set[str]] = {"question", "paragraphs"}

    paragraphs: list[_Part]
    answerable: bool = True

    def questions(self) -> Iterator[Question]:
        # A paragraph without words cannot be found or read.
        parts = tuple(
            Paragraph(part.title, part.text, part.supporting) for part in self.paragraphs if part.text.strip()
        )
        question = self.question(tuple(dict.fromkeys(part.title for part in parts if part.supporting)), parts)
        yield question if self.answerable else replace(question, kind=Answerability.NOT_IN_CORPUS)


class _Answer(BaseModel):
    text: _Text


class _Squad(BaseModel):
    """Every context is a paragraph of its questions; a question that it does not answer is not in the corpus."""

    class Article(BaseModel):
        class Context(BaseModel):
            class Query(BaseModel):
                id: _Text = ""
                question: _Words = Field(min_length=1)
                answers: list[_Answer]
                is_impossible: bool = False

            context: str
            qas: list[Query]

        title: str = ""
        paragraphs: list[Context]

    name: ClassVar[str] = "SQuAD"
    told_by: ClassVar[set[str]] = {"data"}
    data: list[Article]

    def questions(self) -> Iterator[Question]:
        for article in self.data:
            for paragraph in article.paragraphs:
                for asked in paragraph.qas:
                    held = not asked.is_impossible
                    answers = dict.fromkeys(answer.text for answer in asked.answers if answer.text) if held else ()
                    yield Question(
                        asked.id,
                        asked.question,
                        tuple(answers),
                        Answerability.ANSWERABLE if held else Answerability.NOT_IN_CORPUS,
                        gold_titles=(article.title,) if held and article.title else (),
                        paragraphs=(Paragraph(article.title, paragraph.context, held),),
                    )


# From the most specific to the least: a multi-hop row is also a plain one.
_FORMS: tuple[type[_Squad] | type[_Asked], ...] = (_Squad, _Frames, _Hotpot, _MultiHop, _Asked)


def _read(form: type[_Squad] | type[_Asked], row: Row) -> list[Question]:
    try:
        return list(form.model_validate(row.fields).questions())
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        said = first["msg"].removeprefix("Value error, ")
        raise row.fault(f"is no question of the form {form.name}: {field}: {said}") from error


def _with_ids(path: Path, questions: Sequence[Question]) -> tuple[Question, ...]:
    """Derive missing ids from the question's text, so that they survive a change of order."""
    given = Counter(question.id for question in questions if question.id)
    if doubled := [question_id for question_id, count in given.items() if count > 1]:
        raise broken(path, f"several questions have the id {' and '.join(doubled[:5])}")
    seen: Counter[str] = Counter()
    named = []
    for question in questions:
        if not question.id:
            made = "q-" + hashlib.sha256(question.text.encode()).hexdigest()[:12]
            seen[made] += 1
            question = replace(question, id=f"{made}-{seen[made]}" if seen[made] > 1 else made)
        named.append(question)
    return tuple(named)


def _stem(path: Path) -> str:
    name = path.name
    while name.lower().endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return name or path.name
