"""From questions to what the network sees: an epoch of examples with claims and passages that do not answer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.train.evidence import kinds
from scripts.train.evidence.altered import altered
from scripts.train.evidence.asked import UNDECIDED, Asked, Shown, holds
from scripts.train.evidence.mining import Mined

NOTHING = -1  # a target that teaches nothing
SUPPORTS, CONTRADICTS, NEITHER = 0, 1, 2
# Passages that do not answer, claims, and questions about another subject, for each gold passage.
OTHERS, CLAIMS, ALTERED = 1.5, 0.4, 0.25
# How often a question of a source stands in an epoch; once where not named. Yes/no questions over passages are learnt
# slowly and are few.
SHARE = {"squad_addsent": 0.5, "squad1_train_detok": 0.7, "absent": 0.4, "boolq": 3.0, "strategyqa": 1.5, "pair": 1.5}


@dataclass(frozen=True, slots=True)
class Example:
    """`question` is followed by `value` where a claim is judged."""

    source: str
    question: str
    shown: Shown
    value: str = ""
    answerable: int = NOTHING
    polar: int = NOTHING
    kind: int = NOTHING
    claim: int = NOTHING


def epoch(asked: Sequence[Asked], mined: Mined, seed: str) -> list[Example]:
    """One pass over the questions in mixed order; the same for the same seed."""
    chance = random.Random(seed)
    drawn: list[Example] = []
    for question in asked:
        for _ in range(_times(SHARE.get(question.source, 1.0), chance)):
            drawn += _examples(question, mined, chance)
    chance.shuffle(drawn)
    return drawn


def _examples(asked: Asked, mined: Mined, chance: random.Random) -> Iterator[Example]:
    wanted = kinds.POLAR if asked.polar is not None else NOTHING
    for gold in asked.gold:
        kind = kinds.kind_of(asked.question, gold.text[slice(*gold.spans[0])]) if gold.spans else wanted
        answerable = NOTHING if gold.answers is None else int(gold.answers)
        polar = NOTHING if asked.polar is None else asked.polar
        yield Example(asked.source, asked.question, gold, "", answerable, polar, kind)
        if gold.spans and gold.answers and chance.random() < ALTERED:
            question = altered(asked, gold, mined.titles, chance)
            if question:
                yield Example(f"altered:{asked.source}", question, gold, answerable=0)
        if chance.random() < CLAIMS and asked.source not in {"hotpot_whole", "pair"}:
            yield from _claim(asked, gold, chance)
    if asked.source == "squad_addsent" or (asked.gold and not asked.gold[0].answers and not asked.others):
        return
    for _ in range(_times(OTHERS, chance)):
        # Half from the same article or question, half from everywhere.
        own = list(asked.others)
        offered = own if own and chance.random() < 0.5 else mined.near(asked, chance) or own
        if offered:
            other = offered[min(chance.randrange(len(offered)), chance.randrange(len(offered)))]
            polar = NOTHING if asked.polar is None else UNDECIDED
            yield Example(f"other:{asked.source}", asked.question, other, "", 0, polar, wanted)
            if asked.answers and chance.random() < CLAIMS / 2:
                value = chance.choice(asked.answers)
                yield Example(f"claim:{asked.source}", asked.question, other, value, claim=NEITHER)


def _times(often: float, chance: random.Random) -> int:
    """A whole number that is `often` in the mean."""
    whole, part = divmod(often, 1)
    return int(whole) + (chance.random() < part)


def _claim(asked: Asked, gold: Shown, chance: random.Random) -> Iterator[Example]:
    """A value put to the question, and whether the passage bears it out."""
    source = f"claim:{asked.source}"
    if gold.spans:
        answer = gold.text[slice(*chance.choice(gold.spans))]
        if chance.random() < 0.5:
            yield Example(source, asked.question, gold, answer, claim=SUPPORTS)
            return
        right = " ".join((*asked.answers, asked.question))
        wrong = [one for one in kinds.look_alikes(answer, gold.text) if not holds(right, [one])]
        if wrong:
            yield Example(source, asked.question, gold, chance.choice(wrong), claim=CONTRADICTS)
    elif gold.answers is False:
        offered = [one for form in ("name", "date", "number") for one in kinds.look_alikes(_FORMS[form], gold.text)]
        if offered:
            yield Example(source, asked.question, gold, chance.choice(offered), claim=NEITHER)


_FORMS = {"name": "Zzyzx", "date": "1000", "number": "0.5"}
