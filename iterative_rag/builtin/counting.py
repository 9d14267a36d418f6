"""Questions that add or subtract: how many more, how much taller, how many in total."""

from __future__ import annotations

import re

from iterative_rag.builtin.lexicon import MEASURES
from iterative_rag.builtin.plan import Computed, Node, Operation
from iterative_rag.builtin.timing import Expand, Phrase
from iterative_rag.builtin.words import base_form

_BE_OR_DO = "is|was|are|were|did|does|do|has|have|had"
_MORE = re.compile(
    r"^(?:by )?how (?:many|much) ?(?P<unit>[a-z]+)? ?(?P<more>more|fewer|less|[a-z]+er) "
    rf"?(?P<what>(?:(?!\b(?:{_BE_OR_DO})\b).){{0,60}}?)"
    rf" ?\b(?P<aux>{_BE_OR_DO}) (?P<first>.{{2,200}}?) than (?P<second>[^,]{{2,200}})(?P<rest>,.{{0,100}})?$",
    re.I,
)


def how_much_more(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _MORE.match(text)
    if match is None:
        return None
    unit, more, what = match["unit"] or "", match["more"].lower(), match["what"].strip()
    first, second, aux = match["first"], match["second"], match["aux"].lower()
    second = re.sub(
        r"^(?:his|her|its|their) ", f"{_subject(first)}'s ", re.sub(r" (?:did|does|was|is|had|has)$", "", second)
    )
    second = _one(first, second)
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
    if measure is not None and not what:
        suffix = f" in {unit}" if unit else ""
        asks = [f"What is the {measure}{suffix} of {name}?" for name in (first, second)]
        return Computed(text, Operation.DIFFERENCE, (expand(asks[0], first), expand(asks[1], second)), unit=unit)
    counted = f"{unit} {what}".strip() if more in {"more", "fewer", "less"} else ""
    if not counted:
        return None
    subject, rest = _subject_and_rest(first)
    other, other_rest = _subject_and_rest(second)
    asks = [f"How many {counted} {aux} {first}?", f"How many {counted} {aux} {other} {_swapped(rest, other_rest)}?"]
    return Computed(text, Operation.DIFFERENCE, (expand(asks[0], subject), expand(asks[1], other)))


_TWO_COUNTS = re.compile(
    r"^how many more (?P<one>.{2,80}?) than (?P<other>.{2,80}?) (?P<rest>(?:did|does|has|have|had|are|were) .{2,150})$",
    re.I,
)
_DIFFERENCE = re.compile(
    r"^what is the difference (?:in|of) (?P<what>[a-z]+)(?P<unit>,? in [a-z]+,?)? between (?P<one>.{2,150}?) and "
    r"(?P<other>.{2,150})$",
    re.I,
)


def two_counts(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """ "How many more A than B did X win?" and "What is the difference in height between A and B?" """
    if match := _TWO_COUNTS.match(text):
        asks = [f"How many {match[name]} {match['rest']}?" for name in ("one", "other")]
        return Computed(text, Operation.DIFFERENCE, tuple(expand(ask, ask) for ask in asks))
    if match := _DIFFERENCE.match(text):
        unit = (match["unit"] or "").strip(", ")
        asks = [f"What is the {match['what']} {unit} of {match[name]}?".replace("  ", " ") for name in ("one", "other")]
        operands = (expand(asks[0], match["one"]), expand(asks[1], match["other"]))
        return Computed(text, Operation.DIFFERENCE, operands, unit=unit.removeprefix("in "))
    return None


def _one(first: str, second: str) -> str:
    """ "the northern member of X" and "the southern one" -> "the southern member of X"."""
    match = re.match(r"^(?:the|that|those) ?(.*?) ones?$", second)
    if match and (head := re.match(r"^the .*?\b([a-z]+(?: of .+)?)$", first)):
        return f"the {match[1]} {head[1]}"
    if match := re.match(r"^(?:that|those) of (.+)$", second):
        head = re.match(r"^(the .+?) of ", first)
        return f"{head[1]} of {match[1]}" if head else second
    return second


def _subject(clause: str) -> str:
    return _subject_and_rest(clause)[0]


_VERB = re.compile(
    r" ((?:win|have|score|get|make|write|play|receive|produce|contain|sell|direct|record|own|cover|hold)\b.*)$"
)


def _subject_and_rest(clause: str) -> tuple[str, str]:
    """ "the Soviet Union win at Melbourne" -> ("the Soviet Union", "win at Melbourne")."""
    if match := _VERB.search(clause):
        return clause[: match.start()], match[1]
    if match := re.match(r"^((?:the )?[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*) ((?:at|in|on|during) .+)$", clause):
        return match[1], match[2]
    return clause, ""


def _swapped(rest: str, other: str) -> str:
    """The first clause's verb with the second one's circumstances."""
    verb = rest.split(" ")[0] if rest else ""
    return f"{verb} {other}".strip() if other else rest


_PROPER = r"(?-i:(?:the )?[A-Z][\w.'’-]*(?: (?:of )?[A-Z][\w.'’-]*)*)"
_TOTAL_OF = re.compile(
    r"^what (?:is|was) the (?:sum|total|combined total) of the (?P<what>[a-z ]{3,40}) of "
    r"(?P<one>.{2,120}?) and (?P<other>.{2,120})$",
    re.I,
)
_TOTAL = re.compile(
    r"^(?:what (?:is|was) the (?:total|combined) (?:number of )?(?P<what>[a-z ]{3,60}?) that"
    r"|how many (?P<counted>[a-z ]{3,60}?) did) "
    rf"(?P<one>{_PROPER}) and (?P<other>{_PROPER}) (?P<verb>[a-z]+)(?P<rest>(?: .{{2,100}}?)?)"
    r"(?P<all> (?:together|combined|in total|altogether))?$",
    re.I,
)


def total(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """ "What is the total number of medals that A and B won?" """
    if match := _TOTAL_OF.match(text):
        asks = [f"What is the {match['what']} of {match[name]}?" for name in ("one", "other")]
    elif (match := _TOTAL.match(text)) and (match["what"] or match["all"]):
        what = match["what"] or match["counted"]
        asks = [f"How many {what} did {match[n]} {base_form(match['verb'])}{match['rest']}?" for n in ("one", "other")]
    else:
        return None
    return Computed(text, Operation.SUM, (expand(asks[0], match["one"]), expand(asks[1], match["other"])))
