"""Questions that compute: which of two, how many more, how many years between, how old when."""

from __future__ import annotations

import re
from collections.abc import Callable

from iterative_rag.builtin.lexicon import MEASURES
from iterative_rag.builtin.phrases import find_descriptions, is_verb, tokenize
from iterative_rag.builtin.plan import Computed, Literal, Node, Operation
from iterative_rag.builtin.words import base_form

Expand = Callable[[str, str], Node]
Phrase = Callable[[str], Node]

_YEARS = re.compile(r"^how (?:many years|long) (?P<order>after|before) (?P<rest>.{6,400})$", re.I)
_BETWEEN = re.compile(
    r"^how many years (?:passed |elapsed |lie |lay |are there |were there |are |is |went by |separate )?(?:between )?"
    r"(?P<first>the .{3,150}?|[A-Z].{3,150}?) and (?P<second>.{3,150})$",
    re.I,
)
_AGE = re.compile(
    r"^(?:how old was|at what age did|what age was) (?P<who>.{2,150}?) (?:when|die\b)(?P<when>.{0,200})$", re.I
)
_OUTLIVE = re.compile(r"^(?:by )?how many years did (?P<who>.{2,120}?) (?:outlive|survive) (?P<whom>.{2,120})$", re.I)
_BE_OR_DO = "is|was|are|were|did|does|do|has|have|had"
_MORE = re.compile(
    r"^(?:by )?how (?:many|much) ?(?P<unit>[a-z]+)? ?(?P<more>more|fewer|less|[a-z]+er) "
    rf"?(?P<what>(?:(?!\b(?:{_BE_OR_DO})\b).){{0,60}}?)"
    rf" ?\b(?P<aux>{_BE_OR_DO}) (?P<first>.{{2,200}}?) than (?P<second>[^,]{{2,200}})(?P<rest>,.{{0,100}})?$",
    re.I,
)
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
        _years_after,
        _outlives,
        _age,
        _two_counts,
        _how_much_more,
        _years_between,
        _total,
        _is_more,
        _choice,
        _share,
    ):
        node = rule(text, expand, phrase)
        if node is not None:
            return node
    return None


def _years_after(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _YEARS.match(text)
    if match is None:
        return None
    rest = match["rest"]
    # "did" belongs to the main clause for sure; of several "was" the last does.
    places = list(re.finditer(r" (did) ", rest)) or list(re.finditer(r" (was|were|is) ", rest))[-1:]
    if not places:
        return None
    first, aux, second = rest[: places[0].start()], places[0][1], rest[places[0].end() :]
    if (late := re.match(r"^(.+) (?:follow|come)$", second)) and (
        event := re.match(r"^.{2,150}? (was|were) (.+)$", first)
    ):
        aux, second = event[1], f"{late[1]} {event[2]}"  # "... after A was opened did B follow": B was opened, too
    names = re.findall(r"(?:[A-Z][\w'’.-]*)(?: (?:[A-Z][\w'’.-]*|\w+(?=$)))*", first)
    if names:
        second = re.sub(r"\b(?:it|him|her)\b(?! \w+s?\b(?<=name))", names[-1], second, count=1)
    verb = _has_verb(first)
    if (
        not verb
        and aux == "did"
        and (split := re.match(r"(.{2,120}?) ((?:win|die|open|become|marry|receive|get|publish|write)\b.*)$", second))
    ):
        # "How many years after A did B win X?": A won it too.
        ask_first = f"In which year did {first} {split[2]}?"
    else:
        shared = re.search(r" (born|opened|completed|founded|built|published|released)\b[^,]*$", second)
        ask_first = f"In which year was {first} {shared[1]}?" if shared and not verb else when(first)
        if shared and _EVENT_OF.match(first):
            ask_first = when(first)
    return Computed(text, Operation.YEARS, (expand(ask_first, first), expand(f"In which year {aux} {second}?", second)))


def _years_between(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _BETWEEN.match(text)
    if match is None or not re.match(
        r"how many years (?:passed|elapsed|lie|lay|are|were|went|is|separate|between)", text, re.I
    ):
        return None
    return Computed(
        text, Operation.YEARS, tuple(expand(when(match[name]), match[name]) for name in ("first", "second"))
    )


_EVENT_NOUNS = {
    "birth": "was {} born",
    "death": "did {} die",
    "opening": "was {} opened",
    "completion": "was {} completed",
    "founding": "was {} founded",
    "foundation": "was {} founded",
    "publication": "was {} published",
    "release": "was {} released",
}
_EVENT_OF = re.compile(rf"^(?:the )?({'|'.join(_EVENT_NOUNS)}) of (.+)$|^(.+)['’]s ({'|'.join(_EVENT_NOUNS)})$")


def when(clause: str) -> str:
    """ "the bridge was opened" -> "In which year was the bridge opened?"."""
    if match := _EVENT_OF.match(clause):
        noun, what = (match[1], match[2]) if match[1] else (match[4], match[3])
        return f"In which year {_EVENT_NOUNS[noun].format(what)}?"
    tokens = tokenize(clause)
    inside = {
        place for phrase in find_descriptions(tokens, 0, len(tokens)) for place in range(phrase.start, phrase.end)
    }
    for place, token in enumerate(tokens):
        if place and place not in inside and is_verb(token):
            subject, rest = clause[: token.start].strip(), clause[token.end :]
            if token.low in {"was", "were", "is", "had", "has"}:
                return f"In which year {token.low} {subject}{rest}?"
            return f"In which year did {subject} {base_form(token.low)}{rest}?"
    return f"In which year was {clause}?"


def _has_verb(clause: str) -> bool:
    return any(is_verb(token) for token in tokenize(clause))


def _outlives(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _OUTLIVE.match(text)
    if match is None:
        return None
    whom = re.sub(r"^(?:his|her|their) ", f"{match['who']}'s ", match["whom"])
    return Computed(
        text,
        Operation.YEARS,
        (expand(f"When did {whom} die?", match["whom"]), expand(f"When did {match['who']} die?", match["who"])),
        unit="full years",
    )


def _age(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    match = _AGE.match(text)
    if match is None:
        return None
    who, event = match["who"], match["when"].strip()
    if text.lower().startswith("at what age") or re.fullmatch(r"(?:he|she|they) died", event):
        event = f"{who} died"
    event = re.sub(r"^(?:he|she|they)\b", who, event)
    if not event:
        return None
    ask = (
        f"When did {event.removesuffix(' died')} die?"
        if event.endswith(" died")
        else when(event).replace("In which year", "When", 1)
    )
    return Computed(text, Operation.YEARS, (expand(f"When was {who} born?", who), expand(ask, event)), unit="age")


def _how_much_more(text: str, expand: Expand, phrase: Phrase) -> Node | None:
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


def _two_counts(text: str, expand: Expand, phrase: Phrase) -> Node | None:
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
    """ "the North American member of X" and "the African one" -> "the African member of X"."""
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


def _total(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """ "What is the total number of medals that A and B won?" """
    if match := _TOTAL_OF.match(text):
        asks = [f"What is the {match['what']} of {match[name]}?" for name in ("one", "other")]
    elif (match := _TOTAL.match(text)) and (match["what"] or match["all"]):
        what = match["what"] or match["counted"]
        asks = [f"How many {what} did {match[n]} {base_form(match['verb'])}{match['rest']}?" for n in ("one", "other")]
    else:
        return None
    return Computed(text, Operation.SUM, (expand(asks[0], match["one"]), expand(asks[1], match["other"])))


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
