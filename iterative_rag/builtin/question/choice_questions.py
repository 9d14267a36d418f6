"""Plans questions that choose one of two by a property rather than by a measure, and reduces their forms to one.

"Which singer is American, X or Y?" becomes "Is the singer X American?" and "Is the singer Y American?"; the answer is
the one for which it is yes.
"""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    PREPOSITIONS,
    word_set,
)
from iterative_rag.builtin.language.tokens import Token, base_form, is_verb, tokenize
from iterative_rag.builtin.question.comparison_sides import asked_of
from iterative_rag.builtin.question.plan import Computed, Literal, Node, Operation
from iterative_rag.builtin.question.substitution import capitalize
from iterative_rag.builtin.question.time_questions import Phrase
from iterative_rag.builtin.question.yes_no_questions import plan_side, two_names
from iterative_rag.text.other_names import nations_in
from iterative_rag.text.patterns import lazy_pattern

_WHICH = r"(?:which|what|who|whose|how|whom)"
_NAMED = r"(?:the |an? |[a-z]+ ){0,3}[A-Z“\"0-9]"
# "Which film, A or B, was made first"; "Which of these films, A or B, ..."
_INSERTED = lazy_pattern(
    r"^(?P<ask>(?i:which|what|who)(?: (?:one|of these|of the following|of the two))?"
    r"(?: (?!do\b|does\b|did\b|is\b|was\b|are\b|were\b)[a-z-]+){0,4}),? "
    rf"(?P<first>{_NAMED}[^,?]{{0,100}}?),? or (?P<second>(?:the )?[^,?]{{2,100}}?),? "
    r"(?P<predicate>(?:is|are|was|were|has|have|had|can|could|did|does|came|started|opened|won|takes?|[a-z]+ed) "
    r".{2,150}|closed|died)$"
)
# "Between the two film makers A and B, who was born earlier", "Out of A or B which ..."
_BETWEEN = lazy_pattern(
    rf"^(?:between|of|among|out of) (?P<body>.{{6,250}}?),? (?P<ask>{_WHICH}\b(?! (?:and|or)\b)[^,]{{3,150}})$", re.I
)
# "A or B: which is longer", "A vs. B - who has more C"
_NAMES_FIRST = lazy_pattern(
    rf"^(?P<names>{_NAMED}[^:;?]{{2,200}}?)(?:[:;]| [-–—]) (?P<ask>(?i:{_WHICH})\b(?! of (?:the|these)\b).{{3,150}})$"
)
_VERSUS = lazy_pattern(r" (?:vs\.?|versus) ", re.I)
# "Does A or B have more C", "Did A or B win ..."
_DO_OR = lazy_pattern(
    r"^(?P<aux>(?i:does|do|did|has|have|had)) (?P<first>[^,?]{2,100}?) or (?P<second>.{2,100}?) "
    r"(?P<verb>have|get|got|win|won|make|made|live|lived|die|come|write|written|contain|produce|produced|released) "
    r"(?P<rest>.{2,100})$"
)
# "Which film came out first A or B": no comma, but the names are capitalized.
_UNPARTED = lazy_pattern(
    rf"^(?P<ask>(?i:{_WHICH})\b[^,:?A-Z]{{4,120}}?(?:[A-Z][a-z]+ [a-z]+ ?)?)(?<![(]) "
    r"(?P<first>(?:the )?[A-Z“\"][^,?]{1,100}?) or (?P<second>(?:the )?[A-Z“\"].{1,100})$"
)
_OF_THESE = lazy_pattern(
    r" of (?:the |these )?(?:following|two|these|those)(?=\b)(?: (?!is\b|was\b|has\b)[a-z]+s\b)?", re.I
)
# Split at the last comma before "A or B": the question stands before it.
_PARTED = tuple(
    lazy_pattern(
        rf"^(?P<ask>(?i:{_WHICH})\b.{{3,200}}?){mark} (?:either |the (?:film|song|book)s? (?=[A-Z“\"]))?"
        rf"(?P<first>{_NAMED}[^,]{{0,100}}?(?:, [A-Z][^,]{{1,40}})?),? or (?:the )?(?P<second>.{{2,150}})$"
    )
    for mark in ",:"
)


def normalize_choice(text: str) -> str:
    """Rewrite a choice question in its canonical form, "which ..., A or B". Any other text is returned unchanged."""
    text = re.sub(r"^[Qq]\d+: ", "", text)
    match = _BETWEEN.match(text)
    if match and (names := two_names(match["body"])) and ", " not in names[0]:
        return f"{match['ask']}, {names[0]} or {names[1]}"
    match = _NAMES_FIRST.match(text)
    if match and asked_of(match["ask"]) and (names := two_names(_VERSUS.sub(" or ", match["names"]))):
        return f"{capitalize(match['ask'])}, {names[0]} or {names[1]}"
    if match := _INSERTED.match(text):
        ask = _OF_THESE.sub("", match["ask"]).strip(" ,")
        return f"{ask} {match['predicate']}, {match['first']} or {match['second'].rstrip(' ,')}"
    if match := _DO_OR.match(text):
        verb = match["verb"].lower()
        finite = {"have": "has", "get": "got", "win": "won", "make": "made", "live": "lived", "come": "came"}.get(
            verb, verb
        )
        if match["aux"].lower() in {"has", "had", "have"}:
            finite = f"has {verb}"
        return f"Which {finite} {match['rest']}, {match['first']} or {match['second']}"
    if " or " in text and "," not in text and ":" not in text and (match := _UNPARTED.match(text)):
        return f"{match['ask'].strip()}, {match['first']} or {match['second']}"
    if " or " in text and _OF_THESE.search(text):
        return _OF_THESE.sub("", text, count=1)
    return text


def sides(text: str) -> tuple[str, str, str] | None:
    """Split a choice question in canonical form into (question, first, second); None for any other text."""
    match = _PARTED[0].match(text) or _PARTED[1].match(text)
    if match is None or not any(is_verb(token) for token in tokenize(match["ask"])):
        return None
    return match["ask"], match["first"].strip(" ,"), match["second"].strip(" ,")


_COMPARATIVE = lazy_pattern(r"\b(?:(?:a |the )?(?:more|most|less|least|a greater number of|farther|further) )", re.I)
_NEGATED = lazy_pattern(r"\b(?:not|never|no longer)\b |n['’]t\b", re.I)


def plan_choice(text: str, ask: str, labels: tuple[Node, ...], names: tuple[str, str], phrase: Phrase) -> Node | None:
    """Plan a choice as one closed (yes/no) look-up for each side; None where the question has no predicate."""
    literal = tuple(Literal(label.source) for label in labels)
    parts = _predicate(ask)
    if parts is None:
        return None
    noun, verb, rest = parts
    negated = bool(_NEGATED.search(f"{verb} {rest}"))
    rest = " ".join(_COMPARATIVE.sub("", _NEGATED.sub("", rest)).split())
    aux, rest = _auxiliary(verb, rest)
    kinds = [f"the {noun} {name}" if noun and not _says(name, noun) else name for name in names]
    operands = tuple(plan_side(aux, kind, rest, phrase) for kind in kinds)
    return Computed(text, Operation.CHOICE, operands, literal, "no" if negated else "")


def names_object(ask: str) -> bool:
    """Whether the question names its own object ("Who designed Orm Hall") and so can be looked up without the names."""
    parts = _predicate(ask)
    if parts is None:
        return True
    _, verb, rest = parts
    named = [
        token
        for token in tokenize(rest)
        if token.capital and not nations_in(token.text) and not token.text[0].isdigit()
    ]
    return bool(named) and verb not in AUXILIARIES


def _predicate(ask: str) -> tuple[str, str, str] | None:
    """Split "which NOUN VERB REST" into (noun, verb, rest); None where no verb is found."""
    tokens = tokenize(ask)
    if not tokens or tokens[0].low not in {"which", "what", "who", "how"}:
        return None
    for at, token in enumerate(tokens[1:], start=1):
        if _finite(token, at, tokens):
            noun = ask[tokens[0].end : token.start].strip() if at > 1 else ""
            noun = (
                "" if set(noun.lower().split()) & (PREPOSITIONS | DETERMINERS | {"one", "'s"}) or "'" in noun else noun
            )
            return noun, token.low, ask[token.end :].strip()
    return None


def _finite(token: Token, at: int, tokens: list[Token]) -> bool:
    if token.capital:
        return False
    low = token.low
    third = low.endswith("s") and (low[:-1] in BASE_VERBS or low[:-2] in BASE_VERBS or low in _PRESENT)
    return is_verb(token) or third or (low in BASE_VERBS and at == len(tokens) - 2)


_PRESENT = word_set(
    "describes accommodates borders publishes produces performs runs features specializes offers has means"
)


def _auxiliary(verb: str, rest: str) -> tuple[str, str]:
    """Auxiliary and predicate of the closed question: "ran for a year" -> ("did", "run for a year")."""
    if verb in {"has", "have", "had"}:
        after = rest.split()[:1]
        done = after and (after[0].endswith("ed") or after[0] in {"been", "won", "written", "made", "sold"})
        return (verb.replace("have", "has"), rest) if done else ("does" if verb != "had" else "did", f"have {rest}")
    if verb in AUXILIARIES:
        return verb, rest
    if verb.endswith("s") and verb not in {"was", "is"}:
        base = verb[:-1] if not verb.endswith(("ches", "shes", "xes", "sses", "oes")) else verb[:-2]
        return "does", f"{base} {rest}".strip()
    return "did", f"{base_form(verb) or verb} {rest}".strip()


def _says(name: str, noun: str) -> bool:
    last = noun.split()[-1].lower()
    return last in name.lower().split() or name.lower().startswith("the ")
