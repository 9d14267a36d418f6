"""Plans by hand-written rules what the splitter does not: comparisons, computations, names put together, and steps of
kinship. What is looked up for each is planned by the splitter."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import DETERMINERS
from iterative_rag.builtin.language.nouns import NAME_PARTS, names_person
from iterative_rag.builtin.language.tokens import group_end, head_noun, tokenize
from iterative_rag.builtin.question.comparisons import choice, exceeds
from iterative_rag.builtin.question.differences import age, duration, how_much_more, years_after, years_between
from iterative_rag.builtin.question.pairs import both, same
from iterative_rag.builtin.question.plan import (
    Computed,
    Expand,
    Literal,
    Lookup,
    NamePart,
    Node,
    Operation,
    Part,
    escape_braces,
)
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import is_named, phrase_question
from iterative_rag.text.patterns import lazy_pattern

# Characters of a question that are read; the rest is ignored.
LONGEST = 2000
# No real description nests deeper than this; the bound keeps hostile text cheap.
DEEPEST = 8
_NAME_PART = "|".join(sorted(NAME_PARTS, key=len, reverse=True))
_COMPUTATIONS = (years_after, age, how_much_more, years_between, choice, exceeds, same, both, duration)


def as_one(question: str, source: str) -> Node:
    """The question as one look-up, whatever it describes."""
    return Lookup(source, escape_braces(question))


def parse(question: str, expand: Expand = as_one, without: Collection[str] = ()) -> Node | None:
    """Plan a question; None where no rule matches. `expand` plans the look-ups.

    `without`: rules that are left out, by their file or by the names below; only for measuring what each adds.
    """
    text = " ".join(question[:LONGEST].split()).rstrip(" ?.!")
    phrases = _Phrases(expand)
    rules: list[tuple[str, Callable[[str], Node | None]]] = [("names", phrases.joined_name), ("names", phrases.name)]
    for rule in _COMPUTATIONS if "computations" not in without else ():
        file = rule.__module__.rpartition(".")[2]
        rules.append((file, lambda text, rule=rule: rule(text, expand, phrases.node)))  # type: ignore[misc]
    rules += [("kinship", phrases.kinship)]
    planned = (rule(text) for name, rule in rules if name not in without)
    return next((node for node in planned if node is not None), None)


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
_OWNED = lazy_pattern(r"^(?P<owner>.+)(?:['’]s|(?<=s)['’]) (?P<noun>[a-z][a-z -]*)$")
_RELATIVE = r"(?:father|mother|brother|sister)-in-law|[mp]aternal grand(?:father|mother)"
_IN_LAW = lazy_pattern(
    rf"^(?:who (?:is|was) )?"
    rf"(?:(?:the )?(?P<law>{_RELATIVE}) of (?P<whom>.+)|(?P<owner>.+?)['’]s? (?P<his>{_RELATIVE}))$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Plans noun phrases, and questions that consist of them."""

    expand: Expand

    def node(self, text: str, depth: int = 0) -> Node:
        """The node of a noun phrase: a literal, or the look-up that resolves its description."""
        text = text.strip(" ,?")
        if depth >= DEEPEST or not _is_description(text):
            return Literal(text)
        if part := _part_of_name(text):
            return NamePart(text, Part(NAME_PARTS[part[0].lower()]), self.node(part[1], depth + 1))
        if owned := _OWNED.match(text):
            owner = self.node(owned["owner"], depth + 1)
            asks = "Who is" if names_person(owned["noun"].split()[-1]) else "What is"
            if isinstance(owner, Literal):
                return Lookup(text, escape_braces(f"{asks} {owner.source}'s {owned['noun']}?"))
            return Lookup(text, f"{asks} {{0}}'s {owned['noun']}?", (owner,))
        return self.expand(phrase_question(text, Asks.WHO if _names_person(text) else Asks.WHAT), text)

    def kinship(self, text: str) -> Node | None:
        """Plan kinship in two steps: "the father-in-law of X" is the father of X's spouse."""
        match = _IN_LAW.match(text)
        if match is None:
            return None
        law, whom = match["law"] or match["his"], match["whom"] or match["owner"]
        side, _, relative = law.lower().partition(" grand")
        between = {"maternal": "mother", "paternal": "father"}.get(side, "spouse")
        person = self.node(whom)
        slots = () if isinstance(person, Literal) else (person,)
        middle = Lookup(whom, f"Who is {'{0}' if slots else escape_braces(whom)}'s {between}?", slots)
        return Lookup(text, f"Who is {{0}}'s {relative or side.removesuffix('-in-law')}?", (middle,))

    def name(self, text: str) -> Node | None:
        """Plan "What is the maiden name of the mother of X?"; a part of a name that stands there is looked up."""
        what, be, phrase = (*text.split(" ", 2), "", "", "")[:3]
        asked = what.lower() == "what" and be in {"is", "was", "are", "were"} and _MARK.search(phrase)
        node = self.node(phrase) if asked else None
        return node if isinstance(node, NamePart) and not isinstance(node.person, Literal) else None

    def joined_name(self, text: str) -> Node | None:
        """Plan "If ... has the same first name as A and her surname is that of B, what is her name?" """
        asked = _ASKS_NAME.search(text)
        body = text[: asked.start()] if asked else ""
        for conjunction in (token for token in tokenize(body) if token.low in {"and", ";"}):
            halves = body[: conjunction.start], body[conjunction.end :]
            marked = [(mark, half) for half in halves if (mark := _MARK.search(half))]
            if len(marked) == 2:
                operands = [self._part(NAME_PARTS[mark[1].lower()], half[mark.end() :]) for mark, half in marked]
                operands.sort(key=lambda node: node.part is not Part.FIRST)
                if operands[0].part is Part.FIRST is not operands[1].part:
                    return Computed(text, Operation.JOIN, tuple(operands))
        return None

    def _part(self, part: str, rest: str) -> NamePart:
        """The name part of the person that `rest` describes."""
        phrase = _LINK.sub("", rest, count=1).strip(" ,")
        node = self.node(phrase)
        if isinstance(node, Literal) and phrase.partition(" ")[0].lower() in DETERMINERS:
            node = self.expand(phrase_question(phrase, Asks.WHO), phrase)  # "the Mayor of Prague" is no name
        return node if isinstance(node, NamePart) else NamePart(phrase, Part(part), node)


def _part_of_name(phrase: str) -> tuple[str, str] | None:
    """The part and the person of "the maiden name of X" and "X's maiden name"."""
    part, _, whom = phrase.removeprefix("the ").partition(" of ")
    if part.lower() not in NAME_PARTS and (owned := _OWNED.match(phrase)):
        part, whom = owned["noun"], owned["owner"]
    return (part, whom) if part.lower() in NAME_PARTS and whom else None


def _names_person(phrase: str) -> bool:
    tokens = tokenize(phrase)
    begin = int(tokens[0].low in DETERMINERS)
    return names_person(head_noun(tokens[begin : group_end(tokens, begin, len(tokens))] or tokens))


def _is_description(phrase: str) -> bool:
    """Whether a noun phrase describes something that must be looked up: "the mayor of X", "X's father"."""
    tokens = tokenize(phrase)
    if not tokens or is_named(phrase):
        return False
    if _part_of_name(phrase):
        return True
    begin = int(tokens[0].low in DETERMINERS)
    group = tokens[begin : group_end(tokens, begin, len(tokens))]
    if any(token.possessive for token in tokens[:-1]):
        return not tokens[-1].capital
    return bool(begin and group) and not group[-1].capital and (begin + len(group) < len(tokens) or len(group) > 1)
