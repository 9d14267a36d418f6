"""Parses a question into a plan of look-ups by hand-written rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from iterative_rag.builtin.language.function_words import PREPOSITIONS, RELATIVES
from iterative_rag.builtin.language.nouns import KINSHIP, NAME_PARTS, gender_of_name, names_person
from iterative_rag.builtin.language.tokens import Token, head_noun, tokenize
from iterative_rag.builtin.question.comparison_questions import plan_computation
from iterative_rag.builtin.question.description_regions import regions
from iterative_rag.builtin.question.descriptions import (
    Phrase,
    description_at,
    find_descriptions,
    group_end,
    reorder_clauses,
)
from iterative_rag.builtin.question.plan import (
    Computed,
    Literal,
    Lookup,
    NamePart,
    Node,
    Operation,
    Part,
    escape_braces,
)
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import phrase_question
from iterative_rag.builtin.question.time_questions import ask_year
from iterative_rag.text.patterns import lazy_pattern

# Characters of a question that are read; the rest is ignored.
LONGEST = 2000
# No real question nests deeper than this; the bound keeps hostile text cheap.
DEEPEST = 8
_NAME_PART = "|".join(sorted(NAME_PARTS, key=len, reverse=True))


def parse(question: str, without: Collection[str] = ()) -> Node:
    """Plan a question. Text that no rule matches becomes a single look-up.

    `without`: rules that are left out, by their file or by the names below; only for measuring what each adds.
    """
    text = " ".join(question[:LONGEST].split()).rstrip(" ?.!")
    rules: tuple[tuple[str, Callable[[str], Node | None]], ...] = (
        ("names", _plan_name),
        ("names", _plan_name_question),
        ("computations", lambda text: plan_computation(text, _expand, _phrase, without)),
        ("times", _plan_timed),
        ("descriptions", lambda text: expand(f"{reorder_clauses(text)}?", text, 0)),
    )
    planned = (rule(text) for name, rule in rules if name not in without)
    return next((node for node in planned if node is not None), Lookup(text, escape_braces(f"{text}?")))


def _expand(question: str, source: str) -> Node:
    return _plan_phrase(question, source, 1)


def _phrase(phrase: str) -> Node:
    return noun_phrase(phrase, 1)


# "... when X did Y", "... in the year (in which) X did Y", "... in the year after X"
_WHEN = lazy_pattern(
    r"^(?P<main>.{5,300}?)(?:,)? (?:when|at the time|"
    r"(?P<in>in) the (?:same )?year (?:in which|that|when|of|(?=[A-Z]|the\b)))\s*(?P<clause>.{5,300})$"
)
# Not "When was Ann Lee, who ..., born": that asks for a time.
_FRONT = lazy_pattern(
    r"^(?:in the (?:same )?year (?:in which |that |when |of )?|when (?!was\b|were\b|is\b|did\b|does\b|has\b))"
    r"(?P<clause>[^,]{5,200}), (?P<main>(?:who|what|which|in which|where|how)\b.{5,250})$",
    re.IGNORECASE,
)
_NEXT_YEAR = lazy_pattern(r"^(?P<main>.{5,300}?) in the year (?P<side>after|before|following) (?P<event>.{3,200})$")


def _plan_phrase(question: str, source: str, depth: int) -> Node:
    """Plan a question made from a phrase, which may give a time by an event."""
    node = _plan_timed(question.rstrip("?"), depth) if depth < DEEPEST else None
    if isinstance(node, Lookup):
        return Lookup(source, node.template, node.slots)
    return expand(reorder_clauses(question), source, depth)


def _plan_timed(text: str, depth: int = 0) -> Node | None:
    """Plan a question that gives its time by an event ("... when X opened"): the event's year is looked up first."""
    if match := _NEXT_YEAR.match(text):
        source = text[match.end("main") + len(" in ") :]
        year = expand(ask_year(match["event"]), match["event"], depth + 1)
        step = Literal("-1" if match["side"] == "before" else "1")
        return _at_year(text, match["main"], depth, Computed(source, Operation.SUM, (year, step)))
    if match := _FRONT.match(text):
        clause = match["clause"]
        return _at_year(text, match["main"], depth, expand(reorder_clauses(ask_year(clause)), clause, depth + 1))
    match = _WHEN.match(text)
    if match is None or not re.match(r"(?:who|what|which|in|on|where|how|whose)\b", match["main"], re.IGNORECASE):
        return None
    if re.search(r"(?<!^)(?<!^in )(?<!^on )\b(?:who|whom|whose|that|which)\b", match["main"]):
        return None  # the time modifies the relative clause
    if re.search(r"\b(?:the|a|that|this|time|year|day|moment)$", match["main"]):
        return None
    clause = match["clause"]
    return _at_year(text, match["main"], depth, expand(reorder_clauses(ask_year(clause)), clause, depth + 1))


def _at_year(text: str, main: str, depth: int, year: Node) -> Node:
    node = expand(f"{reorder_clauses(main)}?", main, depth + 1)
    if not isinstance(node, Lookup):
        return node
    return Lookup(text, f"{node.template.rstrip('?')} in {{{len(node.slots)}}}?", (*node.slots, year))


# --- names put together from parts ----------------------------------------------------------------------

_ASKS_NAME = lazy_pattern(
    r"[,;.]?\s*(?:then\s+)?(?:what|who)\s+(?:is|was|would|will|are)\s+(?:(?:her|his|their|my|the)\b[^,;]{0,40}\bnames?|(?:she|he|they)\b"
    r"[^,;]{0,30})$|[,;.]?\s*(?:what|who)\s+(?:is|will|would)\s+[^,;]{0,40}\b(?:called|named|name be)$",
    re.IGNORECASE,
)
_MARK = lazy_pattern(rf"\b({_NAME_PART})\b", re.IGNORECASE)
_LINK = lazy_pattern(
    r"^[\s,]*(?:(?:is|was|are|be|being)\s+)?(?:(?:exactly\s+)?(?:the\s+)?same\s+)?(?:as|of|from|like|that\s+of)?\s*(?:that\s+of\s+)?",
    re.IGNORECASE,
)


def _plan_name(text: str) -> Node | None:
    """Plan "If ... has the same first name as A and her surname is that of B, what is her name?" """
    asked = _ASKS_NAME.search(text)
    if asked is None:
        return None
    body = text[: asked.start()]
    for conjunction in re.finditer(r"\band\b|;", body):
        halves = body[: conjunction.start()], body[conjunction.end() :]
        marks = [_MARK.search(half) for half in halves]
        if marks[0] is None or marks[1] is None:
            continue
        parts = [Part(NAME_PARTS[mark[1].lower()]) for mark in marks if mark]
        if (parts[0] is Part.FIRST) == (parts[1] is Part.FIRST):
            continue
        operands = [
            _name_part(part, half[mark.end() :])
            for part, half, mark in zip(parts, halves, marks, strict=True)
            if mark is not None
        ]
        if parts[1] is Part.FIRST:
            operands.reverse()
        return Computed(text, Operation.JOIN, tuple(operands))
    return None


def _name_part(part: Part, rest: str) -> Node:
    """The name part of the person that `rest` describes."""
    phrase = rest[_LINK.match(rest).end() :].strip(" ,")  # type: ignore[union-attr]
    node = noun_phrase(phrase, 0)
    return node if isinstance(node, NamePart) else NamePart(phrase, part, node)


# --- noun phrases ----------------------------------------------------------------------------


def noun_phrase(text: str, depth: int) -> Node:
    """The node of a noun phrase: a literal, or the look-up that resolves its description."""
    text = text.strip(" ,?")
    tokens = tokenize(text)
    phrase = description_at(tokens, 0, len(tokens)) if tokens and depth < DEEPEST else None
    if phrase is None:
        return Literal(text)
    return _described(text, tokens, phrase, depth)


def _described(text: str, tokens: list[Token], phrase: Phrase, depth: int) -> Node:
    source = text[tokens[phrase.start].start : tokens[phrase.end - 1].end].rstrip(" ,")
    if part := _part_of_name(source, depth) or _plan_in_law(source, depth):
        return part
    if alias := _ALIAS.match(source) or _SO_CALLED.match(source):
        return Literal(alias[1])
    if owned := _plan_possessive(text, tokens, phrase, depth):
        return owned
    asks = Asks.WHO if names_person(head_noun(tokens[phrase.start : phrase.group])) else Asks.WHAT
    return _plan_phrase(phrase_question(source, asks), source, depth + 1)


def _part_of_name(source: str, depth: int) -> Node | None:
    """Plan "the maiden name of X" and "X's maiden name"."""
    if match := re.match(rf"(?:the )?({_NAME_PART}) of (.+)$", source, re.IGNORECASE):
        return NamePart(source, Part(NAME_PARTS[match[1].lower()]), noun_phrase(match[2], depth + 1))
    if match := re.match(rf"(.+?)(?:'s|’s|(?<=s)['’]) ({_NAME_PART})$", source, re.IGNORECASE):
        return NamePart(source, Part(NAME_PARTS[match[2].lower()]), noun_phrase(match[1], depth + 1))
    return None


_IN_LAW = lazy_pattern(
    r"^(?:the )?(?:(father|mother|brother|sister)-in-law|(maternal|paternal) grand(father|mother)) of (.+)$"
    r"|^(.+?)['’]s? (?:(father|mother|brother|sister)-in-law|(maternal|paternal) grand(father|mother))$",
    re.IGNORECASE,
)
_SIDE = {"maternal": "mother", "paternal": "father"}


def _plan_in_law(source: str, depth: int) -> Node | None:
    """Plan kinship in two steps: "the father-in-law of X" is the father of X's spouse."""
    match = _IN_LAW.match(source)
    if match is None:
        return None
    law, side, grand, whom = match.group(1, 2, 3, 4) if match[4] else match.group(6, 7, 8, 5)
    between = _SIDE[side.lower()] if side else "spouse"
    person = noun_phrase(whom, depth + 1)
    template, slots = ("{0}", (person,)) if not isinstance(person, Literal) else (escape_braces(person.source), ())
    middle = Lookup("", f"Who is {template}'s {between}?", slots)
    return Lookup(source, f"Who is {{0}}'s {law or grand}?", (middle,))


# "the city of Orm" is Orm.
_SO_CALLED = lazy_pattern(
    r"^the (?:city|state|town|village|island|province|kingdom|republic|borough|commune|planet) of "
    r"((?:[A-Z][\w.-]*(?: |$|, ))+)$"
)
_ALIAS = lazy_pattern(r"^the \w+ (?:(?:better |also |best )?known as|called|named|nicknamed) ([A-Z\"“].*)$")


def _plan_possessive(text: str, tokens: list[Token], phrase: Phrase, depth: int) -> Node | None:
    """Plan "X's mother": a look-up of the head noun with the possessor as its slot."""
    places = [at for at in range(phrase.start, phrase.end - 1) if tokens[at].possessive]
    if not places or group_end(tokens, places[-1] + 1, phrase.end) != phrase.end:
        return None
    owner_end = tokens[places[-1]].end
    head_word = head_noun(tokens[places[-1] + 1 : phrase.end])
    inner = any(tokens[at].low in PREPOSITIONS for at in range(phrase.start, places[-1]))
    personal = names_person(head_noun(tokens[phrase.start : phrase.group]))
    owned = head_word in KINSHIP or head_word in {"name", "birthplace", "birthday", "hometown", "age"}
    if inner and not (owned and personal):
        return None  # "the composer of the music for X's film": the film is X's, the composer is not
    named = next((at for at in range(places[-1], phrase.start, -1) if tokens[at - 1].small in PREPOSITIONS), 0)
    if head_word in KINSHIP and named and tokens[named - 1].low == "of" and gender_of_name(tokens[named].text):
        return None  # "the tutor of Ann Lee's mother": films have no mother, Ann Lee has one
    if any(tokens[at].small in RELATIVES for at in range(phrase.start, places[-1])):
        return None  # "the judge who sent Ann Lee's brother to prison": the brother is hers, not the judge's
    stripped = re.sub(r"['’]s?$", "", text[tokens[phrase.start].start : owner_end])
    head = text[tokens[places[-1]].end : tokens[phrase.end - 1].end].strip()
    source = text[tokens[phrase.start].start : tokens[phrase.end - 1].end]
    verb = "Who is" if names_person(head_word) else "What is"
    owner = noun_phrase(stripped, depth + 1)
    if isinstance(owner, Literal):
        return Lookup(source, escape_braces(f"{verb} {owner.source}'s {head}?"))
    return Lookup(source, f"{verb} {{0}}'s {escape_braces(head)}?", (owner,))


# --- questions -------------------------------------------------------------------------------


def _plan_name_question(text: str) -> Node | None:
    """Plan "What is the maiden name of X?" """
    match = re.match(r"^what (?:is|was|were|are) (.+)$", text, re.IGNORECASE)
    return _part_of_name(match[1], 0) if match else None


def _plan_possessive_question(text: str, depth: int) -> Node | None:
    """Plan a question that asks for a possessive as a whole: "Who is the third mayor of X's mother?"."""
    tokens = tokenize(text)
    phrase = description_at(tokens, 0, len(tokens)) if tokens else None
    return _plan_possessive(text, tokens, phrase, depth) if phrase and phrase.end == len(tokens) else None


_WHO_IS = lazy_pattern(r"^Who (?:is|was|are|were) (.+?)\??$", re.IGNORECASE)


# Asking for the name of a value that was just found adds nothing.
_NAME_OF = lazy_pattern(
    r"^(?:what|who) (?:is|was|are|were) (?:the (?:full )?names? of \{0\}|\{0\}['’]s name)\??$", re.IGNORECASE
)


def _renamed(node: Node, source: str) -> Node:
    return Lookup(source, node.template, node.slots) if isinstance(node, Lookup) else node


def expand(question: str, source: str, depth: int) -> Node:
    """Plan a question as a look-up whose slots are its descriptions, without the one that it asks for."""
    if (asked := _WHO_IS.match(question)) and depth < DEEPEST:
        node = _plan_in_law(asked[1], depth) or _plan_possessive_question(asked[1], depth)
        if isinstance(node, Lookup):
            return Lookup(source, node.template, node.slots)
    tokens = tokenize(question.rstrip("?"))
    if depth >= DEEPEST or not tokens:
        return Lookup(source, escape_braces(question))
    spans: list[Phrase] = []
    for start, stop in regions(tokens):
        spans += find_descriptions(tokens, start, stop)
    template: list[str] = []
    slots: list[Node] = []
    last = 0
    for phrase in spans:
        node = _described(question, tokens, phrase, depth)
        end = tokens[phrase.end - 1].end
        template.append(escape_braces(question[last : tokens[phrase.start].start]))
        # The possessor of what is asked ("Who is the president's mother?") keeps its 's outside the slot.
        suffix = "'s" if tokens[phrase.end - 1].possessive else ""
        if isinstance(node, Literal):
            template.append(f"{escape_braces(node.source)}{suffix}")
        else:
            template.append(f"{{{len(slots)}}}{suffix}")
            slots.append(node)
        last = end
    template.append(escape_braces(re.sub(r"^[!.;](?= )", "", question[last:]) if spans else question))
    text = "".join(template).strip()
    if len(slots) == 1 and _NAME_OF.match(text):
        return _renamed(slots[0], source)
    return Lookup(source, text[:1].upper() + text[1:], tuple(slots))
