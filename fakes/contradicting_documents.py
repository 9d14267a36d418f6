"""Five documents that say one thing against five that say another, many times over; all of it invented."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fakes.case_corpus import CaseCorpus
from fakes.script_mind import ScriptMind
from fakes.script_view import Link, Quoted, Script
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.types import Answer

EACH = 5
# Of each matter: what is asked, the pairs of values that documents may give, and how they put it.
_FILE = Path(__file__).resolve().parents[1] / "evaluation" / "hostile" / "contradicting.toml"
_DATA = tomllib.loads(_FILE.read_text(encoding="utf-8"))
SUBJECTS, MATTERS, FILLER = _DATA["subjects"], _DATA["matter"], _DATA["filler"]
TITLES = _DATA["titles"] * 2


@dataclass(frozen=True, slots=True)
class Case:
    """`texts` by file name; `true` and `false` stand in five of them each."""

    id: str
    question: str
    true: str
    false: str
    texts: Mapping[str, str]

    def both_read(self, answer: Answer) -> bool:
        """Whether facts with both values were found."""
        quotes = " ".join(fact.quote for hop in answer.hops for fact in hop.facts)
        return self.true in quotes and self.false in quotes

    def told(self, answer: Answer) -> bool:
        """Whether the answer's text gives both values."""
        return self.true in answer.text and self.false in answer.text

    def shown(self, answer: Answer) -> bool:
        """Whether a conflict is shown whose sides are the two values, each with its own sources."""
        return any(self._is_between_both(conflict.sides) for conflict in answer.conflicts)

    def _is_between_both(self, sides: Sequence[object]) -> bool:
        values = [str(getattr(side, "value", "")) for side in sides if getattr(side, "facts", ())]
        return all(any(wanted in value for value in values) for wanted in (self.true, self.false))


def cases(count: int = len(SUBJECTS) * len(MATTERS)) -> list[Case]:
    """The first `count` of them, the matters taking turns; the same every time."""
    chance = random.Random(6)
    made = []
    for number in range(count):
        subject = SUBJECTS[(number // len(MATTERS)) % len(SUBJECTS)]
        matter = MATTERS[number % len(MATTERS)]
        true, false = chance.choice(matter["values"])
        wordings = chance.sample(matter["wordings"], EACH) + chance.sample(matter["wordings"], EACH)
        titles = chance.sample(TITLES, 2 * EACH)
        texts = {}
        for place, (wording, title) in enumerate(zip(wordings, titles, strict=True)):
            said = wording.format(s=subject, v=true if place < EACH else false)
            said = said[0].upper() + said[1:]
            body = [said, *chance.sample(FILLER, 2)]
            chance.shuffle(body)
            texts[f"{chance.randrange(10**6):06}-{place}.md"] = f"# {title.format(s=subject)}\n\n{' '.join(body)}\n"
        made.append(Case(f"{number:03}", matter["question"].format(s=subject), true, false, texts))
    return made


def one_sided(known: Sequence[Case]) -> ScriptedLLM:
    """A model that reads honestly, then takes the first fact's side and says nothing of the other."""
    return ScriptMind(*map(_script, known)).llm


def _script(case: Case) -> Script:
    told = [sentence for text in case.texts.values() for sentence in re.findall(r"[A-Z][^.\n]*\.", text)]
    quoted = [Quoted(sentence, value) for sentence in told for value in (case.true, case.false) if value in sentence]
    return Script(case.question, "en", (Link(case.question, tuple(quoted)),), "{0}")


class ContradictingCorpus(CaseCorpus):
    """The documents of all cases in one corpus; each case is asked of its own part of it."""

    def __init__(self, folder: Path, known: Sequence[Case]) -> None:
        for case in known:
            (folder / case.id).mkdir(parents=True)
            for name, text in case.texts.items():
                (folder / case.id / name).write_text(text, encoding="utf-8")
        super().__init__(folder, "contradicting")

    def ask(self, rag: IterativeRAG, case: Case, strategy: str) -> Answer:
        return rag.over(self.part_of(rag, case.id)[0]).ask(case.question, strategy=strategy)
