"""Questions of all datasets in one form, each with the passages that answer it and some that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from scripts.train.data import occurrences, plain
from scripts.train.evidence import files
from scripts.train.evidence.aside import Parts, titles_of

YES, NO, UNDECIDED = 0, 1, 2
POLAR = {"yes": YES, "no": NO}
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage as the reader sees it. `spans` are the places of the answer; `answers` says whether the passage answers
    the question by itself (None: unknown)."""

    title: str
    section: str
    text: str
    spans: Spans = ()
    answers: bool | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. `others` do not answer it, hardest first; `polar` is YES or NO for a yes/no question."""

    part: str
    source: str
    question: str
    answers: tuple[str, ...]
    gold: tuple[Shown, ...]
    others: tuple[Shown, ...] = ()
    polar: int | None = None


def everything(folder: Path, parts: Parts) -> Iterator[Asked]:
    """All questions of the data folder, those of KEPT articles included; each says its part."""
    yield from reading(folder, parts)
    yield from boolq(folder, parts)
    yield from timeqa(folder, parts)
    yield from hotpot(folder, parts)
    yield from hotpot_sentences(folder, parts)


@lru_cache(maxsize=100_000)
def _plain(text: str) -> tuple[str, frozenset[str]]:
    """A text in small letters between single spaces, and its words: paragraphs are compared with many questions."""
    bare = plain(text)
    return f" {bare} ", frozenset(bare.split())


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether any of the answers stands in a text as whole words, typography aside."""
    words, _ = _plain(text)
    return any(_plain(answer)[0] in words for answer in answers if _plain(answer)[1])


def shared_words(question: str, text: str) -> int:
    return len(_plain(question)[1] & _plain(text)[1])


# --- reading ------------------------------------------------------------------------------------


def reading(folder: Path, parts: Parts) -> Iterator[Asked]:
    """SQuAD, SQuADShifts, Natural Questions, Quoref, adversarial SQuAD: an answer is a span of one paragraph."""
    rows = [row for name in files.READING for row in files.rows(folder, name)]
    articles: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["title"] and row["source"] != "squad_addsent":  # its paragraphs are others' with a sentence added
            articles.setdefault(row["title"].replace("_", " "), {})[row["context"]] = None
    for row in rows:
        title = row["title"].replace("_", " ")
        part = parts.part([title], row["context"])
        answers = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
        places = tuple(dict.fromkeys((a["start"], a["start"] + len(a["text"])) for a in row["answers"]))
        gold = Shown(re.sub(r" 0$", "", title), "", row["context"], places, bool(places))
        near = [text for text in articles.get(title, ()) if text != row["context"] and not holds(text, answers)]
        near.sort(key=lambda text: -shared_words(row["question"], text))
        others = tuple(Shown(gold.title, "", text, (), False) for text in near[:4]) if places else ()
        yield Asked(part, row["source"], row["question"], answers, (gold,), others)


def boolq(folder: Path, parts: Parts) -> Iterator[Asked]:
    """Natural yes/no questions with the paragraph that decides them."""
    for row in files.rows(folder, files.BOOLQ):
        gold = Shown(row["title"], "", row["context"], (), True)
        question = row["question"].rstrip("?") + "?"
        yield Asked(parts.part([row["title"]]), "boolq", question, (), (gold,), (), POLAR[row["answer"]])


def timeqa(folder: Path, parts: Parts) -> Iterator[Asked]:
    """Questions about a time over all sections of a long page.

    Which paragraph answers is not marked: it is the one that holds an answer, or shares most with the question among
    those that do. The others that hold one teach nothing.
    """
    for row in files.rows(folder, files.TIMEQA):
        page = row["page"].removeprefix("/wiki/").replace("_", " ")
        answers = tuple(answer for answer in row["answers"] if answer)
        shown = [
            Shown(page, "" if p["title"] == page else p["title"], p["text"], _places(p["text"], answers))
            for p in row["paragraphs"]
        ]
        shown.sort(key=lambda one: -shared_words(row["question"], one.text))
        holding = [one for one in shown if one.spans]
        gold = (_judged(holding[0], True),) if holding else ()
        others = tuple(_judged(one, False) for one in shown if not holds(one.text, answers))[:4]
        if gold or not answers:
            part = parts.part(titles_of(files.TIMEQA, row, {}))
            yield Asked(part, "timeqa", row["question"], answers, gold, others)


def _places(text: str, answers: Sequence[str]) -> Spans:
    return tuple(place for answer in answers for place in occurrences(text, answer)[:1])


def _judged(shown: Shown, answers: bool) -> Shown:
    return Shown(shown.title, shown.section, shown.text, shown.spans, answers)


# --- several hops ---------------------------------------------------------------------------------


def hotpot(folder: Path, parts: Parts) -> Iterator[Asked]:
    """Yes/no questions over both gold paragraphs as one passage; and whole questions, whose answer stands in one
    paragraph that does not answer by itself."""
    for name in files.HOTPOT:
        for row in files.rows(folder, name):
            if row.get("labels", "gold") == "unknown":
                continue
            part = parts.part(titles_of(name, row, {}))
            supporting = [p for p in row["paragraphs"] if p["supporting"]]
            others = [p for p in row["paragraphs"] if not p["supporting"]]
            if row["answer"] in POLAR:
                gold = (_together(supporting, True),)
                half = tuple(_together([one, other], False) for one, other in zip(supporting, others[:2], strict=False))
                yield Asked(part, "hotpot_polar", row["question"], (), gold, half, POLAR[row["answer"]])
            elif row["type"] == "bridge":
                shown = [_whole(p, row["answer"]) for p in supporting]
                found = tuple(one for one in shown if one.spans)
                apart = tuple(Shown(p["title"], "", p["text"], (), False) for p in others)
                missing = tuple(one for one in apart if not holds(one.text, [row["answer"]]))
                yield Asked(part, "hotpot_whole", row["question"], (row["answer"],), found, missing[:4])


def hotpot_sentences(folder: Path, parts: Parts) -> Iterator[Asked]:
    """Yes/no questions of HotpotQA's dev part with their supporting sentences alone."""
    for row in files.rows(folder, files.HOTPOT_SENTENCES):
        if row["answer"] in POLAR:
            part = parts.part(titles_of(files.HOTPOT_SENTENCES, row, {}))
            gold = Shown(" and ".join(row["titles"]), "", row["gold_sentences"], (), True)
            yield Asked(part, "hotpot_polar", row["question"], (), (gold,), (), POLAR[row["answer"]])


def _together(paragraphs: Sequence[Mapping[str, Any]], answers: bool) -> Shown:
    """Paragraphs of two articles as one passage, shortened so that the beginning of both is seen."""
    text = "\n".join(f"{p['title']}: {p['text'][:420]}" for p in paragraphs)
    return Shown(" and ".join(p["title"] for p in paragraphs), "", text, (), answers)


def _whole(paragraph: Mapping[str, Any], answer: str) -> Shown:
    return Shown(paragraph["title"], "", paragraph["text"], occurrences(paragraph["text"], answer)[:1], None)


def shuffled(asked: Sequence[Asked], seed: str) -> list[Asked]:
    mixed = list(asked)
    random.Random(seed).shuffle(mixed)
    return mixed
