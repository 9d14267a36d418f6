"""Plans questions that subtract: how many more, how much taller, the years between two events, ages. What does not fit
is left whole: a half-understood side gives a number that looks right."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from iterative_rag.builtin.language.function_words import BASE_VERBS, CONJUNCTIONS, DETERMINERS, PREPOSITIONS, word_set
from iterative_rag.builtin.language.lexicon import MEASURES
from iterative_rag.builtin.language.nouns import NOT_PERSON_WORDS, gender_of_name, names_person, possessive
from iterative_rag.builtin.language.tokens import base_form, is_verb, subject_end, tokenize
from iterative_rag.builtin.question.plan import Computed, Expand, Fallback, Node, Operation, Phrase, templates
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import unit_of

# --- how much taller, how many more ---------------------------------------------------------------

# "How many metres taller is A than B", "by how many metres is A taller than B", "how many more goals did A have than B"
_MORE = lazy_pattern(
    r"^(?:by )?how (?:many|much) ?(?P<counted>(?:(?!than\b)[a-z-]+ ){0,6}?)"
    r"(?P<aux>is|was|are|were|did|does|do|has|have|had) "
    r"(?P<first>.{2,200}?)(?: (?P<late>(?-i:[a-z]+er)))? than "
    r"(?P<second>(?:[^,]|,(?= (?-i:[A-Z]))){2,200})(?P<rest>,.{0,100})?$",
    re.I,
)
_AGED = word_set("older younger earlier later newer")
LESS = word_set("smaller smallest lower lowest shorter shortest lighter fewer less")

# "Bo Orm did in 1960", "in Tell"
_WHERE = lazy_pattern(r"^(.*?)(?: (?:did|does|do|has|had|have))?(?:(?: |^)((?:at|in|on|during|by|from) .+))?$")


def how_much_more(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "How much taller is A than B?" and "How many more goals did A score than B?"; None for any other."""
    match = _MORE.match(text)
    if match is None:
        return None
    words = [*match["counted"].split(), *(match["late"] or "").split()]
    does = match["aux"].lower() in {"did", "does", "do"}  # "How much longer did A live"
    first = match["first"]
    second = second_of(_subject_and_rest(first)[0] if does else first, match["second"])
    at = next((n for n, word in enumerate(words) if word in _AGED | {"more", "fewer", "less"} or word in MEASURES), -1)
    if at < 0 or at > 1 or (match["late"] and not text.lower().startswith("by ")):
        return None
    unit, more, what = "".join(words[:at]), words[at], " ".join(words[at + 1 :])
    sides = (second, first) if more in LESS | {"younger", "later", "newer"} else (first, second)
    if more in _AGED and (not unit or unit.startswith("year")):
        verbs = ("completed", "opened", "founded", "built", "released")
        verb = next((verb for verb in verbs if verb[:5] in text.lower()), "")
        asked = f"In which year was {{}} {verb}?" if verb else ask_age(first, second)
        return _computed(text, Operation.YEARS, asked, sides, expand, "later")
    if more in MEASURES and not (what or does) and (not unit or unit_of(unit)):
        asked = f"What is the {MEASURES[more]}{f' in {unit}' if unit else ''} of {{}}?"
        return _computed(text, Operation.DIFFERENCE, asked, sides, expand, unit)
    counted = f"{unit} {what}".strip()
    if match["late"] and unit:  # "By how many floors is A taller than B"
        return _computed(text, Operation.DIFFERENCE, f"How many {unit} does {{}} have?", sides, expand)
    if more not in {"more", "fewer", "less"} or not counted:
        return None
    plan = _counted(text, f"How many {counted} {match['aux'].lower()}", first, second, expand)
    return replace(plan, operands=plan.operands[::-1]) if plan and more in LESS else plan


def ask_age(*names: str) -> str:
    """The question that tells the age of each of two: of persons, as a given name shows, or of anything else."""
    parts = [name.split() for name in names]
    born = any(len(part) > 1 and gender_of_name(part[0]) and part[-1].lower() not in NOT_PERSON_WORDS for part in parts)
    born = born or any(names_person(part[-1]) for part in parts)
    return templates("compared")["born" if born else "begin"]


def _computed(
    text: str, operation: Operation, asked: str, sides: tuple[str, str], expand: Expand, unit: str = ""
) -> Computed:
    return Computed(text, operation, tuple(expand(asked.replace("{}", side), side) for side in sides), unit=unit)


def _counted(text: str, asked: str, first: str, second: str, expand: Expand) -> Computed | None:
    """What two have, got or did: the second takes the verb of the first, and what it does not say itself."""
    (subject, rest), (other, other_rest) = _subject_and_rest(first), _WHERE.findall(second)[0]
    if rest and other and other_rest and not any(token.capital for token in tokenize(rest)):
        first = f"{first} {other_rest}"  # "did Ann win than Bo in 1960": both in 1960
    other = other or subject
    if not rest and asked.endswith((" did", " does", " do")):
        return None
    rest_of_other = f"{rest.split(' ')[0]} {other_rest}" if rest and other_rest else rest or other_rest
    asks = (f"{asked} {first}?", f"{asked} {other} {rest_of_other}".rstrip() + "?")
    return Computed(text, Operation.DIFFERENCE, tuple(map(expand, asks, (subject, other))))


def _subject_and_rest(clause: str) -> tuple[str, str]:
    """Split a clause: "the Soviet Union win at Melbourne" -> ("the Soviet Union", "win at Melbourne")."""
    tokens = tokenize(clause)
    pairs = [(before, token) for before, token in pairwise(tokens) if token.small]
    no_verb = PREPOSITIONS | CONJUNCTIONS | DETERMINERS
    verbs = [token for _, token in pairs if token.small in BASE_VERBS - no_verb]
    verbs += [token for before, token in pairs if before.capital and not (before.possessive or token.small in no_verb)]
    places = [token for before, token in pairs if before.capital and token.small in {"at", "in", "on", "during"}]
    at = next((token.start for token in (*verbs, *places)), len(clause))
    return clause[:at].rstrip(), clause[at:]


_OWNER = lazy_pattern(r"^(?:(?P<noun>the .+?) of (?P<who>.+)|(?P<owner>.+?)['’]s? (?P<thing>[^'’]+))$")
# "Tell's", "Tell's highest"
_ELLIPTIC = lazy_pattern(r"^(?P<owner>.+?['’]s?)(?: (?P<rest>[a-z ]+))?$")


def second_of(first: str, second: str) -> str:
    """The second of two things in words of its own: "that of Bo Orm" after "the wife of Ann Lee" is "the wife of Bo
    Orm", "his son" "Ann Lee's son", "the one in Tell" after "the hall in Orm" "the hall in Tell", "Tell's" after "Orm's
    hall" "Tell's hall"."""
    owned, tokens = _OWNER.match(first), tokenize(first)
    thing = second.removeprefix("that of ").removeprefix("those of ")
    opening, _, rest = thing.partition(" ")
    if rest and opening in {"his", "her", "its", "their"}:
        thing = f"{possessive((owned['who'] or owned['owner']) if owned else _subject_and_rest(first)[0])} {rest}"
    if thing != second and owned and second.startswith(("that of ", "those of ")):
        return f"{owned['noun']} of {thing}" if owned["who"] else f"{possessive(thing)} {owned['thing']}"
    if owned and owned["thing"] and (other := _ELLIPTIC.match(second)):
        return f"{other['owner']} {owned['thing']}" if owned["thing"].startswith(other["rest"] or "") else thing
    links = {"in", "at", "on", "by", "from"}
    link, where = next((token for token in tokens if token.small in links), None), second.partition(" one ")[2]
    if second.startswith(("the one ", "that one ")) and where.split()[0] in links:
        return first[: link.start] + where if link else f"the {owned['thing']} {where}" if owned else thing
    return thing


# --- years between two events, ages ---------------------------------------------------------------

_YEARS = lazy_pattern(r"^how (?:many years|long) (?P<order>after|before) (?P<rest>.{6,400})$", re.I)
_BETWEEN = lazy_pattern(
    r"^(?:how many years (?:(?:passed|elapsed|lie|lay|went by|separate|are|were|is)(?: there)? )?(?:between )?"
    r"|(?P<ages>(?:what|how (?:big|great|large)) (?:is|was) the (?:age (?:gap|difference)|difference in age)) between )"
    r"(?P<first>the .{3,150}?|[A-Z].{3,150}?) (?:and|from(?= (?:that of|the) )) (?P<second>.{3,150})$",
    re.I,
)
_AGE = lazy_pattern(
    r"^(?:how old (?:was|were)|at what age did|what age was) (?P<who>.{2,150}?) "
    r"(?:when|(?:at|by) the time|at (?=\w+ death$)|(?P<died>die\b))(?! of)(?P<when>.{0,200})$",
    re.I,
)
_EVENT_NOUNS = templates("events")
_EVENT_OF = lazy_pattern(rf"^(?:the )?({'|'.join(_EVENT_NOUNS)}) of (.+)$|^(.+)['’]s ({'|'.join(_EVENT_NOUNS)})$")


def years_after(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "How many years after A was opened did B follow?"; None for any other."""
    match = _YEARS.match(text)
    rest = match["rest"] if match else ""
    # "did" always belongs to the main clause; among several "was", the last one does.
    verbs = [token for token in tokenize(rest)[1:-1] if token.text in {"did", "was", "were", "is"}]
    main = next((verb for verb in verbs if verb.text == "did"), verbs[-1] if verbs else None)
    if main is None:
        return None
    first, aux, second = rest[: main.start].strip(), main.text, rest[main.end :].strip()
    tokens = tokenize(first)
    verb = next((token for token in tokens if is_verb(token)), None)
    subject, _, event = second.rpartition(" ")
    if event in {"follow", "come"} and verb:  # "... after A was opened did B follow": B was opened as well
        aux, second = verb.low, f"{subject} {first[verb.end :].strip()}"
    pronoun, _, owned = second.partition(" ")
    owner = first[: verb.start].strip() if verb else first
    if pronoun.lower() in {"his", "her", "its", "their"} and all(token.capital for token in tokenize(owner)):
        second = f"{possessive(owner)} {owned.removeprefix('own ')}"
    _, act = _subject_and_rest(second)
    if verb or is_event(first):
        ask_first = ask_year(first)
    elif act and all(token.capital for token in tokens):
        # "How many years after A did B win X?": the verb applies to both.
        ask_first = f"In which year {aux} {first} {act}?"
    else:
        ask_first = f"In which year was {first}?"
    asks = ask_first, f"In which year {aux} {second}?"
    operands = tuple(map(expand, asks, (first, second)))
    after = match is not None and match["order"].lower() == "after"
    return Computed(text, Operation.YEARS, operands if after else operands[::-1], unit="later")


def years_between(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "How many years lie between A and B?" and "What is the age gap between A and B?"; None for any other."""
    match = _BETWEEN.match(text)
    if match is None:
        return None
    sides = match["first"], second_of(match["first"], match["second"])
    asks = (f"When was {side} born?" if match["ages"] else ask_year(side) for side in sides)
    return Computed(text, Operation.YEARS, tuple(map(expand, asks, sides)))


def age(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "How old was A when B died?"; None for any other."""
    match = _AGE.match(text)
    if match is None:
        return None
    who, event = match["who"], match["when"].strip()
    if match["died"] or event in {"he died", "she died", "his death", "her death", "their death"}:
        return lifetime(who, expand, text)
    pronoun, _, rest = event.partition(" ")
    event = f"{who} {rest}" if pronoun in {"he", "she", "they"} else event
    dead = event.removesuffix(" died")
    ask = f"When did {dead} die?" if dead != event else ask_year(event).replace("In which year", "When", 1)
    born = expand(f"When was {who} born?", who)
    return Computed(text, Operation.YEARS, (born, expand(ask, event)), unit="age") if event else None


_LASTED = lazy_pattern(
    r"^(?:for )?how (?:long|many years) (?P<aux>was|were|did) (?!.*\b(?:who|whose|which|that)\b)(?P<clause>.{4,200})$",
    re.I,
)


def duration(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "How long was A king?": what is said of it, or the years from the first to the last; None for any other."""
    match = _LASTED.match(text)
    rest = _subject_and_rest(match["clause"])[1] if match else ""
    if match is None or not rest or tokenize(rest)[0].low in PREPOSITIONS:
        return None  # "How long was the bridge in Orm"
    clause = f"{match['aux'].lower()} {match['clause']}"
    said, span = expand(f"How long {clause}?", ""), expand(f"In which years {clause}?", clause)
    return Fallback(text, said, Computed(text, Operation.YEARS, (span,), unit="span"))


def lifetime(name: str, expand: Expand, source: str = "") -> Node:
    """Plan the age of a person at death."""
    born, died = expand(f"When was {name} born?", name), expand(f"When did {name} die?", name)
    return Computed(source or name, Operation.YEARS, (born, died), unit="age")


def is_event(phrase: str) -> bool:
    """Whether a phrase names an event: "the opening of X"."""
    return bool(_EVENT_OF.match(phrase))


def ask_year(clause: str) -> str:
    """The question about the year of an event: "the bridge was opened" -> "In which year was the bridge opened?"."""
    if match := _EVENT_OF.match(clause):
        noun, what = (match[1], match[2]) if match[1] else (match[4], match[3])
        return f"In which year {_EVENT_NOUNS[noun].format(what)}?"
    tokens = tokenize(clause)
    if at := subject_end(tokens):
        verb = tokens[at]
        subject, rest = clause[: verb.start].strip(), clause[verb.end :]
        if verb.low in {"was", "were", "is", "had", "has"}:
            return f"In which year {verb.low} {subject}{rest}?"
        return f"In which year did {subject} {base_form(verb.low) or verb.low}{rest}?"
    return f"In which year was {clause}?"
