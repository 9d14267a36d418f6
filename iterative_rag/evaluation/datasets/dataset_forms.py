"""A file of questions -> a Dataset. The fields of the first row decide which form it is.

| form | a row needs | and may have |
|---|---|---|
| FRAMES | `Prompt, Answer`, and `wiki_links` or `wikipedia_link_1` ... | `reasoning_types, id, aliases, kind` |
| HotpotQA, 2Wiki | `question, answer, context, supporting_facts` | `_id, type` |
| FanOutQA | `question, answer, necessary_evidence` | `id, categories` |
| multi-hop | `question, answer, paragraphs: [{title, text, supporting}]` | `id, aliases, type, decomposition` |
| plain | `question, answer` (or `answers`) | `id, aliases, types, kind, gold_titles, expected_steps, courses` |
| SQuAD | `data: [{title, paragraphs: [{context, qas: [...]}]}]` | `is_impossible` of version 2 |

A list of answers gives alternatives; FanOutQA's are all needed, as are the pairs of its answers that are objects: they
are one answer, "A; B" or "A: 1; B: 2". MuSiQue's own names of fields are read as those of multi-hop questions. FRAMES
is read from the published TSV too, or from CSV. `expected_steps` of a multi-hop question are the answers of MuSiQue's
decomposition, the last being the answer itself; 2Wiki's evidences are not taken, because their objects are labels of a
database and not what the text says. `courses` are the courses that a run may take, lists of names of steps.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.datasets.question_files import Row, broken, read_bytes, rows
from iterative_rag.evaluation.datasets.wikipedia_links import is_link, links_in, title_of
from iterative_rag.evaluation.questions import Answerability, Dataset, Paragraph, Question
from iterative_rag.storage.trace import event_name
from iterative_rag.types import Step

STEP_NAMES = frozenset(event_name(step) for step in get_args(Step))
_SUFFIXES = (".gz", ".jsonl", ".json", ".tsv", ".csv", ".txt")
_FIRST_LINK = "wikipedia_link_1"


def load(path: Path) -> Dataset:
    """The questions of a file. Raises UsageError naming the fault and its line."""
    path = path.expanduser()
    data = read_bytes(path)
    parsed = rows(path, data)
    form = _form_of(path, parsed[0])
    for row in parsed:
        if missing := form.missing(row.fields):
            raise row.fault(f"lacks {_listed(missing)} ({form.name})")
    questions = _with_ids(path, [question for row in parsed for question in form.read(row)])
    if not questions:
        raise broken(path, "it holds no question")
    return Dataset(_stem(path), form.name, hashlib.sha256(data).hexdigest(), questions)


def select(
    dataset: Dataset,
    *,
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    types: Sequence[str] = (),
    ids: Collection[str] = (),
) -> tuple[Question, ...]:
    """Keep those of `ids` (all where it is empty) and of the reasoning types, draw a random sample in the dataset's
    order, and take the first ones."""
    for name, number in (("limit", limit), ("sample", sample)):
        if number is not None and number < 1:
            raise UsageError(f"--{name} {number} leaves no question.", hint=f"Give --{name} 1 or more.")
    chosen = _of_types(dataset, types) if types else list(dataset.questions)
    if ids:
        chosen = [question for question in chosen if question.id in ids]
    if sample is not None and sample < len(chosen):
        places = random.Random(seed).sample(range(len(chosen)), sample)
        chosen = [chosen[index] for index in sorted(places)]
    return tuple(chosen[:limit])


def _of_types(dataset: Dataset, types: Sequence[str]) -> list[Question]:
    known = {name.casefold(): name for question in dataset.questions for name in question.types}
    wanted = {name.strip().casefold() for name in types}
    if unknown := sorted(wanted - known.keys()):
        raise UsageError(
            f"The dataset {dataset.name} has no questions of the type {', '.join(map(repr, unknown))}.",
            hint=f"It has {_listed(sorted(known.values()))}." if known else "It names no types: leave --types out.",
        )
    return [question for question in dataset.questions if wanted & {name.casefold() for name in question.types}]


# --- the forms -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Form:
    """The fields of a form: `needs` lists each required field with its accepted names."""

    name: str
    needs: tuple[tuple[str, ...], ...]
    read: Callable[[Row], Iterable[Question]]

    def missing(self, fields: Mapping[str, Any]) -> list[str]:
        return [names[0] for names in self.needs if not any(name in fields for name in names)]


def _form_of(path: Path, first: Row) -> _Form:
    """The form that requires most of the given fields; the error names the nearest form if none fits."""
    fitting = next((form for form in _FORMS if not form.missing(first.fields)), None)
    if fitting:
        return fitting
    near = min(reversed(_FORMS), key=lambda form: len(form.missing(first.fields)) / len(form.needs))
    there = _listed([name or "(no name)" for name in first.fields]) if first.fields else "no fields"
    raise broken(
        path,
        f"the nearest form is {near.name}, but {first.place} lacks {_listed(near.missing(first.fields))}",
        hint=f"It has {there}. Forms: {'; '.join(_described(form) for form in _FORMS)}.",
    )


def _described(form: _Form) -> str:
    return f"{form.name} ({', '.join(names[0] for names in form.needs)})"


def _frames(row: Row) -> Iterator[Question]:
    fields = row.fields
    if "wiki_links" in fields:
        links = _items(row, "wiki_links", split=links_in)
    else:  # one column per link; the last, "wikipedia_link_11+", holds the rest
        cells = [value for name, value in fields.items() if name.startswith("wikipedia_link_") and value]
        links = tuple(link for cell in cells for link in links_in(str(cell)))
    identity = next((fields[name] for name in ("id", "", "Unnamed: 0") if _filled(fields.get(name))), "")
    yield Question(
        id=str(identity).strip(),
        text=_words(row, "Prompt"),
        answers=_answers(row, "Answer"),
        kind=_kind(row),
        types=_items(row, "reasoning_types", split=lambda text: text.split("|")),
        gold_titles=_titles(link for entry in links for link in (links_in(entry) if is_link(entry) else [entry])),
    )


def _hotpot(row: Row) -> Iterator[Question]:
    """HotpotQA's and 2Wiki's own files, and the columns that Hugging Face makes of them."""
    context, facts = (_columns(row, name) for name in ("context", "supporting_facts"))
    try:
        needed = dict.fromkeys(str(title) for title, _ in facts)
        given = tuple(
            Paragraph(
                str(title), "".join(sentences) if _spaced(sentences) else " ".join(sentences), str(title) in needed
            )
            for title, sentences in context
        )
    except (TypeError, ValueError) as error:
        raise row.fault("has a context that is no list of titles with their sentences") from error
    yield replace(_question(row), gold_titles=tuple(needed), paragraphs=given)


def _columns(row: Row, name: str) -> list[Any]:
    """Pairs, also where they come as two columns or as printed text."""
    given = row.fields[name]
    given = _printed_list(row, name, given) if isinstance(given, str) else given
    return list(zip(*given.values(), strict=True)) if isinstance(given, dict) else given


def _spaced(sentences: Sequence[str]) -> bool:
    return any(text[:1].isspace() for text in sentences[1:]) or any(text[-1:].isspace() for text in sentences[:-1])


def _fan_out(row: Row) -> Iterator[Question]:
    evidence = row.fields["necessary_evidence"]
    if not isinstance(evidence, list) or not all(isinstance(article, dict) for article in evidence):
        raise row.fault("has no list of articles for necessary_evidence")
    yield replace(
        _question(replace(row, fields={**row.fields, "answer": _all_of(row.fields["answer"])})),
        types=_items(row, "categories"),
        gold_titles=_titles(str(article.get("url") or article.get("title") or "") for article in evidence),
    )


def _all_of(value: Any) -> str:
    """Values that are needed together as one answer: "A; B", and "A: 1; B: 2"."""
    match value:
        case dict():
            return "; ".join(f"{key}: {_all_of(part).replace(';', ',')}" for key, part in value.items())
        case list():
            return "; ".join(map(_all_of, value))
    return "yes" if value is True else "no" if value is False else str(value)


def _multi_hop(row: Row) -> Iterator[Question]:
    fields = row.fields
    given = fields["paragraphs"]
    if not isinstance(given, list):
        raise row.fault("has paragraphs that are no list")
    read = [_paragraph(row, number, paragraph) for number, paragraph in enumerate(given, start=1)]
    # A paragraph without words cannot be found or read.
    paragraphs = tuple(paragraph for paragraph in read if paragraph.text.strip())
    steps = fields.get("decomposition", fields.get("question_decomposition")) or ()
    try:
        expected = tuple(str(step["answer"]) for step in steps)
    except (TypeError, KeyError) as error:
        raise row.fault("has a decomposition with a step that has no answer") from error
    question = _question(row)
    yield replace(
        question,
        kind=Answerability.NOT_IN_CORPUS if fields.get("answerable") is False else question.kind,
        gold_titles=tuple(dict.fromkeys(paragraph.title for paragraph in paragraphs if paragraph.supporting)),
        paragraphs=paragraphs,
        expected_steps=expected,
    )


def _paragraph(row: Row, number: int, given: Any) -> Paragraph:
    if isinstance(given, dict) and "paragraph_text" in given:
        given = {**given, "text": given["paragraph_text"], "supporting": given.get("is_supporting", False)}
    missing = [name for name in ("title", "text", "supporting") if not isinstance(given, dict) or name not in given]
    if missing:
        raise row.fault(f"lacks {_listed(missing)} in its paragraph {number}")
    return Paragraph(str(given["title"]), str(given["text"]), bool(given["supporting"]))


def _plain(row: Row) -> Iterator[Question]:
    yield replace(
        _question(row),
        gold_titles=_titles(_items(row, "gold_titles")),
        expected_steps=_items(row, "expected_steps"),
        courses=_courses(row),
    )


def _courses(row: Row) -> tuple[tuple[str, ...], ...]:
    """The allowed courses; one alone may be given as a list of names."""
    given = row.fields.get("courses") or []
    if isinstance(given, list) and all(isinstance(name, str) for name in given):
        given = [given] if given else []
    if not isinstance(given, list) or not all(
        isinstance(course, list) and all(isinstance(name, str) for name in course) for course in given
    ):
        raise row.fault("has no list of lists of step names for courses")
    if unknown := sorted({name for course in given for name in course} - STEP_NAMES):
        raise row.fault(f"has the unknown step {unknown[0]!r}", hint=f"Steps are {_listed(sorted(STEP_NAMES))}.")
    return tuple(tuple(course) for course in given)


def _question(row: Row) -> Question:
    """The fields that multi-hop and plain questions share."""
    fields = row.fields
    types = next((name for name in ("types", "type", "reasoning_types") if name in fields), "types")
    return Question(
        id=next((str(fields[name]).strip() for name in ("id", "_id") if _filled(fields.get(name))), ""),
        text=_words(row, "question"),
        answers=_answers(row, "answer" if "answer" in fields else "answers"),
        kind=_kind(row),
        types=_items(row, types, split=lambda text: text.split("|")),
    )


def _squad(row: Row) -> Iterator[Question]:
    """Every context is a paragraph of its questions; a question that it does not answer is not in the corpus."""
    try:
        for article in row.fields["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    answers = [answer["text"] for answer in asked["answers"]]
                    impossible = bool(asked.get("is_impossible", False))
                    title = str(article.get("title", ""))
                    yield Question(
                        id=str(asked.get("id", "")),
                        text=_words(Row(row.path, f"the question {asked.get('id', '')!r}", asked), "question"),
                        answers=() if impossible else tuple(dict.fromkeys(map(str, answers))),
                        kind=Answerability.NOT_IN_CORPUS if impossible else Answerability.ANSWERABLE,
                        gold_titles=() if impossible or not title else (title,),
                        paragraphs=(Paragraph(title, str(paragraph["context"]), not impossible),),
                    )
    except KeyError as error:
        raise broken(row.path, f"a part of its SQuAD data lacks {error.args[0]}") from error
    except (TypeError, AttributeError) as error:
        raise broken(row.path, "its data is not of SQuAD's form") from error


# From the most specific to the least: a multi-hop row is also a plain one.
_FORMS = (
    _Form("SQuAD", (("data",),), _squad),
    _Form("FRAMES", (("Prompt",), ("Answer",), ("wiki_links", _FIRST_LINK)), _frames),
    _Form("HotpotQA", (("question",), ("answer",), ("context",), ("supporting_facts",)), _hotpot),
    _Form("FanOutQA", (("question",), ("answer",), ("necessary_evidence",)), _fan_out),
    _Form("multi-hop", (("question",), ("answer", "answers"), ("paragraphs",)), _multi_hop),
    _Form("plain", (("question",), ("answer", "answers")), _plain),
)


# --- fields ----------------------------------------------------------------------------------


def _filled(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _words(row: Row, name: str) -> str:
    value = row.fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise row.fault(f"has an empty {name}")
    return value.strip()


def _answers(row: Row, name: str) -> tuple[str, ...]:
    """The gold answer, or several, then the aliases; JSON's true and false are yes and no."""
    given = row.fields[name]
    aliases = [*_items(row, "aliases"), *_items(row, "answer_aliases")]
    if isinstance(given, dict) and "value" in given and isinstance(given.get("aliases"), list):
        given = [given["value"], *given["aliases"]]  # TriviaQA's
    values = [*(given if isinstance(given, list) else [given]), *aliases]
    worded = ["yes" if value is True else "no" if value is False else value for value in values]
    if any(isinstance(value, dict | list) for value in worded):
        raise row.fault(f"has no text, and no list of texts, for {name}")
    return tuple(dict.fromkeys(str(value).strip() for value in worded if _filled(value)))


def _kind(row: Row) -> Answerability:
    given = row.fields.get("kind")
    if not _filled(given):
        return Answerability.ANSWERABLE
    try:
        return Answerability(str(given).strip().lower())
    except ValueError as error:
        raise row.fault(f"has the unknown kind {given!r}", hint=f"Kinds are {_listed(list(Answerability))}.") from error


def _items(row: Row, name: str, *, split: Callable[[str], list[str]] | None = None) -> tuple[str, ...]:
    """A list, the JSON or Python text of one, or a text that `split` takes apart; () where there is nothing."""
    given = row.fields.get(name)
    if isinstance(given, str):
        given = _printed_list(row, name, given) if given.lstrip().startswith("[") else (split or _one)(given)
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(item, str | int | float) for item in given):
        raise row.fault(f"has no list of texts for {name}")
    return tuple(dict.fromkeys(str(item).strip() for item in given if _filled(item)))


def _one(text: str) -> list[str]:
    return [text]


def _printed_list(row: Row, name: str, text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise row.fault(f"has no list for {name}")


def _titles(links: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(title for link in links if (title := title_of(link))))


def _with_ids(path: Path, questions: Sequence[Question]) -> tuple[Question, ...]:
    """Derive missing ids from the question's text, so that they survive a change of order."""
    given = Counter(question.id for question in questions if question.id)
    if doubled := [question_id for question_id, count in given.items() if count > 1]:
        more = f" and {len(doubled) - 5} more" if len(doubled) > 5 else ""
        raise broken(path, f"several questions have the id {_listed(doubled[:5])}{more}")
    seen: Counter[str] = Counter()
    named = []
    for question in questions:
        if not question.id:
            made = "q-" + hashlib.sha256(question.text.encode()).hexdigest()[:12]
            seen[made] += 1
            number = f"-{seen[made]}" if seen[made] > 1 else ""
            question = replace(question, id=made + number)
        named.append(question)
    return tuple(named)


def _stem(path: Path) -> str:
    name = path.name
    while name.lower().endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return name or path.name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
