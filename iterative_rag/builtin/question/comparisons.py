"""Plans choices between two things: which comes first, which has more, which is something; and whether one does.

Only what is compared at the end of the question is: "Who was older when she died" compares ages at death, and "the
first lady" compares nothing. A comparison that is not understood is left whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    stem,
    word_set,
)
from iterative_rag.builtin.language.lexicon import MEASURES, AnswerKind, kind_of_noun
from iterative_rag.builtin.language.nouns import PLACES, SITES, SMALLER, is_plural, names_person
from iterative_rag.builtin.language.text_values import amounts, dates
from iterative_rag.builtin.language.tokens import (
    BEFORE,
    Token,
    base_form,
    group_end,
    head_noun,
    is_participle,
    is_verb,
    tokenize,
)
from iterative_rag.builtin.question.differences import (
    LESS,
    ask_age,
    ask_year,
    how_much_more,
    is_event,
    lifetime,
    second_of,
)
from iterative_rag.builtin.question.pairs import closed, kind_and_name, two_names
from iterative_rag.builtin.question.plan import Computed, Expand, Fallback, Literal, Node, Operation, Phrase, templates
from iterative_rag.text import units
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
    # "Which was opened first, A or B"; "Who is younger A or B": no comma, but the names are capitalized.
    lazy_pattern(
        rf"^(?P<ask>{_ASK}\b(?:.{{3,200}}[,:?]|[^,:?A-Z]{{4,120}}?(?= (?:the )?[A-Z“\"]))) (?:either )?"
        rf"(?P<first>{_NAMED}[^,?]{{0,100}}?),? or (?P<second>(?:the |an? )?[^,?]{{1,150}})$"
    ),
    # "Was A or B born first", "Does A or B have more people"
    lazy_pattern(
        r"^(?P<ask>(?i:was|were|did|does|is)) (?P<first>.{2,120}?) or (?P<second>.{2,120}?) "
        r"(?P<predicate>(?:[a-z]+ ){0,2}(?:first|last|[a-z]+er|(?:more|fewer|less|larger|smaller|bigger|higher|longer) "
        r"(?!.* than ).{2,100}))$"
    ),
)


def choice(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "Which is longer, A or B?" by what is asked of each side; None for any other question."""
    parts = sides_of(text)
    asked = _Asked.of(parts[0]) if parts else None
    if parts is None or asked is None:
        return None
    sides = parts[1], parts[2]
    labels = tuple(Literal(kind_and_name(name)[1]) for name in sides)
    ranked = _ranked(text, asked, parts[0].lower(), sides, labels, expand)
    return ranked if ranked or asked.compares else _which_is(text, asked, labels, sides, phrase)


# "Is A older than B", "Did A win more titles than B"
_THAN = lazy_pattern(
    r"^(?P<verb>(?i:is|was|are|were|did|does|do|has|have|had)) (?P<first>.{2,120}?)(?<!['’]s)(?<!est) "
    r"(?P<act>(?:[a-z]+ ){0,3}?(?:[a-z]+er|more|less)(?: [a-z]+){0,3}) than (?P<second>.{2,120})$"
)
# "Was A born before B": earlier than B; "Is A over 300 m tall": more than that.
_IN_ORDER = lazy_pattern(
    r"(?<=[a-z])(?<! or) (?P<order>before|after|over|under) "
    r"(?=(?:the (?:year )?)?[0-9$€£]|(?<!over )(?<!under )(?:the )?[A-Z“\"])"
)
# What the second side is without: "the year 1901", "Puncak Jaya was".
_AROUND = lazy_pattern(r"^the (?:year )?(?=[0-9]\S*$)| (?:is|was|were|does|did|has|had)$")
# "a longer river": what both are.
_A_CLASS = lazy_pattern(r"^an? (?P<more>[a-z]+er) (?P<kind>(?!of\b)[a-z]+)$")
# "Did A win more titles in Orm than in Tell", "Has A been in as many films as B"
_MORE_OF = lazy_pattern(
    r"^(?P<aux>(?i:did|does|do|has|have|had)) (?P<first>.{2,120}?) (?P<more>more|fewer|less|as many|as much) "
    r"(?P<what>(?:(?!than |as )\S+ ){1,8})(?:than|as) (?P<second>.{2,120})$"
)
# "Was A already open when B was built", "Was A still alive by the time B was born"
_BY_THEN = lazy_pattern(
    r"^(?P<aux>(?i:was|were|had|did)) (?P<first>.{2,120}?) (?P<adverb>still |already )?(?P<act>[a-z]+) "
    r"(?P<when>when|by the time|before) (?P<second>(?!he |she |it |they ).{6,120})$"
)


def exceeds(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "Is A older than B?": yes if A is what "Which is older, A or B?" asks for; B may be a date or an amount, as
    in "Did A win more than three titles?". None for any other."""
    if not _UNCLEAR.isdisjoint(text.split()):
        return None
    return _more_of(text, expand, phrase) or _by_then(text, expand) or _more_than(text, expand)


def _more_of(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "Did A win more titles than B?" by what "How many more titles did A win than B?" subtracts."""
    match = _MORE_OF.match(text)
    words = match["what"].split() if match else []
    end = next((n for n, word in enumerate(words) if word in PREPOSITIONS), len(words))
    if match is None or not any(word.endswith("s") or is_plural(word) for word in words[:end]):
        return None
    said = [token for token in tokenize(match["second"]) if token.low not in {"did", "does", "has", "had"}]
    if not said or any(map(is_verb, said)) or said[0].low in PRONOUNS:
        return None
    more, equal = (match["more"], "No") if " " not in match["more"] else ("more", "Yes")  # "as many"
    first = " ".join((match["aux"].lower(), match["first"], *words[end:]))
    asked = f"how many {more} {' '.join(words[:end])} {first} than {match['second']}"
    if isinstance(plan := how_much_more(asked, expand, phrase), Computed):
        return replace(plan, source=text, operation=Operation.GREATEST, labels=(*_YES_NO, Literal(equal)))
    return None


def _by_then(text: str, expand: Expand) -> Node | None:
    """Plan "Was A already open when B was built?" by the times of both."""
    match = _BY_THEN.match(text)
    tokens = tokenize(match["second"]) if match else []
    if match is None or not any(map(is_verb, tokens)) or tokens[-1].low in AUXILIARIES:
        return None
    aux, act = match["aux"].lower(), match["act"]
    dead, does = act in {"alive", "dead"}, act in BASE_VERBS or base_form(act)
    said = (aux, [act]) if aux in {"was", "were"} else (act if does else "is", [])
    asked = _EVENTS["die"] if dead else _asked_when(*said)
    at_once = match["when"] == "when" and not (match["adverb"] or dead or aux == "had" or act == "born")
    if not asked or at_once or (match["adverb"] == "still ") is not (act == "alive"):
        return None  # "Did the tower fall when the bridge did"; who was alive had been born, too
    asks = asked.replace("{}", match["first"]), ask_year(match["second"]).replace("In which year", "When", 1)
    rank = Operation.GREATEST if act == "alive" else Operation.LEAST
    return Computed(text, rank, tuple(map(expand, asks, (match["first"], match["second"]))), _YES_NO)


def _more_than(text: str, expand: Expand) -> Node | None:
    """Plan "Is A taller than B?" and "Was A born before 1900?" by a measure, a time or a number of each."""
    ordered = _IN_ORDER.sub(
        lambda at: f" {_ORDER[at['order']]} than ", text.replace(" outlive ", " die later than "), 1
    )
    match = _THAN.match(ordered)
    if match is None:
        return None
    first, second, act = match["first"], second_of(match["first"], match["second"]), match["act"]
    kind = kind_and_name(first)[0].rpartition(" ")[2]
    if both := _A_CLASS.match(act):
        act, kind = both["more"], both["kind"]
    if _AGED.isdisjoint(act.split()):  # "older than Ann Lee was" may go on with "when she died"
        second = _AROUND.sub("", second)
    limit = next((second[:end] for _, at, end in (*dates(second), *amounts(second)) if not at), "")
    if second[len(limit) :].strip()[:1].isupper() and act.endswith("er"):
        limit = ""  # "taller than 12 Orm Street"
    said = f"{act}{second[len(limit) :]}" if limit else act
    verb, words = match["verb"].lower(), said.split()
    if verb in {"did", "does", "do"}:
        verb, *words = words
    other = tokenize(second)
    named = other[-1].capital or second != match["second"]
    named = named and not (other[-1].text.isdigit() or any(map(is_verb, other)))
    if not words or not (named or limit) or (limit and " and " in first):
        return None  # "than him", "than Ann Lee was thought to be"
    asked = _Asked(kind, "", "", verb, tuple(words), is_who=False)
    sides = (first,) if limit else (first, second)
    return _ranked(text, asked, said, sides, (*_YES_NO, Literal("No")) if limit else _YES_NO, expand, limit)


def _ranked(
    text: str, asked: _Asked, said: str, sides: Sequence[str], labels: tuple[Node, ...], expand: Expand, limit: str = ""
) -> Node | None:
    """Compare what the sides are asked for, one with the `limit` if that is given; None where no times or numbers are
    compared."""
    given = (Literal(limit),) if limit else ()
    if rank := _order_of_ages(said):
        return Computed(text, rank, (*(lifetime(name, expand) for name in sides), *given), labels)
    timed, amount = _in_time(asked), amounts(limit)
    compared = timed or _in_measure(asked)
    if compared is None or (limit and not (timed or amount)):
        return None
    if timed and limit and not dates(limit):
        given = (Literal("today"),)  # "older than 50" asks for an age of today: nothing compares with that
    operation, template = compared
    if amount and amount[0][0].unit:
        template = template.replace(" of ", f" in {units.plural(amount[0][0].unit)} of ")
    template = ask_age(*sides) if template == _EVENTS["begin"] else template
    came = asked.verb == "came" and "out" not in asked.rest
    asks = [
        ask_year(name) if is_event(name) or (came and name.startswith("the ")) else template.replace("{}", name)
        for name in sides
    ]
    ranked = Computed(text, operation, (*map(expand, asks, sides), *given), labels)
    # What is bigger has more land or more inhabitants, as may be found for both; of towns these come first. One word,
    # as in "Is Orley older than Lee?", may be the name of a person.
    begun = template == _EVENTS["begin"] and not any(" " in side for side in sides)
    also = _EVENTS["born"] if begun else _MEASURE.format("population") if template == _AREA else ""
    if not also or limit:
        return ranked
    other = replace(ranked, operands=tuple(expand(also.replace("{}", name), name) for name in sides))
    first, second = (other, ranked) if stem(asked.kind) in SMALLER else (ranked, other)
    return Fallback(text, replace(first, source=""), second)


def sides_of(text: str) -> tuple[str, str, str] | None:
    """Split a choice into (question, first, second)."""
    if (between := _BETWEEN.match(text)) and (names := two_names(between["body"])) and ", " not in names[0]:
        return between["ask"], *names
    for form in _CHOICES:
        if match := form.match(text):
            ask = " ".join((match["ask"].strip(" ,:?-–"), match.groupdict().get("predicate") or "")).strip()
            before, _, last = ask.rpartition(", ")
            third = last[:1].isupper() and before[before.rfind(" ") + 1 :].islower()
            broken = ask.rpartition(" ")[2] in PREPOSITIONS | DETERMINERS | RELATIVES
            if third or broken or match["second"] in {"both", "neither"}:
                return None  # "Who is taller, A, B or C"
            first = match["first"].strip(" ,")
            return ask, first, second_of(first, match["second"].strip(" ,"))
    return None


_ORDER = {"before": "earlier", "after": "later", "over": "more", "under": "less"}
_UNCLEAR = word_set("not never or both")
_YES_NO = Literal("Yes"), Literal("No")
_FILLERS = word_set("of the two them a an more most")
_EARLY = word_set("first earlier earliest sooner older oldest elder eldest")
_LATE = word_set("second last later latest younger youngest newer newest recently recent")
_AGED = word_set("older oldest elder eldest younger youngest newer newest")
_AMOUNTS = word_set("more most fewer less")
# Of one side alone nobody can say whether it is farther north; a "not" is easily overlooked where it is read.
_COMPARING = _AGED | _AMOUNTS | word_set("not never earlier better best farther further closer nearer least wider")
_NO_CLASS = PREPOSITIONS | DETERMINERS | _EARLY | _LATE | {"one"}
_WORKS = word_set("film films movie movies documentary album song single game novel book show series")
_EVENTS = templates("compared")
_MEASURE = "What is the {} of {{}}?"
_AREA = _MEASURE.format("area")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of two things: "Which film by Lee" (`kind` "film"), "was", "released first"."""

    kind: str
    opening: str
    noun: str
    verb: str
    rest: tuple[str, ...]
    is_who: bool

    @staticmethod
    def of(ask: str) -> _Asked | None:
        """None where no verb is found."""
        tokens = tokenize(ask)
        for at, token in enumerate(tokens):
            if _finite(token, at, tokens):
                opening = noun = ask[tokens[0].end : token.start].strip() if at else ""
                if "'" in noun or not _NO_CLASS.isdisjoint(noun.lower().split()):
                    noun = ""
                kind = head_noun(tokens[1 : group_end(tokens, 1, at)]) if at > 1 else ""
                verb, *rest = token.low, *ask[token.end :].split()
                if rest and not at and verb in {"did", "does"}:  # "Does A or B have more people"
                    verb, *rest = rest
                return _Asked(kind, opening, noun, verb, tuple(rest), is_who=not at or tokens[0].low == "who")
        return None

    @property
    def compares(self) -> bool:
        """Whether it compares, in whatever way; what stands in a relative clause compares other things."""
        ends = (n for n, word in enumerate(self.rest) if word in RELATIVES or word.endswith(","))
        said = {*self.rest[: next(ends, len(self.rest))], *self.opening.split()}
        measured = any(word in MEASURES and word.endswith(("er", "est")) for word in said)
        return measured or not _COMPARING.isdisjoint(said) or not (_EARLY | _LATE).isdisjoint(self.rest[-1:])


def _finite(token: Token, at: int, tokens: list[Token]) -> bool:
    if (token.capital and at) or "-" in token.text:
        return False
    low = token.low
    third = low.endswith("s") and (low[:-1] in BASE_VERBS or low[:-2] in BASE_VERBS)
    return is_verb(token) or low in AUXILIARIES or bool(at and (third or (low in BASE_VERBS and at == len(tokens) - 2)))


# --- which comes first ----------------------------------------------------------------------------


def _order_of_ages(ask: str) -> Operation | None:
    """How ages at death are compared: "who lived longer", "who died younger", "who was older when she died"."""
    died = not {"die", "died", "death", "dead"}.isdisjoint(ask.split())
    words = ask.replace("lived", "live")
    if "live longer" in words or (died and "older" in ask.split()):
        return Operation.GREATEST
    return Operation.LEAST if "live shorter" in words or (died and "younger" in ask.split()) else None


def _in_time(asked: _Asked) -> tuple[Operation, str] | None:
    """The comparison (least or greatest) and the question for one side, where two times are compared."""
    rest = list(asked.rest)
    at = next((n for n in reversed(range(len(rest))) if rest[n] in _EARLY | _LATE), -1)
    if at < max(len(rest) - 2, 0):
        return None
    word, act, after, kind = rest[at], rest[:at], rest[at + 1 :], asked.kind
    while act and act[-1] in _FILLERS:
        act.pop()
    if after and word in _AGED and not act:
        kind = kind or after[0]  # "Which is the older film"
    elif after and after[0] not in {"year", "date"}:  # "was first published", but not "was the first president"
        if act or asked.verb not in {"was", "were"} or not _is_participle(after[0]):
            return None
        act = after
    template = _asked_age(asked, kind) if word in _AGED and not act else _asked_when(asked.verb, act)
    return (Operation.GREATEST if word in _LATE else Operation.LEAST, template) if template else None


def _asked_age(asked: _Asked, kind: str) -> str:
    """How old something is: when a person was born, a film came out, anything else was founded; "" if not said."""
    if asked.verb not in AUXILIARIES:
        return ""  # "Who directed the older film"
    if kind in _WORKS:
        return _EVENTS["release"]
    if names_person(kind) or (not kind and asked.is_who):
        return _EVENTS["born"]
    return _EVENTS["place" if kind in SITES | PLACES else "found" if kind else "begin"]


def _asked_when(verb: str, act: list[str]) -> str:
    """When what the verb says happened; "" where it says nothing that happens."""
    passive = verb in {"was", "were"}
    if verb in AUXILIARIES:
        verb, *act = [word for word in act if word not in BEFORE] or [""]
        if not (passive := passive and _is_participle(verb)):
            return ""
    base = base_form(verb) or verb
    if act in ([], ["in"], ["out"]) and (known := _EVENTS.get(verb) or _EVENTS.get(base)):
        return known
    return f"{' '.join(('When was {}', verb, *act) if passive else ('When did {}', base, *act))}?"


def _is_participle(word: str) -> bool:
    return bool(word) and is_participle(tokenize(word)[0])


# --- which has more -------------------------------------------------------------------------------


def _in_measure(asked: _Asked) -> tuple[Operation, str] | None:
    """The comparison and the question for one side, where two numbers are compared."""
    rest = list(asked.rest[asked.rest[:1] in {("the",), ("a",), ("an",)} :])
    if not rest:
        return None
    verb, has = asked.verb, asked.verb in {"has", "have", "had"}
    if has and len(rest) > 1 and _is_participle(rest[0]):
        verb, has, rest = rest[0], False, rest[1:]  # "has won more titles"
    word, what = rest[0].lower(), " ".join(rest[1:])
    if word in {"more", "less"} and what in MEASURES and what != "old":
        return _more_or_less(word), _MEASURE.format(MEASURES[what])
    if word in _AMOUNTS and what:
        does = "does" if has or verb.endswith("s") else "did"
        base = verb if verb in BASE_VERBS else base_form(verb)
        act = f"{does} {{}} {'have' if has else base}"
        counted = any(part.endswith("s") or is_plural(part) for part in rest[1:])
        if not counted or not (has or base) or not {"its", "their", "his", "her"}.isdisjoint(rest):
            return None
        return _more_or_less(word), f"How many {what} {act}?"
    if has and word.endswith(("er", "est")) and kind_of_noun(what or "-") is AnswerKind.NUMBER:
        return _more_or_less(word), _MEASURE.format(what)
    measure, ends = MEASURES.get(rest[-1].lower(), ""), rest[-1].endswith(("er", "est"))
    plain = asked.verb in AUXILIARIES or asked.verb in {"goes", "runs", "lasts", "lasted", "ran", "stands"}
    if not measure or not ends or not plain or rest[:-1] not in ([], ["on"]):
        return None
    if measure == "area" and asked.kind and kind_of_noun(asked.kind) is not AnswerKind.PLACE:
        return None  # of a breed, a company or a people
    return _more_or_less(rest[-1]), _MEASURE.format(measure)


def _more_or_less(word: str) -> Operation:
    return Operation.LEAST if word.lower() in LESS else Operation.GREATEST


# --- which is something ---------------------------------------------------------------------------


def _which_is(text: str, asked: _Asked, labels: tuple[Node, ...], names: Sequence[str], phrase: Phrase) -> Node | None:
    """Plan a choice as one closed (yes/no) look-up for each side: "Which singer is American, X or Y?" asks "Is the
    singer X American?" and "Is the singer Y American?"."""
    if not asked.rest or asked.verb in {"did", "does", "do"}:
        return None  # "Which opera did Ann Lee write" asks for what the verb is done to
    auxiliary, rest = _auxiliary(asked.verb, " ".join(asked.rest))
    kinds = [f"the {asked.noun} {name}" if asked.noun and not _says(name, asked.noun) else name for name in names]
    return Computed(text, Operation.CHOICE, tuple(closed(auxiliary, kind, rest, phrase) for kind in kinds), labels)


def _auxiliary(verb: str, rest: str) -> tuple[str, str]:
    """Auxiliary and predicate of the closed question: "ran for a year" -> ("did", "run for a year")."""
    after = rest.partition(" ")[0]
    if verb in {"has", "have", "had"} and not (_is_participle(after) or after == "been"):
        return "did" if verb == "had" else "does", f"have {rest}"
    if verb in AUXILIARIES:
        return verb.replace("have", "has"), rest
    return "did", f"{base_form(verb) or verb} {rest}"


def _says(name: str, noun: str) -> bool:
    return noun.split()[-1].lower() in name.lower().split() or name.lower().startswith("the ")
