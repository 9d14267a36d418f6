"""Questions made from any paragraph by patterns over its first sentences ("X (born DATE in PLACE) is a ...").

Three sorts: what the paragraph says; what it does not say of the right person or work, which is the hardest
passage that does not answer; and yes/no questions about what it says.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from scripts.train.data import NO, YES, Gold, Passage, Question, plain
from scripts.train.relations import TABLES, bare, wordings

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = rf"(?:\d{{1,2}} {_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}}, ?\d{{4}}|{_MONTH} \d{{4}}|\d{{4}})"
_WORD = r"(?:(?:[A-Z]|Jr|Sr|St|Dr)\.(?: ?[A-Z]\.)*|[A-Z][\w'’-]*)"  # a full stop ends a name but for initials
_SMALL = r"(?:de|la|van|von|der|da|di|del|bin|ibn)\b"
_NAME = rf"(?:{_WORD}|{_SMALL})(?: (?:{_WORD}|{_SMALL}|of(?= [A-Z])|the(?= [A-Z])))*"
_PLACE = r"[A-Z][\w'’-]*(?: (?:[A-Z][\w'’-]*|(?:of|upon|de|la|am)(?= [A-Z])))*(?:, [A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*)*"
_IS = r"(?:is|was|are|were)"
_NATION = r"[A-Z][a-z]+(?:an|ian|ish|ese|ch|i|ic|ss|lander|ek|ot|utch|erman|eek|ai)"
_ADJECTIVES = r"(?:retired |former |professional |contemporary |noted |prominent |leading )?"
_AFTER_ROLE = r"(?=[.;(]| who| from| and the| of| in | best|, best|, known|, who)"
_STUDIED = r"(?:studied (?:[a-z]+ )?at|educated at|graduated from|graduate of|degree (?:in [a-z ]+ )?from|attended)"
_CHILD_OF = r"(?:[Ss]on|[Dd]aughter|born to|[Cc]hild) (?:of )?(?:the )?"
_PRIZE = rf"(?:[0-9]{{4}} )?{_NAME} (?:Award|Prize|Medal)(?: [Ff]or {_NAME})?"
_SUNG = r"(?:song|single|album|EP|track|recorded|performed) (?:[a-z]+ )?by (?:[A-Za-z-]+ )?(?:[a-z-]+ )*"
_WRITTEN = r"(?:novel|book|play|poem|story|opera|written) by (?:[A-Z][a-z]+ (?:author|writer|novelist) )?"
_PEOPLE = r"population (?:of [A-Z]\w+ )?(?:was|is|of|had) (?:about |around |approximately )?"
_ROLE = r"(?P<v>[a-z][a-z-]+(?: [a-z][a-z-]+){0,2}?(?:, [a-z][a-z -]+?)*(?:,? and [a-z][a-z -]+?)?)"

# What a pattern finds in the head of a paragraph about its own title; group v is the answer.
_PERSON: tuple[tuple[str, str], ...] = (
    ("date of birth", rf"\(\s?(?:[^()]{{0,40}}?\b)?born:? (?:on )?(?P<v>{_DATE})"),
    ("date of birth", rf"\(\s?(?P<v>{_DATE})\s?[–-]"),
    ("date of death", rf"\([^()]{{4,60}}[–-]\s?(?:{_PLACE}, )?(?P<v>{_DATE})\s?\)"),
    ("place of birth", rf"\(\s?born [^()]{{4,20}}\d{{4}},? (?:in |at )?(?P<v>{_PLACE})\s?\)"),
    ("place of birth", rf"(?:\b[Bb]orn (?:and raised )?(?:on {_DATE} )?(?:in|at) )(?P<v>{_PLACE})"),
    ("place of death", rf"\bdied (?:on {_DATE} )?(?:in|at) (?P<v>{_PLACE})"),
    ("date of death", rf"\bdied (?:in {_PLACE} )?(?:on|in) (?P<v>{_DATE})"),
    ("cause of death", r"\bdied (?:of|from) (?P<v>(?:an? )?[a-z][a-z ]{3,30}?)(?= in| on| at|[,.;])"),
    ("country of citizenship", rf"\) {_IS} an? {_ADJECTIVES}(?P<v>{_NATION}(?: American)?) (?=[a-z])"),
    ("occupation", rf"\) {_IS} an? {_ADJECTIVES}(?:{_NATION}(?: American)? ){_ADJECTIVES}{_ROLE}{_AFTER_ROLE}"),
    ("father", rf"\b(?:[Ss]on|[Dd]aughter) of (?!the )(?P<v>{_NAME})"),
    ("mother", rf"\b{_CHILD_OF}(?:{_NAME}) and (?:his wife )?(?P<v>{_NAME})"),
    ("spouse", rf"\b(?:married(?: to)?|husband of|wife of|widow of) (?!the |in |a )(?P<v>{_NAME})"),
    ("sibling", rf"\b(?:brother|sister) of (?!the )(?:[a-z]+ )?(?P<v>{_NAME})"),
    ("educated at", rf"\b{_STUDIED} (?:the )?(?P<v>{_NAME})"),
    ("team", rf"\b(?:plays?|played) (?:[a-z-]+ ){{0,3}}for (?:the )?(?P<v>{_NAME})"),
    ("award received", rf"\b(?:won|received|awarded) (?:the|an?) (?P<v>{_PRIZE})"),
    ("position", r"\bserved as (?:the )?(?P<v>[A-Za-z][\w ’'-]{6,60}?)(?= from| between| in | until|[.,;])"),
)  # fmt: skip
_WORK: tuple[tuple[str, str], ...] = (
    ("director", rf"\bdirected (?:and [a-z]+ )?by (?P<v>{_NAME})"),
    ("director", rf"\b[a-z]+,? (?:and )?directed by (?P<v>{_NAME})"),
    ("producer", rf"\bproduced (?:and [a-z]+ )?by (?P<v>{_NAME})"),
    ("screenwriter", rf"\bwritten (?:and [a-z]+ )?by (?P<v>{_NAME})"),
    ("starring", rf"\bstar(?:s|ring|red) (?P<v>{_NAME})"),
    ("composer", rf"\b(?:composed|music|score) (?:[a-z]+ )?by (?P<v>{_NAME})"),
    ("publication date", rf"\breleased (?:[a-z]+ )?(?:on|in) (?P<v>{_DATE})"),
    ("publication date", rf"\b{_IS} an? (?P<v>(?:19|20)\d\d) "),
    ("publication date", rf"\bpublished (?:on|in) (?P<v>{_DATE})"),
    ("country of origin", rf"\b{_IS} an? (?:\d{{4}} )?(?P<v>{_NATION}) (?=[a-z -]+)"),
    ("performer", rf"\b{_SUNG}(?P<v>{_NAME})"),
    ("author", rf"\b{_WRITTEN}(?P<v>{_NAME})"),
    ("based on", r"\bbased on (?P<v>(?:the |an? )?[^,.;]{6,60}?)(?=[,.;])"),
    ("record label", rf"\b(?:through|on|via|by) (?P<v>{_NAME} Records)"),
    ("album", rf"\b(?:from|on) (?:his|her|their|the) (?:[a-z\d-]+ )*album,? \"? ?(?P<v>{_NAME})"),
)  # fmt: skip
_THING: tuple[tuple[str, str], ...] = (
    ("located in", rf"\b{_IS} (?:an? |the )?[a-z ,-]+ (?:located |situated )?(?:in|on|near) (?:the )?(?P<v>{_PLACE})"),
    ("inception", rf"\b(?:founded|established|formed|incorporated) (?:in [A-Z]\w+ )?(?:in|on) (?P<v>{_DATE})"),
    ("founded by", rf"\bfounded (?:in \d{{4}} )?by (?P<v>{_NAME})"),
    ("population", rf"\b{_PEOPLE}(?P<v>\d[\d,.]*\d(?: million)?)"),
    ("named after", rf"\bnamed (?:after|for|in honou?r of) (?:the )?(?P<v>{_NAME})"),
)  # fmt: skip
_COMPILED = {
    kind: tuple((relation, re.compile(pattern)) for relation, pattern in patterns)
    for kind, patterns in (("person", _PERSON), ("work", _WORK), ("thing", _THING))
}
_SIGNS, _ABSENT, _CHECKED = (TABLES[name] for name in ("signs", "absent", "checked"))


def made_questions(passages: Iterable[Passage], chance: random.Random) -> list[Question]:
    """Questions made from paragraphs by patterns: what they say, what they do not say, and yes/no ones."""
    made: list[Question] = []
    by_relation: dict[str, list[str]] = {}
    tellers: dict[str, list[Passage]] = {}
    for passage in passages:
        kind = _kind(passage)
        head, subject = passage.text[:600], bare(passage.title)
        said: dict[str, tuple[int, int]] = {}
        for relation, pattern in _COMPILED[kind]:
            match = pattern.search(head)
            if match and relation not in said and plain(match["v"]) not in plain(passage.title):
                said[relation] = match.span("v")
        for relation, (start, end) in said.items():
            answer = head[start:end]
            by_relation.setdefault(relation, []).append(answer)
            tellers.setdefault(relation, []).append(passage)
            needs = wordings(relation, chance.choice((subject, passage.title)))
            made.append(Question(needs, (Gold(passage, ((start, end),)),), f"made:{relation}", (answer,), drawn=0.7))
        for relation in _ABSENT[kind]:
            if relation not in said and not re.search(_SIGNS[relation], passage.text) and chance.random() < 0.25:
                gold = Gold(passage, relevant=0.0, support=None, kind=None)
                needs = wordings(relation, subject)
                made.append(Question(needs, (gold,), f"absent:{relation}", drawn=0.0, mine=False))
    checks = list(_checks(made, by_relation, chance))
    return [_with_tellers(question, tellers, chance) for question in made] + checks


def _with_tellers(question: Question, tellers: dict[str, list[Passage]], chance: random.Random) -> Question:
    """The question with two passages that tell the same of somebody else."""
    told = tellers.get(question.source.removeprefix("made:"), [])
    if not question.answers or len(told) < 3:
        return question
    own = plain(bare(question.gold[0].passage.title))
    others = [passage for passage in chance.sample(told, 3) if own not in plain(passage.text)]
    return replace(question, others=(*question.others, *others[:2]))


def _checks(made: list[Question], by_relation: dict[str, list[str]], chance: random.Random) -> Iterator[Question]:
    """Yes/no questions: a statement of the text, or the same with another's answer in it."""
    for question in made:
        relation = question.source.removeprefix("made:")
        if relation not in _CHECKED or not question.answers or chance.random() > 0.35:
            continue
        gold, (answer,) = question.gold[0], question.answers
        right = chance.random() < 0.5
        said = answer if right else chance.choice(by_relation[relation])
        if not right and plain(said) in plain(gold.passage.text):
            continue
        need = _CHECKED[relation].replace("{}", bare(gold.passage.title), 1).replace("{}", said, 1)
        judged = replace(gold, kind=YES if right else NO, spans=())
        yield Question((need,), (judged,), f"check:{relation}", drawn=0.2)


def _kind(passage: Passage) -> str:
    head = passage.text[:250]
    work = re.search(r"\b(?:film|song|album|single|novel|book|series|EP|play|opera|poem|video game)\b", head)
    if re.search(r"\([^()]*\b(?:born|\d{4}\s?[–-])", head) or re.search(r"\b(?:was|is) an? [^.]{0,60}\bborn\b", head):
        return "person"
    return "work" if work else "thing"
