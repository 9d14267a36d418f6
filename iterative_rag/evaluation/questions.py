"""A question of a dataset, with everything its file says about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Answerability(StrEnum):
    """Whether the corpus holds an answer; for the other two an abstention is right."""

    ANSWERABLE = "answerable"
    FALSE_PREMISE = "false_premise"
    NOT_IN_CORPUS = "not_in_corpus"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph that comes with a question; `supporting` ones are needed for the answer."""

    title: str
    text: str
    supporting: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are the accepted answers, the gold one first; empty where the dataset gives none.

    `gold_titles` are the titles of the articles that are needed, as the dataset spells them (a Wikipedia URL is
    already turned into its title). `types` are the dataset's own reasoning types.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    kind: Answerability = Answerability.ANSWERABLE
    types: tuple[str, ...] = ()
    gold_titles: tuple[str, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file of questions. `digest` is the SHA-256 of its bytes, `form` the recognised format's name."""

    name: str
    form: str
    digest: str
    questions: tuple[Question, ...] = field(repr=False)
