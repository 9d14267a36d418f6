"""Checks that the look-ups of a plan are well-formed questions; a malformed one means a wrong split."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import BASE_VERBS, PRONOUNS, QUESTION_WORDS, content
from iterative_rag.builtin.language.nouns import FUNCTIONAL, KINSHIP, names_person
from iterative_rag.builtin.language.tokens import Token, tokenize
from iterative_rag.builtin.language.verbs import acts
from iterative_rag.builtin.question.plan import Lookup, Node, slots_of
from iterative_rag.text.patterns import lazy_pattern

_SLOT = lazy_pattern(r"\{\d+\}")
_PEOPLES = ("ian", "ish", "ese", "can", "ch")  # endings of nationality adjectives
_SHAPES = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        # The verb is missing: "When was X?", "Where did X?", "To which group does X?"
        r"^(?:when|how) (?:was|is|were|are) \{\d+\}\W*$",
        r"\b(?:did|does|do) \{\d+\}(?: (?:for|to|in|by|with|from))?\W*$",
        r"\b(?:did|does|do) \{\d+\} (?:is|was|are|were|has|had)\b",
        r"^(?:what|which) \w+ (?:was|were) \{\d+\}\W*$",
        r"^\{\d+\},? (?:(?:in|at|by|for) )?(?:what|which) [\w -]+\W*$",
        r"^(?:which|who|what) of \{\d+\}",
        # A clause is left dangling: "Who is X born who is known ..."
        r"\{\d+\}(?: born)?,? (?:who|whose|whom) (?!else\b)",
        r"\{\d+\},? (?:which|that) (?:the|a|an|he|she|it|they|was|is|were|are|has|had|[a-z]+ed)\b",
        # Two questions in one: "Which man's godfather is whom?"
        r"^(?:in |at |on )?(?:which|what|who)\b.{3,}\b(?:is|was|by|of|as) (?:who|whom|what|when|where)\W*$",
        # Two verbs: "What is X is located?"
        r"^(?:what|who|where) (?:is|was) \{\d+\} (?:is|was|are|were|has|had|did|does)\b",
        r"\bin in\b|\bon in\b|\bof of\b|\bis is\b|\bthe the\b",
    )
)


def count_flaws(node: Node) -> int:
    """Number of malformed look-ups in a plan."""
    own = isinstance(node, Lookup) and not is_well_formed(node)
    return own + sum(count_flaws(slot) for slot in slots_of(node))


def is_well_formed(node: Lookup) -> bool:
    """Whether a look-up is a well-formed question, whatever its slots are filled with."""
    text = node.template
    tokens = tokenize(_SLOT.sub("Qslot", text))
    if any(shape.search(text) for shape in _SHAPES) or _two_sentences(text, node):
        return False
    if not any(token.low in QUESTION_WORDS for token in tokens) and tokens and tokens[0].small:
        return False
    return not _statement_first(tokens) and (bool(node.slots) or _specific(tokens))


def _two_sentences(text: str, node: Lookup) -> bool:
    """Whether a slot may stand in a sentence before the question, so that its value is not what is asked about."""
    return bool(node.slots) and bool(re.search(r"(?<=[\w\"”’'}]{2})[.] (?=[A-Z])", text))


def _statement_first(tokens: list[Token]) -> bool:
    """Whether a base form follows a copula and a slot: "Who is X write the song ..."."""
    if len(tokens) < 4 or tokens[0].low not in {"who", "what"} or tokens[1].low not in {"is", "was"}:
        return False
    return tokens[2].text == "Qslot" and tokens[3].low in BASE_VERBS and tokens[3].small != ""


def _specific(tokens: list[Token]) -> bool:
    """Whether a look-up is specific enough to identify one thing: a name, or three content words."""
    rest = tokens[1:]
    if any(token.low in PRONOUNS and token.low not in {"who", "you"} for token in rest[:3]):
        return False
    names = [token for token in rest if token.capital and token.low not in QUESTION_WORDS]
    plain = len(content(" ".join(token.text for token in rest)))
    if not names:
        return plain >= 3
    if len(tokens) < 4 or tokens[1].low not in {"is", "was"} or tokens[2].low not in {"the", "a", "an", "this"}:
        return True
    # "Who is the Welsh singer?" fits many; "Who is the US president?" and "Who is Ann's father?" fit one.
    last = tokens[-1] if tokens[-1].word else tokens[-2]
    links = {"of", "in", "for", "by", "from", "at", "on", "with", "to"}
    if last.capital or last.low in FUNCTIONAL | KINSHIP or any(acts(one) or one.low in links for one in rest[2:]):
        return True
    return tokens[2].low != "this" and not (names_person(last.low) and rest[2].text.endswith(_PEOPLES))
