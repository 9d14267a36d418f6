"""Plans questions that add, subtract or divide: how many more, how much taller, how many in total."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.lexicon import MEASURES
from iterative_rag.builtin.question.pairs import second_of
from iterative_rag.builtin.question.plan import Computed, Expand, Node, Operation, Phrase
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import unit_of

_BE_OR_DO = "is|was|are|were|did|does|do|has|have|had"
_MORE = lazy_pattern(
    r"^(?:by )?how (?:many|much) ?(?:(?P<unit>[a-z]+) )?(?P<more>(?:more|fewer|less|[a-z]+er)\b) "
    rf"?(?P<what>(?:(?!\b(?:{_BE_OR_DO})\b).){{0,60}}?)"
    rf" ?\b(?P<aux>{_BE_OR_DO}) (?P<first>.{{2,200}}?) than (?P<second>[^,]{{2,200}})(?P<rest>,.{{0,100}})?$",
    re.I,
)


# "By how many metres is A taller than B"
_BY_HOW_MANY = lazy_pattern(
    r"^by how (?:many|much) (?P<unit>[a-z]+) (?P<aux>is|was|are|were) (?P<first>.{2,150}?) (?P<more>[a-z]+er) than "
    r"(?P<second>.{2,150})$",
    re.I,
)


def how_much_more(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "How much taller is A than B?" and "How many more goals did A score than B?"; None for any other."""
    if by := _BY_HOW_MANY.match(text):
        text = f"How many {by['unit']} {by['more']} {by['aux']} {by['first']} than {by['second']}"
    match = _MORE.match(text)
    if match is None:
        return None
    unit, more, what = match["unit"] or "", match["more"].lower(), match["what"].strip()
    first, second, aux = match["first"], match["second"], match["aux"].lower()
    second = re.sub(r" (?:did|does|was|is|had|has)$", "", second)
    second = re.sub(r"^(?:his|her|its|their) ", f"{_subject(first)}'s ", second)
    second = second_of(first, second)
    if more in {"older", "younger", "earlier", "later", "newer"} and unit.startswith("year"):
        rest = (match["rest"] or "").lower()
        verb = next(
            (
                verb
                for verb in ("completed", "opened", "founded", "built", "released")
                if verb[:5] in rest or verb[:5] in text.lower()
            ),
            "born or built or opened",
        )
        asks = [f"In which year was {name} {verb}?" for name in (first, second)]
        return Computed(text, Operation.YEARS, (expand(asks[0], first), expand(asks[1], second)))
    measure = MEASURES.get(more)
    if measure is not None and unit and not unit_of(unit):  # "By how many floors is A taller than B"
        measure, more, aux, first = None, "more", "does", f"{first} have"
    if measure is not None and not what:
        suffix = f" in {unit}" if unit else ""
        if (late := re.search(r" in ([a-z]+)$", second)) and unit_of(late[1]):
            unit, second = late[1], second[: late.start()]
        asks = [f"What is the {measure}{suffix} of {name}?" for name in (first, second)]
        return Computed(text, Operation.DIFFERENCE, (expand(asks[0], first), expand(asks[1], second)), unit=unit)
    counted = f"{unit} {what}".strip() if more in {"more", "fewer", "less"} else ""
    if not counted:
        return None
    subject, rest = _subject_and_rest(first)
    other, other_rest = _subject_and_rest(second)
    asks = [f"How many {counted} {aux} {first}?", f"How many {counted} {aux} {other} {_swapped(rest, other_rest)}?"]
    return Computed(text, Operation.DIFFERENCE, (expand(asks[0], subject), expand(asks[1], other)))


_DIFFERENCE = lazy_pattern(
    r"^what (?:is|was) the (?:difference (?:in|of) (?P<what>[a-z][a-z ]*?)|(?P<front>[a-z][a-z ]*?) difference)"
    r"(?P<unit>,? (?:measured )?in [a-z]+,?)? between (?P<one>.{2,150}?) and (?P<other>.{2,150})$",
    re.I,
)
_PLURAL = lazy_pattern(r"(?<=[a-z]{3})(?<!s)s$")


def difference(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "What is the difference in height between A and B?"; None for any other question."""
    match = _DIFFERENCE.match(text)
    if match is None:
        return None
    unit, what, other = (match["unit"] or "").strip(" ,"), match["what"] or match["front"] or "", match["other"]
    if unit_of(what):  # "the difference in meters between ..."
        unit, what = f"in {what}", ""
    elif (late := re.search(r",? (in ([a-z]+))$", other)) and unit_of(late[2]):
        unit, other = late[1], other[: late.start()]
    if not what:
        return None
    measure = f"{_PLURAL.sub('', what.lower())} {unit}".strip()
    asks = [(f"What is the {measure} of {name}?", name) for name in (match["one"], other)]
    return Computed(text, Operation.DIFFERENCE, tuple(expand(*ask) for ask in asks), unit=unit.removeprefix("in "))


def _subject(clause: str) -> str:
    return _subject_and_rest(clause)[0]


_VERB = lazy_pattern(
    r" ((?:win|have|score|get|make|write|play|receive|produce|contain|sell|direct|record|own|cover|hold)\b.*)$"
)


def _subject_and_rest(clause: str) -> tuple[str, str]:
    """Split a clause: "the Soviet Union win at Melbourne" -> ("the Soviet Union", "win at Melbourne")."""
    if match := _VERB.search(clause):
        return clause[: match.start()], match[1]
    if match := re.match(r"^((?:the )?[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*) ((?:at|in|on|during) .+)$", clause):
        return match[1], match[2]
    return clause, ""


def _swapped(rest: str, other: str) -> str:
    """The first clause's verb with the second clause's adverbials."""
    verb = rest.split(" ")[0] if rest else ""
    return f"{verb} {other}".strip() if other else rest
