"""Makes nested questions: a question with a place for an entity, and a description put into that place.

Questions come from templates and from pairs of a question and its rewriting, in which a description or a pronoun was
replaced by what was found; descriptions come from templates, from the same pairs, from reading questions ("Who wrote
X?" gives "the person who wrote X") and from the spans of the marked questions. All offsets are known by construction.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.builtin.language.function_words import AUXILIARIES, PREPOSITIONS, word_set
from iterative_rag.builtin.language.tokens import is_verb, tokenize
from scripts.train.data import half, multi_hop, records
from scripts.train.split_data import ASKS, Example, asks, mark_asks, spliced
from scripts.train.split_marks import CLAUSE, COMPARISON, INTERSECTION, NESTED, PART, PHRASE, SINGLE, Mark

ANY = -1
WHO, WHERE, WHEN, WHICH, WHAT = range(len(ASKS))

_TEMPLATES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("split_templates.toml").read_text(encoding="utf-8"))
_PAIR = re.compile(r"^(?:this|that|these|those|the) ([\w-]+)$", re.IGNORECASE)
_PERSONAL = word_set("he she him")
_POINTING = re.compile(
    r"^(?:this|that|these|those|his|her|their|its)\b|\b(?:mentioned|previous|answer|this|that) (?!\w+ed\b)", re.I
)
_ASKING = re.compile(r"\b(?:what|which|who|whom|when|where|how)\b")
_HOLDS_CLAUSE = re.compile(r"\b(?:the|an?) (?:[\w-]+ ){1,3}?,? ?(?:who|that|which|where|whose|in which)\b")
_FROM_QUESTION = re.compile(
    r"^(?:who|(?:what|which) (?P<noun>(?:[a-z-]+ ){0,2}?[a-z-]+?)) (?P<verb>[a-z]+)\b(?P<rest>.*?)\s*\??$", re.I
)


# A name that stands alone, not a part of "the 2010 Ford prize", and not the name of what comes before it.
_WHOLE_NAME = re.compile(
    r"(?<![\w'’\"(])(?:[A-ZÀ-Þ][\w.-]*[^\W_])(?: [A-ZÀ-Þ][\w.-]*[^\W_])*"
    r"(?=$|['’]s |[,?]| (?:in|on|at|and|for|from|as|is|was|by|with|to|that|who|when|won|had|has|died|plays|played)\b)"
)
_NAMING = re.compile(r"\b(?:film|song|movie|named|called|\d+|[A-Z]\w+|series|novel|book|band) $")


@dataclass(frozen=True, slots=True)
class Stock:
    """What is composed: questions with a slot (text before, after), descriptions, names, clauses with their tails."""

    questions: dict[int, list[tuple[str, str]]]
    descriptions: dict[int, list[Example]]
    names: dict[str, list[str]]
    clauses: list[Example]
    tails: list[tuple[int, str]]
    whole: list[str]


def stock(folder: Path, files: Iterable[Example]) -> Stock:
    names = _names(folder)
    questions: dict[int, list[tuple[str, str]]] = {place: [] for place in range(-1, len(ASKS))}
    descriptions: dict[int, list[Example]] = {place: [] for place in range(-1, len(ASKS))}
    whole = _from_rewritings(folder, questions, descriptions)
    for text in _asked(folder):
        if description := described(text):
            descriptions[asks(description)].append(_fresh(description))
    clauses, tails = [], []
    for example in dict.fromkeys(files):
        for mark in example.marks or ():
            text, kind = example.question[mark.start : mark.end], mark_asks(example.question, mark)
            before, after = example.question[: mark.start], example.question[mark.end :]
            if mark.label == PHRASE and len(text.split()) > 2 and example.source != "2wiki":
                descriptions[kind].append(_fresh(text))
                if len(example.marks or ()) == 1:
                    questions[kind].append((before, after))
            elif mark.label == CLAUSE and len(example.marks or ()) == 1 and not _ASKING.search(text):
                clauses.append(_fresh(text))
                tails.append((kind, after))
    return Stock(questions, descriptions, names, clauses, tails, whole)


def _fresh(text: str) -> Example:
    return Example(text, NESTED, (), "made")


_WORK = re.compile(
    r"\b(?:is|was) (?:an?|the) [^.]{0,60}\b(?:film|song|single|album|novel|book|series|sitcom|play|opera)\b"
)


def _names(folder: Path) -> dict[str, list[str]]:
    """Names to put in: persons of PopQA, works and other titles of the paragraphs that may be trained on."""
    people = sorted({row["subject"] for row in records(folder / "reading" / "popqa.jsonl")})
    works: set[str] = set()
    titles = {row["title"].replace("_", " ") for row in records(folder / "reading" / "reading_train.jsonl")}
    for name in ("2wiki_train", "musique_train"):
        for row in multi_hop(folder, name):
            for passage in (paragraph.passage for paragraph in row.paragraphs if half(row.id) == "A"):
                (works if _WORK.search(passage.text[:200]) else titles).add(passage.title)
    named = {"p": people, "w": sorted(works), "t": sorted(titles)}
    named["w"] += [f'"{name}"' for name in named["w"][::4]] + [f"{name} (film)" for name in named["w"][::9]]
    return named


def _asked(folder: Path) -> list[str]:
    rows = records(folder / "reading" / "reading_train.jsonl")
    return sorted({row["question"].strip() for row in rows if row["answers"] and len(row["question"].split()) < 16})


def described(question: str) -> str:
    """ "Who wrote X?" as "the person who wrote X"; nothing for forms that would need another verb."""
    match = _FROM_QUESTION.match(question)
    if match is None or match["verb"] in {"did", "does", "do", "is", "are", "can", "has", "have"}:
        return ""
    rest = match["rest"].strip()
    verb = tokenize(match["verb"])[0]
    if not rest or not is_verb(verb) or re.search(r"\b(?:who|what|which|when|where)\b|,", rest, re.I):
        return ""
    if match["noun"] and any(word in AUXILIARIES | PREPOSITIONS for word in match["noun"].lower().split()):
        return ""
    if match["noun"] is None and verb.low in AUXILIARIES and rest.startswith(("the ", "a ", "an ")):
        return ""
    return f"the {(match['noun'] or 'person').lower()} {'that' if match['noun'] else 'who'} {match['verb']} {rest}"


def _from_rewritings(
    folder: Path, questions: dict[int, list[tuple[str, str]]], descriptions: dict[int, list[Example]]
) -> list[str]:
    """Slots and descriptions into the lists given; the rewritten questions with a plain name for what was found."""
    whole = []
    for row in records(folder / "decomposition" / "rewrite_train.jsonl"):
        replaced = _replaced(row["question"], row["found"], row["rewritten"])
        if replaced is None or len(row["found"].split()) > 8 or len(row["question"].split()) > 26:
            continue
        start, end = replaced
        phrase, before, after = row["question"][start:end], row["question"][:start], row["question"][end:]
        if re.search(r"\b(?:his|her|their|its|this|that|these|those|he|she|it|they)\b", before + after, re.I):
            continue
        pointing = _PAIR.match(phrase)
        kind = WHO if phrase.lower() in _PERSONAL else asks(pointing[1]) if pointing else asks(phrase)
        questions[kind].append((before, after))
        if len(phrase.split()) > 3 and phrase.startswith("the ") and not _POINTING.search(phrase):
            descriptions[kind].append(_fresh(phrase))
        elif (pointing or len(phrase.split()) == 1) and not _HOLDS_CLAUSE.search(row["rewritten"]):
            whole.append(row["rewritten"])
    return whole


def _replaced(question: str, found: str, rewritten: str) -> tuple[int, int] | None:
    """What of the question was replaced by what was found, and nothing else changed."""
    place = rewritten.lower().find(found.lower())
    if place < 0 or not found.strip():
        return None
    before, after = rewritten[:place], rewritten[place + len(found) :]
    end = len(question) - len(after)
    fits = question.lower().startswith(before.lower()) and question.lower().endswith(after.lower()) and place < end
    text = question[place:end]
    return (place, end) if fits and text == text.strip() and not text.startswith(("'", '"')) else None


# --- composing ---------------------------------------------------------------------------------


class Composer:
    def __init__(self, found: Stock, chance: random.Random) -> None:
        self.stock, self.chance = found, chance
        self.names = [*found.names["p"], *found.names["t"], *found.names["w"]]

    def questions(self, count: int) -> Iterator[Example]:
        """About `count` composed questions: nested, a clause and its tail, compared, of two conditions, and whole."""
        makers = (
            (0.55, self.nested),
            (0.06, self.named),
            (0.08, self.trailing),
            (0.05, self.compared),
            (0.03, self.sharing),
            (0.05, self.owners_compared),
            (0.05, self.two_conditions),
            (0.13, self.whole),
        )
        for share, make in makers:
            for _ in range(round(count * share)):
                if (example := make()) is not None and len(example.question) < 300:
                    yield example

    def form(self, table: str, key: str = "") -> str:
        found: str = self.chance.choice(_TEMPLATES[table][key] if key else _TEMPLATES[table])
        return found

    def filled(self, template: str) -> str:
        def name(match: re.Match[str]) -> str:
            key = match[1]
            return self.chance.choice(self.stock.names[key]) if key in self.stock.names else self.form("words", key)

        return re.sub(r"\{(\w+)\}", name, template)

    def description(self, kind: int, depth: int = 0) -> Example:
        """A description of an entity of a kind; some hold another description where a name stood."""
        pool = self.stock.descriptions[kind]
        if kind != ANY and (not pool or self.chance.random() < 0.45):
            found = _fresh(self.filled(self.form("descriptions", ASKS[kind])))
        else:
            found = self.chance.choice(pool)
        if depth < 2 and self.chance.random() < 0.42:
            found = self.deeper(found, depth)
        if self.chance.random() < 0.1:
            found = _fresh_from(
                found, re.sub(r"^the ", self.chance.choice(("", "a ", "this ", "the same ")), found.question)
            )
        return found

    def deeper(self, outer: Example, depth: int) -> Example:
        """The description with one of its names changed for a description."""
        places = [
            match for match in _WHOLE_NAME.finditer(outer.question) if not _NAMING.search(match.string[: match.start()])
        ]
        if not places:
            return outer
        place = self.chance.choice(places)
        inner = self.description(self.chance.choice((WHO, WHO, WHERE, WHICH, ANY)), depth + 1)
        if re.search(r"\b(?:the|an?|this|that|its|his|her) $", outer.question[: place.start()]):
            inner = _fresh_from(inner, re.sub(r"^(?:the|an?|this) ", "", inner.question))
        marks = (Mark(0, len(inner.question), PHRASE), *(inner.marks or ()))
        return spliced(outer, place.start(), place.end(), inner.question, marks) or outer

    def nested(self) -> Example | None:
        kind = self.chance.choices((WHO, WHERE, WHICH, WHAT, WHEN, ANY), (34, 26, 18, 6, 4, 12))[0]
        pool = self.stock.questions[kind]
        if kind != ANY and (not pool or self.chance.random() < 0.4):
            before, after = self.form("questions", ASKS[kind]).split("{}")
        else:
            before, after = self.chance.choice(pool)
        described_as = self.description(kind)
        if re.search(r"\b(?:the|a|an|this|that) $", before):
            described_as = _fresh_from(described_as, re.sub(r"^(?:the|an?|this) ", "", described_as.question))
        phrase = described_as.question
        phrase = phrase[:1].upper() + phrase[1:] if not before else phrase
        marks = [Mark(len(before), len(before) + len(phrase), PHRASE)]
        marks += [Mark(m.start + len(before), m.end + len(before), m.label) for m in described_as.marks or ()]
        return Example(before + phrase + after, NESTED, tuple(marks), "made")

    def named(self) -> Example | None:
        """ "What is the city where X was born?": the description is what is asked; what is in it is looked up first."""
        inside = self.description(self.chance.choice((WHO, WHERE, WHICH, WHAT)))
        before, after = self.form("copular").split("{}")
        phrase = inside.question if before else inside.question[:1].upper() + inside.question[1:]
        marks = tuple(Mark(m.start + len(before), m.end + len(before), m.label) for m in inside.marks or ())
        return Example(before + phrase + after, NESTED if marks else SINGLE, marks, "made")

    def trailing(self) -> Example | None:
        """A statement that ends with a noun, and a tail that asks about it."""
        if self.stock.clauses and self.chance.random() < 0.6:
            clause = self.chance.choice(self.stock.clauses).question
            kind = mark_asks(clause, Mark(0, len(clause), CLAUSE))
            tails = [tail for other, tail in self.stock.tails if other == kind]
            tail = self.chance.choice(tails) if tails else ""
        else:
            template = self.form("clauses")
            noun = re.findall(r"\{(\w+)\}", template)[-1]
            clause = self.filled(template)
            tail = " " + self.filled(self.form("tails", "which" if noun == "team" else noun)) + "?"
        return Example(clause + tail, NESTED, (Mark(0, len(clause), CLAUSE),), "made") if tail else None

    def two(self, form: str, first: str, second: str, kind: int = COMPARISON) -> Example:
        before, between, after = re.split(r"\{[ab]\}", form)
        start = len(before) + len(first) + len(between)
        marks = (Mark(len(before), len(before) + len(first), PART), Mark(start, start + len(second), PART))
        return Example(before + first + between + second + after, kind, marks, "made")

    def compared(self) -> Example:
        pool = self.stock.names[self.chance.choice("pwt")]
        return self.two(self.form("compared"), self.chance.choice(pool), self.chance.choice(pool))

    def sharing(self) -> Example:
        """What two things share: each is looked up, and one value must come out of both."""
        pool = self.stock.names[self.chance.choice("pwt")]
        return self.two(self.form("shared"), self.chance.choice(pool), self.chance.choice(pool), INTERSECTION)

    def owners_compared(self) -> Example:
        """Two descriptions compared: each is a part, and must be found first."""
        form = self.form("descriptions", self.chance.choice(("who", "who", "where")))
        return self.two(self.form("owners_compared"), self.filled(form), self.filled(form))

    def two_conditions(self) -> Example | None:
        """ "Which N did this and did that?" out of two reading questions' predicates."""
        pool = [e.question for e in self.stock.descriptions[self.chance.choice((WHO, WHICH, WHERE))]]
        split = [match for text in self.chance.sample(pool, 12) if (match := _RELATIVE.match(text))]
        if len(split) < 2:
            return None
        noun, one, other = split[0]["noun"], split[0]["rest"], split[1]["rest"]
        ask = self.chance.choice((f"Which {noun} ", f"What {noun} ", "Who " if noun == "person" else f"Which {noun} "))
        link = self.chance.choice((" and ", " and also ", ", and ", " and that "))
        start = len(ask) + len(one) + len(link)
        marks = (Mark(len(ask), len(ask) + len(one), PART), Mark(start, start + len(other), PART))
        return Example(f"{ask}{one}{link}{other}?", INTERSECTION, marks, "made")

    def whole(self) -> Example:
        """A question of one look-up with a name in the slot, or a rewritten one."""
        if self.chance.random() < 0.5:
            return Example(self.chance.choice(self.stock.whole), SINGLE, (), "made")
        kind = self.chance.choice((WHO, WHERE, WHICH))
        name = self.chance.choice(self.stock.names["p" if kind == WHO else "t" if kind == WHERE else "w"])
        return Example(self.form("questions", ASKS[kind]).replace("{}", name), SINGLE, (), "made")


_RELATIVE = re.compile(r"^the (?P<noun>[a-z]+(?: [a-z]+)?) (?:who|that|which) (?P<rest>[a-z]+ .{6,80})$")


def _fresh_from(example: Example, text: str) -> Example:
    """The example with its first words changed, and the marks moved along."""
    grown = len(text) - len(example.question)
    marks = tuple(Mark(max(0, mark.start + grown), mark.end + grown, mark.label) for mark in example.marks or ())
    return Example(text, example.kind, marks, example.source)
