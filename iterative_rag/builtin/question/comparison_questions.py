"""Plans comparisons (which of two, is A more than B, do they share it) and dispatches all questions that compute."""

from __future__ import annotations

import re
from collections.abc import Collection

from iterative_rag.builtin.language.function_words import word_set
from iterative_rag.builtin.language.tokens import is_verb, tokenize
from iterative_rag.builtin.question.choice_questions import (
    names_object,
    normalize_choice,
    plan_choice,
    sides,
)
from iterative_rag.builtin.question.claim_questions import claim
from iterative_rag.builtin.question.comparison_sides import asked_of, for_things
from iterative_rag.builtin.question.difference_questions import how_much_more, two_counts
from iterative_rag.builtin.question.plan import Computed, Literal, Node, Operation
from iterative_rag.builtin.question.time_questions import (
    Expand,
    Phrase,
    age,
    ask_year,
    is_event,
    lifetime,
    years_after,
    years_between,
)
from iterative_rag.builtin.question.yes_no_questions import both, kind_and_name, split_pair
from iterative_rag.text.patterns import lazy_pattern

_COMPARED = (
    r"(?:tall|high|low|long|short|deep|wid|larg|bigg|small|heavi|light|old|eld|young|earli|lat|new|"
    r"great)er|first|last|earliest|latest|oldest|youngest|longest|shortest|tallest|highest|"
    r"largest|smallest|biggest"
)
# "which is the longer of A and B", "who was born first out of A and B"
_OF_TWO = lazy_pattern(
    rf"^(?P<ask>(?i:which|who|what)\b.{{0,40}}?\b(?:{_COMPARED})\b.{{0,40}}?)(?:,)? (?:out of|of|between|among|from) "
    r"(?:the (?:two|pair)(?: [a-z]+)?,? )?(?P<first>(?:the )?[A-Z“\"].{1,100}?) and "
    r"(?P<second>(?:the )?[A-Z“\"].{1,100})$"
)
_LIVED_MORE = lazy_pattern(
    r"\b(?:lived|live|got|get|grew|became) (?:to be |to an? |the )?"
    r"(?P<more>longer|longest|older|oldest|shorter|shortest)\b"
    r"|\b(?:died|die) (?:at )?(?:an? |the )?(?P<age>older|younger)\b"
    r"|\b(?:had|have) (?:the|a) (?P<life>longer|shorter) life\b|\b(?P<reached>higher|greater) age\b",
    re.I,
)
_CHOICE = lazy_pattern(
    r"^(?P<ask>.{3,200}?)(?:,| out of| of| between|:|(?<= first)|(?<= earlier)|(?<= older)) "
    r"(?:either |the (?:film|song|book)s? (?-i:(?=[A-Z“\"])))?"
    r"(?P<first>[^,]{2,150}(?:, [A-Z][^,]{1,40})?),? or (?:the )?(?P<second>.{2,150})$"
)
_WAS_OR = lazy_pattern(
    r"^(?:was|were|did|is) (?P<first>.{2,120}?) or (?P<second>.{2,120}?) "
    r"(?P<verb>(?-i:born|die|died|released|published|"
    r"opened|open|founded|completed|built|older|younger|longer|taller|larger|higher)\b.{0,30})$",
    re.I,
)
_WHICH_OF = lazy_pattern(
    r"^(?P<ask>which|who) of (?:the (?:two )?(?:[a-z]+[,:]? )?)?(?P<first>(?:the )?[A-Z“\"].{1,100}?) (?:and|or) "
    r"(?P<second>.{2,100}?) (?P<predicate>(?:is|was|were|has|had|came|died|opened|won|did) .{3,80})$",
    re.I,
)
_BOTH = lazy_pattern(
    r"^(?P<aux>are|were|is|was|do|did|does|have|has) (?:both )?(?:of )?(?:the )?"
    r"(?P<noun>films?|movies?|villages?|songs?|bands?)?[,:]? ?"
    r"(?P<first>.{2,150}?),? and (?P<second>.{2,200}?),? "
    r"(?P<rest>(?:both|come from|located|situated|from|of the same|have|share|in the same|the same|originate|"
    r"born|buried|married|die).{0,120})$",
    re.I,
)
_BY_HOW_MANY = lazy_pattern(
    r"^by how (?:many|much) (?P<unit>[a-z]+) (?P<aux>is|was|are|were) (?P<first>.{2,150}?) (?P<more>[a-z]+er) than "
    r"(?P<second>.{2,150})$",
    re.I,
)
_LIVED = lazy_pattern(
    r"^(?:(?:what was the age of|how old was) (?P<a>.{2,120}?) at (?:his|her|their) death"
    r"|how many years did (?P<b>.{2,120}?) live"
    r"|how old did (?P<c>.{2,120}?) (?:become|get|live to be)|at what age did (?P<d>.{2,120}?) die)$",
    re.I,
)


def _reworded(text: str) -> str:
    """Rewrite rare wordings of a computation in the wording that the rules know."""
    if match := _BY_HOW_MANY.match(text):
        return f"How many {match['unit']} {match['more']} {match['aux']} {match['first']} than {match['second']}"
    if match := _LIVED.match(text):
        return f"How old was {match['a'] or match['b'] or match['c'] or match['d']} when they died"
    return text


def plan_computation(text: str, expand: Expand, phrase: Phrase, without: Collection[str] = ()) -> Node | None:
    """Plan a question that computes; None for any other. The first rule that matches wins; the files `without` are
    left out."""
    text = normalize_choice(_reworded(text))
    for rule in (
        years_after,
        age,
        two_counts,
        how_much_more,
        years_between,
        _choice,
        _share,
        both,
        claim,
    ):
        left_out = rule.__module__.rpartition(".")[2] in without
        node = None if left_out else rule(text, expand, phrase)
        if node is not None:
            return node
    return None


def _choice(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    if of := _WHICH_OF.match(text):
        text = f"{of['ask']} {of['predicate']}, {of['first']} or {of['second']}"
    if swapped := _WAS_OR.match(text):
        text = f"Who was {swapped['verb']}, {swapped['first']} or {swapped['second']}"
    parts = sides(text)
    if parts is None:
        match = _OF_TWO.match(text) or _CHOICE.match(text)
        if match is None or not re.match(r"(?:which|who|what|whose|when|where|was|is|are|of)\b", text, re.I):
            return None
        parts = match["ask"], match["first"].strip(), match["second"].strip()
    ask, first, second = parts
    if first.lower().startswith("the ") and second[0].islower() and not second.startswith(("the ", "a ", "an ")):
        second = f"the {second}"
    labels = (phrase(kind_and_name(first)[1]), phrase(kind_and_name(second)[1]))
    if person := re.search(
        r"\b(?:has|had|have|whose|with) (?:the |a )?(director|composer|performer|author|singer|writer|producer)\b",
        ask,
        re.I,
    ):
        role = person[1].lower()
        first, second = f"the {role} of {first}", f"the {role} of {second}"
    elif person := re.search(r"\bwhose (director|composer|performer|author|singer|writer|producer)\b", ask, re.I):
        first, second = f"the {person[1].lower()} of {first}", f"the {person[1].lower()} of {second}"
    literal = tuple(Literal(label.source) for label in labels)
    if lived := _LIVED_MORE.search(ask):
        less = next(word for word in lived.groups() if word).lower() in {"shorter", "shortest", "younger"}
        operation = Operation.LEAST if less else Operation.GREATEST
        return Computed(text, operation, (lifetime(first, expand), lifetime(second, expand)), labels=literal)
    asked = asked_of(ask)
    if asked is None:
        node = None if names_object(ask) else plan_choice(text, ask, labels, (first, second), phrase)
        return node or _picked(text, ask, labels, expand)
    operation, template = asked
    template = for_things(template, text, (first, second))
    asks = [ask_year(name) if is_event(name) else template.format(name) for name in (first, second)]
    operands = (expand(asks[0], first), expand(asks[1], second))
    return Computed(text, operation, operands, labels=literal)


def _picked(text: str, ask: str, labels: tuple[Node, ...], expand: Expand) -> Node | None:
    """Plan "Who designed X, A or B?": ask the question without the options, then pick the one that the answer names."""
    if re.match(r"(?:who|which|whose)\b", ask, re.I) is None or not any(is_verb(token) for token in tokenize(ask)):
        return None
    return Computed(text, Operation.PICK, (expand(f"{ask}?", ask),), labels=labels)


# "does A have the same nationality as B", "was A born in the same town as B"
_SAME_AS = lazy_pattern(
    r"^(?P<aux>do|does|did|is|was|are|were) (?P<first>.{2,150}?) "
    r"(?:(?P<verb>have|share|born|buried|located|situated|die) )?"
    r"(?P<prep>(?:from|in|of|at) )?the same (?P<noun>[a-z]+) as (?P<second>.{2,150})$",
    re.I,
)


# "the directors of both films A and B"
_PLURAL_ROLE = lazy_pattern(
    r"\bthe (director|composer|performer|author|singer|writer|producer)s of (?:both )?(?:the )?(?:[a-z]+s )?"
    r"((?:the )?[A-Z“\"].{1,150}?) and (?:the )?(?=[A-Z“\"])"
)


def _share(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    if form := _SAME_AS.match(text):
        verb = f"{form['verb']} " if form["verb"] and form["verb"].lower() not in {"have", "share"} else ""
        text = f"{form['aux']} {form['first']} and {form['second']} {verb}{form['prep'] or ''}the same {form['noun']}"
    text = _PLURAL_ROLE.sub(r"the \1 of \2 and the \1 of ", text, count=1)
    match = _BOTH.match(text)
    parts = None if match else split_pair(text)
    if match is None and parts is None:
        return None
    names = parts[1] if parts else ((match["first"], match["second"]) if match else ("", ""))
    rest = parts[2] if parts else (match["rest"] if match else "")
    first, second = (
        re.sub(r"^(?=(?:director|composer|performer|author|singer|writer) of )", "the ", name) for name in names
    )
    if role := re.search(r"\b(?:have|has) (?:the )?(directors?|composers?|performers?)\b", rest):
        single = role[1].rstrip("s")
        first, second = f"the {single} of {first}", f"the {single} of {second}"
    if same := re.search(r"\bsame ([a-z]+)", rest):
        noun = same[1]
        if event := re.match(r"(born|buried|married|die)\b", rest):
            aux = "did" if event[1] == "die" else "was"
            asked = [f"In which {noun} {aux} {name} {event[1]}?" for name in (first, second)]
            return Computed(text, Operation.SAME, (expand(asked[0], first), expand(asked[1], second)))
        asks = [_shared_by(name, noun, rest) for name in (first, second)]
        # Knowing the country does not decide whether the states are the same.
        unit = "part" if noun in {"state", "province", "county", "district"} else ""
        return Computed(text, Operation.SAME, (expand(asks[0], first), expand(asks[1], second)), unit=unit)
    return None


_TRADES = word_set("occupation profession job industry career trade role field")


def _shared_by(name: str, noun: str, rest: str) -> str:
    """The question about one of the two sides: "from the same country" asks for its nationality."""
    origin = noun == "country" and re.match(r"(?:both )?(?:from|of|originate|hail|come)\b", rest)
    if noun == "nationality" or origin:
        return f"What is the nationality of {name}?"
    return f"What is the occupation of {name}?" if noun in _TRADES else f"In which {noun} is {name}?"
