"""Labels questions that somebody asked, for the heads of the splitter that recognize plain facts.

What the rules understand in full as one of the classes is labelled by them; what cannot be one of the classes is a
counter-example; the rest is left out.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

from iterative_rag.builtin.question.plan import Computed, Fallback, Literal, Lookup, Node, Operation
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.wording import ATTRIBUTES, COMPARED, RELATIONS, SHARED, Act
from scripts.train.data import plain, records
from scripts.train.evidence.files import rows
from scripts.train.split_data import Example, Target, aside
from scripts.train.split_marks import UNKNOWN
from scripts.train.wording_made import OTHER

_CLASSES = {template: name for name, template in reversed(ATTRIBUTES.items()) if template}
_OF = {f"Who is {description}?": name for name, description in RELATIONS.items() if name}
# Words of the classes: a question with one of them may be one of ours, said otherwise than the rules know.
_COULD_BE = re.compile(
    r"\b(?:born|birth\w*|die[ds]?|death|older|younger|same|released?|c[ao]me out|founded|established|formed|started|"
    r"first|nationality|citizen\w*|country|from|buried|married|marry|spouse|wife|husband|father|mother|sons?|daughter|brother|"
    r"sister|lived longer|published|award|prize|stud(?:y|ied)|attend\w*|graduate\w*|work\w*|job|occupation|"
    r"profession)\b",
    re.I,
)
# Things are founded or come out; a magazine that "is older" was not born.
_THING = re.compile(
    r"\b(?:magazine|band|film|movie|series|company|school|university|building|song|album|game|opera)s?\b", re.I
)


def labelled(folder: Path, chance: random.Random, count: int) -> list[Example]:
    """Questions that somebody asked: those that the rules understand as one of ours, and others as counter-examples."""
    dev = {plain(row["question"]) for row in records(folder / "multihop" / "hotpotqa_dev.jsonl")}
    asked = list(rows(folder, "decomposition/questions_only.jsonl.gz"))
    chance.shuffle(asked)
    found: list[Example] = []
    for row in asked[: 4 * count]:
        question = " ".join(row["question"].split())
        if plain(question) in dev or aside(question) or len(found) >= count:
            continue
        target = by_rules(question)
        if target is None and "musique" not in row["source"].lower() and _COULD_BE.search(question):
            continue  # perhaps one of ours, in words that the rules do not know
        found.append(Example(question, UNKNOWN, None, "asked", target or OTHER))
    return found


def told(example: Example) -> Example:
    """The example with what the rules understand, or as a counter-example where it cannot be one of ours."""
    target = by_rules(example.question)
    if target is None and not _COULD_BE.search(example.question):
        target = OTHER
    return replace(example, target=target)


# The rules, with the descriptions that the splitter of the package finds.
_RULES = QuestionPlanner(Splitter(), without=("wording",))
_ACTS = {Operation.LEAST: Act.EARLIER, Operation.GREATEST: Act.LATER, Operation.SAME: Act.SAME}


def by_rules(question: str) -> Target | None:
    """What the rules understand, where it is one of the classes."""
    node = _RULES.plan(question)
    node = node.first if isinstance(node, Fallback) else node
    if isinstance(node, Lookup):
        chain = _chain(node)
        return _placed(question, Act.LOOKUP, chain[0], chain[1], [chain[2]]) if chain and chain[1] else None
    if not isinstance(node, Computed) or len(node.operands) != 2 or node.operation not in _ACTS:
        return None
    one, other = (_chain(operand) for operand in node.operands)
    if one is None or other is None or one[:2] != other[:2]:
        return None
    names = [one[2], other[2]]
    if node.labels and [label.source for label in node.labels if isinstance(label, Literal)] != names:
        return None
    act, attribute, relation = _ACTS[node.operation], *one[:2]
    if act is not Act.SAME:
        if attribute not in COMPARED or (attribute == "birth_date" and not relation and _THING.search(question)):
            return None
        return _placed(question, act, attribute, relation, names)
    return _placed(question, act, attribute, relation, names) if attribute in SHARED else None


def _chain(node: Node) -> tuple[str, str, str] | None:
    """Attribute, relation and name of a look-up that is written as ours are."""
    if not isinstance(node, Lookup):
        return None
    if node.slots:
        attribute = _CLASSES.get(node.template.replace("What is the nationality of {0}?", ATTRIBUTES["nationality"]))
        inner = _named(node.slots[0], _OF) if len(node.slots) == 1 else None
        return (attribute, inner[0], inner[1]) if attribute and inner else None
    found = _named(node, _CLASSES)
    return (found[0], "", found[1]) if found else None


def _named(node: Node, classes: dict[str, str]) -> tuple[str, str] | None:
    if not isinstance(node, Lookup) or node.slots:
        return None
    text = re.sub(r"^What is the nationality of (.+)\?$", r"What nationality is \1?", node.template)
    text = re.sub(r"'s (?:husband|wife)\?$", "'s spouse?", text)
    for template, name in classes.items():
        before, after = template.split("{0}")
        if text.startswith(before) and text.endswith(after) and len(text) > len(template) - 3:
            return name, text[len(before) : len(text) - len(after)]
    return None


# "film Dawn": the name alone.
_SAID_BEFORE = re.compile(r"^(?:the )?(?:[a-z]+,? )+(?=[A-ZÀ-Þ\"'\d])")


def _placed(question: str, act: Act, attribute: str, relation: str, names: list[str]) -> Target | None:
    names = [_SAID_BEFORE.sub("", name) for name in names]
    places = [question.find(name) for name in names]
    if any(place < 0 for place in places) or any(
        re.search(r"\b(?:the|who|that|which)\b", name) and not name[:1].isupper() for name in names
    ):
        return None
    spans = tuple((place, place + len(name)) for place, name in zip(places, names, strict=True))
    return Target(act, attribute, relation, "", spans)
