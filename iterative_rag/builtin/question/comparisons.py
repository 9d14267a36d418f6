"""Plans comparisons: which of two comes first, has more, or is something; and whether two have the same."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    PREPOSITIONS,
    word_set,
)
from iterative_rag.builtin.language.lexicon import MEASURES
from iterative_rag.builtin.language.nouns import is_plural
from iterative_rag.builtin.language.tokens import Token, base_form, is_verb, tokenize
from iterative_rag.builtin.question.pairs import closed, kind_and_name, split_pair, two_names
from iterative_rag.builtin.question.plan import Computed, Expand, Literal, Node, Operation, Phrase
from iterative_rag.builtin.question.time_questions import ask_year, is_event, lifetime
from iterative_rag.text.patterns import lazy_pattern

_ASK = r"(?i:which|what|who|whose|how|whom)"
_NAMED = r"(?:the |an? |[a-z]+ ){0,3}[A-Z“\"0-9]"
# "Between the two bands A and B, which group formed earlier"
_BETWEEN = lazy_pattern(
    rf"^(?i:between|of|among|out of) (?P<body>.{{6,250}}?),? (?P<ask>{_ASK}\b(?! (?:and|or)\b)[^,]{{3,150}})$"
)
_CHOICES = (
    # "Which film, A or B, was made first"
    lazy_pattern(
        r"^(?P<ask>(?i:which|what|who)(?: (?!do\b|does\b|did\b|is\b|was\b|are\b|were\b)[a-z-]+){0,4}),? "
        rf"(?P<first>{_NAMED}[^,?]{{0,100}}?),? or (?P<second>(?:the )?[^,?]{{2,100}}?),? "
        r"(?P<predicate>(?:is|are|was|were|has|have|had|can|could|did|does|came|started|opened|won|takes?|[a-z]+ed) "
        r".{2,150}|closed|died)$"
    ),
    # "Which was opened first, A or B"
    lazy_pattern(
        rf"^(?P<ask>{_ASK}\b.{{3,200}}?)[,:] (?:either )?"
        rf"(?P<first>{_NAMED}[^,]{{0,100}}?(?:, [A-Z][^,]{{1,40}})?),? or (?:the )?(?P<second>.{{2,150}})$"
    ),
    # "Who is younger A or B": no comma, but the names are capitalized.
    lazy_pattern(
        rf"^(?P<ask>{_ASK}\b[^,:?A-Z]{{4,120}}?) (?P<first>(?:the )?[A-Z“\"][^,?]{{1,100}}?) or "
        r"(?P<second>(?:the )?[A-Z0-9“\"].{1,100})$"
    ),
)
# "Was A or B born first"
_WAS_OR = lazy_pattern(
    r"^(?i:was|were|did|is) (?P<first>.{2,120}?) or (?P<second>.{2,120}?) "
    r"(?P<predicate>(?:born|die|died|released|published|opened|open|founded|completed|built|[a-z]+er)\b.{0,30})$"
)
_ROLE = r"director|composer|performer|author|singer|writer|producer"


def choice(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "Which is longer, A or B?" by what is asked of each side; None for any other question."""
    parts = _sides(text)
    if parts is None:
        return None
    ask, first, second = parts
    if first.lower().startswith("the ") and second[0].islower() and not second.startswith(("the ", "a ", "an ")):
        second = f"the {second}"
    labels = tuple(Literal(kind_and_name(name)[1]) for name in (first, second))
    if lived := re.search(r"\blived (longer|shorter)\b", ask):
        operation = Operation.GREATEST if lived[1] == "longer" else Operation.LEAST
        return Computed(text, operation, (lifetime(first, expand), lifetime(second, expand)), labels)
    compared = _compared(ask)
    if compared is None:
        return _which_is(text, ask, labels, (first, second), phrase)
    operation, template = compared
    asks = [ask_year(name) if is_event(name) else template.format(name) for name in (first, second)]
    return Computed(text, operation, (expand(asks[0], first), expand(asks[1], second)), labels)


def _sides(text: str) -> tuple[str, str, str] | None:
    """Split a choice into (question, first, second)."""
    if (between := _BETWEEN.match(text)) and (names := two_names(between["body"])) and ", " not in names[0]:
        return between["ask"], *names
    if swapped := _WAS_OR.match(text):
        return f"who was {swapped['predicate']}", swapped["first"], swapped["second"]
    for form in _CHOICES:
        if match := form.match(text):
            ask = " ".join((match["ask"].strip(" ,"), match.groupdict().get("predicate") or "")).strip()
            verbal = any(is_verb(token) for token in tokenize(ask))
            return (ask, match["first"].strip(" ,"), match["second"].strip(" ,")) if verbal else None
    return None


# --- which comes first, has more -----------------------------------------------------------------

_FIRST = lazy_pattern(r"\b(?:first|earlier|earliest|older|oldest|elder|before|sooner)\b", re.I)
_LATER = lazy_pattern(r"\b(?:later|last|latest|younger|youngest|newer|recently|second)\b", re.I)
# Comparisons in time: a pattern in the question, and the question for one side.
_EVENTS = (
    (r"\b(?:born|older|oldest|elder|younger|youngest)\b", "When was {} born?"),
    (r"\b(?:die|died|dies|death)\b", "When did {} die?"),
    (r"\b(?:came|come|comes|released|release)\b.*\bout\b|\breleased\b|\bpremiered\b", "When did {} come out?"),
    (r"\b(?:published|started|founded|formed|established|created)\b", "When was {} founded or published?"),
    (r"\b(?:open|opened|opens|opening)\b", "When was {} opened?"),
    (r"\b(?:built|completed|finished|constructed)\b", "When was {} completed?"),
)
_PAST = lazy_pattern(r"\b(?:(?P<was>was|were) )?(?:first |last )?(?P<verb>[a-z]{3,}ed|built|made|written|won|begun)\b")
# "has a higher population"
_AMOUNT = lazy_pattern(
    r"\b(?P<more>[a-z]+(?:er|est)) (?P<what>population|elevation|budget|capacity|running time)", re.I
)
_MORE = lazy_pattern(
    r"\b(?P<verb>has|have|had|won|scored|made|wrote) (?:the )?(?P<more>more|most|fewer|less) (?P<what>.+)$"
)
_DID = {"won": "did {} win", "scored": "did {} score", "made": "did {} make", "wrote": "did {} write"}
_LESS = word_set("smaller smallest lower lowest shorter shortest lighter fewer less")


def _compared(ask: str) -> tuple[Operation, str] | None:
    """The comparison (least or greatest) and the question template for one side; None where nothing is compared."""
    if _FIRST.search(ask) or _LATER.search(ask):
        template = next((template for pattern, template in _EVENTS if re.search(pattern, ask, re.I)), _happened(ask))
        return (Operation.GREATEST if _LATER.search(ask) else Operation.LEAST), template
    if amount := _AMOUNT.search(ask):
        return _more_or_less(amount["more"]), f"What is the {amount['what']} of {{}}?"
    for word in re.findall(r"[a-z]+", ask.lower()):
        if word in MEASURES and word.endswith(("er", "est")):
            return _more_or_less(word), f"What is the {MEASURES[word]} of {{}}?"
    if (more := _MORE.search(ask)) and any(word.endswith("s") or is_plural(word) for word in more["what"].split()):
        return _more_or_less(more["more"]), f"How many {more['what']} {_DID.get(more['verb'], 'does {} have')}?"
    return None


def _more_or_less(word: str) -> Operation:
    return Operation.LEAST if word.lower() in _LESS else Operation.GREATEST


def _happened(ask: str) -> str:
    """The template that asks when the verb's event happened: "closed first" -> "When did {} close?"."""
    match = _PAST.search(ask)
    if match is None:
        return "In which year was {}?"
    verb = match["verb"]
    return f"When was {{}} {verb}?" if match["was"] else f"When did {{}} {base_form(verb) or verb}?"


# --- which is something --------------------------------------------------------------------------


def _which_is(text: str, ask: str, labels: tuple[Node, ...], names: tuple[str, str], phrase: Phrase) -> Node | None:
    """Plan a choice as one closed (yes/no) look-up for each side: "Which singer is American, X or Y?" asks "Is the
    singer X American?" and "Is the singer Y American?"; None where the question has no predicate."""
    parts = _predicate(ask)
    if parts is None:
        return None
    noun, verb, rest = parts
    if _COMPARES.search(rest):
        return None  # of one side alone nobody can say whether it is farther north
    aux, rest = _auxiliary(verb, rest)
    kinds = [f"the {noun} {name}" if noun and not _says(name, noun) else name for name in names]
    return Computed(text, Operation.CHOICE, tuple(closed(aux, kind, rest, phrase) for kind in kinds), labels)


_COMPARES = lazy_pattern(r"\b(?:more|less|most|least|better|best|farther|further|closer|nearer)\b")


def _predicate(ask: str) -> tuple[str, str, str] | None:
    """Split "which NOUN VERB REST" into (noun, verb, rest); None where no verb is found."""
    tokens = tokenize(ask)
    for at, token in enumerate(tokens[1:], start=1):
        if _finite(token, at, tokens):
            noun = ask[tokens[0].end : token.start].strip()
            plain = not set(noun.lower().split()) & (PREPOSITIONS | DETERMINERS | {"one"}) and "'" not in noun
            return noun if plain else "", token.low, ask[token.end :].strip()
    return None


def _finite(token: Token, at: int, tokens: list[Token]) -> bool:
    if token.capital:
        return False
    low = token.low
    third = low.endswith("s") and (low[:-1] in BASE_VERBS or low[:-2] in BASE_VERBS)
    return is_verb(token) or third or (low in BASE_VERBS and at == len(tokens) - 2)


def _auxiliary(verb: str, rest: str) -> tuple[str, str]:
    """Auxiliary and predicate of the closed question: "ran for a year" -> ("did", "run for a year")."""
    if verb in {"has", "have", "had"}:
        after = rest.split()[:1]
        done = after and (after[0].endswith("ed") or after[0] in {"been", "won", "written", "made", "sold"})
        return (verb.replace("have", "has"), rest) if done else ("does" if verb != "had" else "did", f"have {rest}")
    if verb in AUXILIARIES:
        return verb, rest
    if verb.endswith("s"):
        base = verb[:-1] if not verb.endswith(("ches", "shes", "xes", "sses", "oes")) else verb[:-2]
        return "does", f"{base} {rest}".strip()
    return "did", f"{base_form(verb) or verb} {rest}".strip()


def _says(name: str, noun: str) -> bool:
    return noun.split()[-1].lower() in name.lower().split() or name.lower().startswith("the ")


# --- whether two have the same --------------------------------------------------------------------

_SAME = lazy_pattern(
    r"^(?P<aux>are|were|is|was|do|did|does|have|has) (?:both )?(?:of )?(?:the )?"
    r"(?P<noun>films?|movies?|villages?|songs?|bands?)?[,:]? ?"
    r"(?P<first>.{2,150}?),? and (?P<second>.{2,200}?),? "
    r"(?P<rest>(?:both|come from|located|situated|from|of the same|have|share|in the same|the same|originate|"
    r"born|buried|married|die).{0,120})$",
    re.I,
)
_TRADES = word_set("occupation profession job industry career trade role field")


def same(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "Are A and B from the same country?"; None for any other question."""
    if match := _SAME.match(text):
        names, rest = (match["first"], match["second"]), match["rest"]
    elif pair := split_pair(text):
        _, names, rest = pair
    else:
        return None
    shared = re.search(r"\bsame ([a-z]+)", rest)
    if shared is None:
        return None
    first, second = (re.sub(rf"^(?=(?:{_ROLE}) of )", "the ", name) for name in names)
    if role := re.search(rf"\b(?:have|has) (?:the )?({_ROLE})s?\b", rest):
        first, second = f"the {role[1]} of {first}", f"the {role[1]} of {second}"
    asks = [_shared_by(name, shared[1], rest) for name in (first, second)]
    # Knowing the country does not decide whether the states are the same.
    unit = "part" if shared[1] in {"state", "province", "county", "district"} else ""
    return Computed(text, Operation.SAME, (expand(asks[0], first), expand(asks[1], second)), unit=unit)


def _shared_by(name: str, noun: str, rest: str) -> str:
    """The question about one of the two sides: "from the same country" asks for its nationality."""
    if event := re.match(r"(born|buried|married|die)\b", rest):
        return f"In which {noun} {'did' if event[1] == 'die' else 'was'} {name} {event[1]}?"
    origin = noun == "country" and re.match(r"(?:both )?(?:from|of|originate|hail|come)\b", rest)
    if noun == "nationality" or origin:
        return f"What is the nationality of {name}?"
    return f"What is the occupation of {name}?" if noun in _TRADES else f"In which {noun} is {name}?"
