"""Plans comparisons among a list: "Of A, B and C, which is the longest?"."""

from __future__ import annotations

import re

from iterative_rag.builtin.question.comparison_sides import asked_of, for_things
from iterative_rag.builtin.question.plan import Computed, Literal, Node
from iterative_rag.builtin.question.time_questions import Expand, Phrase
from iterative_rag.text.patterns import lazy_pattern

_NAME = r"(?:the )?[A-Z“\"][^,;:?]{1,80}?"
_LIST = rf"(?P<list>{_NAME}(?:, {_NAME})*,? (?:and|or) {_NAME})"
_FORMS = tuple(
    lazy_pattern(pattern)
    for pattern in (
        rf"^(?:[Oo]f|[Bb]etween|[Aa]mong|[Oo]ut of) (?:the (?:[a-z]+ )?(?:[a-z]+:? )?)??{_LIST},? "
        rf"(?P<ask>(?:which|who|what)\b.{{3,120}})$",
        rf"^(?P<ask>(?:[Ww]hich|[Ww]ho|[Ww]hat)(?: one)?)(?:,)? (?:of|among|out of) (?:the following[,:]? )?{_LIST},? "
        r"(?P<rest>(?:is|was|were|has|had|came|died|opened|won|lived|did) .{3,80})$",
        rf"^(?P<ask>(?:[Ww]hich|[Ww]ho|[Ww]hat) .{{3,120}}?)[:,] {_LIST}$",
    )
)


def among(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan a comparison among the members of a list; a list of two counts only at the start of the question."""
    for place, form in enumerate(_FORMS):
        match = form.match(text)
        if match is None:
            continue
        # "A and B Canal or C": where "or" separates the names, "and" is part of one.
        parting = r", (?:and |or )?| or " if " or " in match["list"] else r", (?:and |or )?| and "
        names = [name for name in re.split(parting, match["list"]) if name]
        ask = f"{match['ask']} {match.groupdict().get('rest') or ''}".strip()
        asked = asked_of(re.sub(r" of the following\b", "", ask))
        if asked is None or (len(names) < 3 and place) or not all(name[0].isupper() or " " in name for name in names):
            continue
        operation, template = asked
        template = for_things(template, ask, tuple(names))
        operands = tuple(expand(template.format(name), name) for name in names)
        return Computed(text, operation, operands, labels=tuple(Literal(name) for name in names))
    return None
