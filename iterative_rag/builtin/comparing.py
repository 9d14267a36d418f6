"""Questions that compute: which of two, is it more, do they share it; counting and timing have files of their own."""

from __future__ import annotations

import re

from iterative_rag.builtin.counting import how_much_more, total, two_counts
from iterative_rag.builtin.lexicon import MEASURES
from iterative_rag.builtin.plan import Computed, Literal, Node, Operation
from iterative_rag.builtin.timing import Expand, Phrase, age, outlives, years_after, years_between

_CHOICE = re.compile(
    r"^(?P<ask>.{3,200}?)(?:,| out of| of| between|:|(?<= first)|(?<= earlier)|(?<= older)) "
    r"(?:either |the (?:film|song|book)s? )?"
    r"(?P<first>[^,]{2,150}(?:, [A-Z][^,]{1,40})?),? or (?:the )?(?P<second>.{2,150})$"
)
_BETWEEN_CHOICE = re.compile(r"^between (?P<first>.{2,120}?) and (?P<second>.{2,120}?), (?P<ask>.{3,150})$", re.I)
_WAS_OR = re.compile(
    r"^(?:was|were|did|is) (?P<first>.{2,120}?) or (?P<second>.{2,120}?) (?P<verb>(?:born|die|died|released|published|"
    r"opened|founded|older|younger|longer|taller)\b.{0,30})$",
    re.I,
)
_WHICH_OF = re.compile(
    r"^(?P<ask>which|who) of (?:the (?:two )?(?:[a-z]+[,:]? )?)?(?P<first>(?:the )?[A-Z“\"].{1,100}?) (?:and|or) "
    r"(?P<second>.{2,100}?) (?P<predicate>(?:is|was|were|has|had|came|died|opened|won|did) .{3,80})$",
    re.I,
)
_BOTH = re.compile(
    r"^(?P<aux>are|were|is|was|do|did|does|have|has) (?:both )?(?:of )?(?:the )?"
    r"(?P<noun>films?|movies?|villages?|songs?|bands?)?[,:]? ?"
    r"(?P<first>.{2,150}?),? and (?P<second>.{2,200}?),? "
    r"(?P<rest>(?:both|located|situated|from|of the same|have|share|in the same|the same|originate|"
    r"born|buried|married|die).{0,120})$",
    re.I,
)
_FIRST = re.compile(r"\b(?:first|earlier|earliest|older|oldest|elder|before|sooner)\b", re.I)
_LATER = re.compile(r"\b(?:later|last|latest|younger|youngest|newer|more recently|most recently|recently)\b", re.I)
# What a comparison in time is about: a word of the question, and the question about one of the two.
_EVENTS = (
    (r"\b(?:born|older|oldest|elder|younger|youngest)\b", "When was {} born?"),
    (r"\b(?:die|died|dies|death)\b", "When did {} die?"),
    (r"\b(?:came|come|comes|released|release)\b.*\bout\b|\breleased\b|\bpremiered\b", "When did {} come out?"),
    (r"\b(?:published|started|founded|formed|established|created)\b", "When was {} founded or published?"),
    (r"\b(?:opened|opening)\b", "When was {} opened?"),
    (r"\b(?:built|completed|finished|constructed)\b", "When was {} completed?"),
)
_BY_HOW_MANY = re.compile(
    r"^by how (?:many|much) (?P<unit>[a-z]+) (?P<aux>is|was|are|were) (?P<first>.{2,150}?) (?P<more>[a-z]+er) than "
    r"(?P<second>.{2,150})$",
    re.I,
)
_LIVED = re.compile(
    r"^(?:what was the age of (?P<a>.{2,120}?) at (?:his|her|their) death|how many years did (?P<b>.{2,120}?) live"
    r"|how old did (?P<c>.{2,120}?) (?:become|get|live to be)|at what age did (?P<d>.{2,120}?) die)$",
    re.I,
)


def _reworded(text: str) -> str:
    """Rare forms of a computing question in the common one."""
    if match := _BY_HOW_MANY.match(text):
        return f"How many {match['unit']} {match['more']} {match['aux']} {match['first']} than {match['second']}"
    if match := _LIVED.match(text):
        return f"How old was {match['a'] or match['b'] or match['c'] or match['d']} when they died"
    return text


def computed(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """The plan of a computing question, or None for any other."""
    text = _reworded(text)
    for rule in (
        years_after,
        outlives,
        age,
        two_counts,
        how_much_more,
        years_between,
        total,
        _is_more,
        _choice,
        _share,
    ):
        node = rule(text, expand, phrase)
        if node is not None:
            return node
    return None


_IS_MORE = re.compile(
    r"^(?:is|was|are|were) (?P<first>.{2,150}?) (?P<more>[a-z]+er|more populous) than (?P<second>.{2,150})$", re.I
)


def _is_more(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """ "Is A longer than B?": yes where A comes out of the comparison."""
    match = _IS_MORE.match(text)
    asked = _asked_of(match["more"]) if match else None
    if match is None or asked is None:
        return None
    operation, template = asked
    names = (match["first"], match["second"])
    return Computed(
        text,
        Operation.EXCEEDS,
        tuple(expand(template.format(name), name) for name in names),
        unit="least" if operation is Operation.LEAST else "greatest",
    )


def _choice(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    if of := _WHICH_OF.match(text):
        text = f"{of['ask']} {of['predicate']}, {of['first']} or {of['second']}"
    if swapped := _WAS_OR.match(text):
        text = f"Who was {swapped['verb']}, {swapped['first']} or {swapped['second']}"
    match = _BETWEEN_CHOICE.match(text) or _CHOICE.match(text)
    if match is None or not re.match(r"(?:between|which|who|what|whose|when|where|was|is|are|of)\b", text, re.I):
        return None
    ask, first, second = match["ask"], match["first"].strip(), match["second"].strip()
    labels = (phrase(first), phrase(second))
    if person := re.search(
        r"\b(?:has|had|have|whose|with) (?:the |a )?(director|composer|performer|author|singer|writer|producer)\b",
        ask,
        re.I,
    ):
        role = person[1].lower()
        first, second = f"the {role} of {first}", f"the {role} of {second}"
    elif person := re.search(r"\bwhose (director|composer|performer|author|singer|writer|producer)\b", ask, re.I):
        first, second = f"the {person[1].lower()} of {first}", f"the {person[1].lower()} of {second}"
    asked = _asked_of(ask)
    if asked is None:
        return None
    operation, template = asked
    literal = tuple(Literal(label.source) for label in labels)
    return Computed(
        text, operation, tuple(expand(template.format(name), name) for name in (first, second)), labels=literal
    )


def _asked_of(ask: str) -> tuple[Operation, str] | None:
    """Least or greatest, and the question about one of the two."""
    if _FIRST.search(ask) or _LATER.search(ask):
        template = next(
            (template for pattern, template in _EVENTS if re.search(pattern, ask, re.I)), "In which year was {}?"
        )
        return (Operation.GREATEST if _LATER.search(ask) else Operation.LEAST), template
    for word in re.findall(r"[a-z]+", ask.lower()):
        if word in MEASURES and word.endswith(("er", "est")):
            least = word in {"shorter", "smaller", "lighter", "lower", "shortest", "smallest", "lowest"}
            return (Operation.LEAST if least else Operation.GREATEST), f"What is the {MEASURES[word]} of {{}}?"
    if match := re.search(
        r"\b(has|have|had|won|scored|made|wrote) (?:the )?(more|most|fewer|fewest|less|least) (.+)$", ask
    ):
        least = match[2] in {"fewer", "fewest", "less", "least"}
        aux = {"won": "did {} win", "scored": "did {} score", "made": "did {} make", "wrote": "did {} write"}.get(
            match[1], "does {} have"
        )
        return (Operation.LEAST if least else Operation.GREATEST), f"How many {match[3]} {aux}?"
    return None


def _share(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _BOTH.match(text)
    if match is None:
        return None
    first, second = (
        re.sub(r"^(?=(?:director|composer|performer|author|singer|writer) of )", "the ", match[name])
        for name in ("first", "second")
    )
    rest = match["rest"]
    if role := re.search(r"\b(?:have|has) (?:the )?(directors?|composers?|performers?)\b", rest):
        single = role[1].rstrip("s")
        first, second = f"the {single} of {first}", f"the {single} of {second}"
    if same := re.search(r"\bsame ([a-z]+)", rest):
        noun = same[1]
        if event := re.match(r"(born|buried|married|die)\b", rest):
            aux = "did" if event[1] == "die" else "was"
            asked = [f"In which {noun} {aux} {name} {event[1]}?" for name in (first, second)]
            return Computed(text, Operation.SAME, (expand(asked[0], first), expand(asked[1], second)))
        asks = [
            f"In which {noun} is {name}?" if noun not in {"nationality"} else f"What is the nationality of {name}?"
            for name in (first, second)
        ]
        return Computed(text, Operation.SAME, (expand(asks[0], first), expand(asks[1], second)))
    return None
