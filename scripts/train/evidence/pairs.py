"""Questions over two articles at once: one says whom or what is meant, the other has the answer.

HotpotQA's bridge questions and the halves A of the other sets have such pairs. More are composed: a name in a question
of one hop gives way to what another question says of it ("the person who wrote X"), and both passages are shown. A pair
does not answer where one of the two is another article's, even if the answer stands in it. Pairs look as the quotes of
an answer do when it is read again: each text behind its title, without a heading.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from iterative_rag.text.sentences import sentences
from scripts.train.data import half, occurrences
from scripts.train.evidence import files
from scripts.train.evidence.aside import Parts, titles_of
from scripts.train.evidence.asked import POLAR, Asked, Shown, holds, shared_words
from scripts.train.split_compose import described

SOURCE = "pair"
WIDTH = 420  # characters of each text, so that both fit into a window of the reader
QUOTED = 0.3  # of the texts are a single sentence, as a quote is
COMPOSED, DESCRIBED = 2, 6  # questions at most that are made of one, and with one description
HALVES = ("multihop/2wiki_train.jsonl", "multihop/musique_train.jsonl")
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w’'-]+(?: (?:(?:of|the|de|von|van) )?[A-ZÀ-Þ][\w’'-]+)+")


class Text(NamedTuple):
    title: str
    text: str


def everything(folder: Path, parts: Parts, seed: str) -> Iterator[Asked]:
    """All questions over two articles; each says its part."""
    chance = random.Random(f"{seed}/pairs")
    for name in (*files.HOTPOT, *HALVES):
        for row in files.rows(folder, name):
            supporting = [Text(p["title"], p["text"]) for p in row["paragraphs"] if p["supporting"]]
            known = row.get("labels", "gold") == "gold" and (name in files.HOTPOT or half(row["id"]) == "A")
            if known and len(supporting) == 2 and row["answer"] not in POLAR:
                others = [Text(p["title"], p["text"]) for p in row["paragraphs"] if not p["supporting"]]
                others.sort(key=lambda one: -shared_words(row["question"], one.text))
                part = parts.part(titles_of(name, row, {}))
                yield from _asked(part, row["question"], row["answer"], supporting, others, chance)
    yield from _of_sentences(folder, parts)
    yield from _composed(folder, parts, chance)


def _asked(
    part: str, question: str, answer: str, gold: Sequence[Text], others: Sequence[Text], chance: random.Random
) -> Iterator[Asked]:
    """The question over its two texts, if the answer stands in one of them."""
    holding = [one for one in gold if occurrences(one.text, answer)]
    if not holding:
        return
    told = holding[-1]
    leading = gold[0] if told is gold[1] else gold[1]
    missing = [one for one in others if not holds(f"{one.title} {one.text}", [answer])][:4]
    wrong = [pair for other in missing[:2] for pair in ((told, other), (leading, other))]
    wrong += [(missing[0], missing[1])] if len(missing) > 1 else []
    # Where both texts hold the answer, each may answer with another one.
    wrong = [pair for pair in wrong if len(holding) == 1 or told not in pair]
    shown = _shown((told, leading), question, answer, chance)
    if shown.spans:
        apart = tuple(_shown(pair, question, answer, chance, answers=False) for pair in wrong)
        yield Asked(part, SOURCE, question, (answer,), (shown,), apart)


def _shown(pair: Sequence[Text], question: str, answer: str, chance: random.Random, *, answers: bool = True) -> Shown:
    texts = [f"{one.title}: {_excerpt(one, question, answer, chance)}" for one in chance.sample(pair, 2)]
    text = " ".join(texts)
    return Shown("", "", text, occurrences(text, answer)[:1] if answers else (), answers)


def _excerpt(one: Text, question: str, answer: str, chance: random.Random) -> str:
    """Sentences around the answer, or where there is none around what shares most with the question."""
    told = sentences(one.text) or [one.text]
    holding = [place for place, sentence in enumerate(told) if occurrences(sentence, answer)]
    nearest = max(range(len(told)), key=lambda place: shared_words(question, told[place]))
    first = last = holding[0] if holding else nearest
    width = 0 if chance.random() < QUOTED else WIDTH
    while first > 0 and sum(map(len, told[first - 1 : last + 1])) < width:
        first -= 1
    while last + 1 < len(told) and sum(map(len, told[first : last + 2])) < width:
        last += 1
    return " ".join(told[first : last + 1])


def _of_sentences(folder: Path, parts: Parts) -> Iterator[Asked]:
    """HotpotQA's dev part with its supporting sentences alone; without the one that holds the answer they give none."""
    for row in files.rows(folder, files.HOTPOT_SENTENCES):
        answer, text = row["answer"].replace(",", ""), row["gold_sentences"]
        if row["answer"] in POLAR or not (spans := occurrences(text, answer)):
            continue
        left = [sentence for sentence in sentences(text) if not occurrences(sentence, answer)]
        others = (Shown("", "", " ".join(left), (), False),) if left else ()
        part = parts.part(titles_of(files.HOTPOT_SENTENCES, row, {}))
        yield Asked(part, SOURCE, row["question"], (answer,), (Shown("", "", text, spans[-1:], True),), others)


def _composed(folder: Path, parts: Parts, chance: random.Random) -> Iterator[Asked]:
    """Questions of one hop, in each of which a name is described by another one whose answer it is."""
    rows = [row for name in files.READING for row in files.rows(folder, name)]
    rows = [row for row in rows if row["title"] and row["answers"] and row["source"] != "squad_addsent"]
    describing: dict[str, list[tuple[str, Text]]] = {}
    articles: dict[str, list[Text]] = {}
    for row in rows:
        text = Text(row["title"].replace("_", " "), row["context"])
        articles.setdefault(text.title, []).append(text)
        answer = row["answers"][0]["text"]
        if _NAME.fullmatch(answer) and (description := described(row["question"].strip())):
            describing.setdefault(answer, []).append((description, text))
    used: Counter[str] = Counter()
    for row in chance.sample(rows, len(rows)):
        text, answer = Text(row["title"].replace("_", " "), row["context"]), row["answers"][0]["text"]
        for name in (match[0] for match in _NAME.finditer(row["question"]) if match[0] in describing):
            # Only together may the two texts answer.
            apart = [one for one in describing[name] if one[1].title != text.title and not holds(one[1].text, [answer])]
            apart = [one for one in apart if used[one[0]] < DESCRIBED]
            for description, leading in chance.sample(apart, min(len(apart), COMPOSED)):
                used[description] += 1
                named = re.compile(rf"(?:\b[Tt]he )?{re.escape(name)}")
                question = named.sub(lambda _, put=description: put, row["question"].strip())  # type: ignore[misc]
                beside = [*articles[leading.title], *articles[text.title]]
                others = [one for one in beside if one not in (leading, text) and not holds(one.text, [name])]
                part = parts.part([text.title, leading.title])
                drawn = chance.sample(others, min(4, len(others)))
                yield from _asked(part, question, answer, (leading, text), drawn, chance)
