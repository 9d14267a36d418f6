"""Turns a description into the question that resolves it: "the city where X died" -> "X died in which city?"."""

from __future__ import annotations

import re
from collections.abc import Callable

from iterative_rag.builtin.language.function_words import (
    BASE_VERBS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    word_set,
)
from iterative_rag.builtin.language.nouns import names_person, possessive
from iterative_rag.builtin.language.tokens import Token, head_noun, is_participle, tokenize
from iterative_rag.builtin.language.verbs import acts
from iterative_rag.builtin.question.descriptions import Phrase, group_end
from iterative_rag.builtin.question.plan import Lookup, Node
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import phrase_question
from iterative_rag.text.patterns import lazy_pattern


def as_question(text: str, tokens: list[Token], phrase: Phrase) -> str:
    """The question that resolves a description: "the city in which she died" -> "She died in which city?"."""
    group = re.sub(r"^The ", "the ", text[tokens[phrase.start].start : tokens[phrase.group - 1].end])
    nouns = tokens[phrase.start : phrase.group]
    bare = re.sub(r"^(?:the|a|an)\s+", "", group, flags=re.IGNORECASE)
    rest = text[tokens[phrase.group - 1].end : tokens[phrase.end - 1].end].strip(" ,")
    verb = "Who is" if names_person(head_noun(nouns)) else "What is"
    if not rest:
        return f"{verb} {group}?"
    opening = tokenize(rest)
    first = opening[0].low
    words = bare.split(" ")
    if len(words) > 1 and words[-1].islower() and words[-1].endswith("ly") and is_participle(opening[0]):
        return f"Which {' '.join(words[:-1])} was {words[-1]} {rest}?"  # "the album partly made by X"
    if first in {"who", "which", "that"} and len(opening) > 1 and _subject_clause(opening):
        return f"Which {bare} {rest[opening[1].start :]}?"
    if first in {"who", "whom", "which", "that"}:
        return f"{rest[opening[1].start :] if len(opening) > 1 else ''} which {bare}?".strip()
    if first == "whose" and (made := _made(bare, opening, rest)):
        return made
    if first == "whose":
        return f"Which {possessive(bare)} {rest[opening[0].end :].strip()}?"
    if first in {"where", "when"}:
        if opening[-1].low == "in" and len(opening) > 2:
            rest = rest[: opening[-1].start].rstrip()  # "the city where she lived in"
        return f"{rest[opening[0].end :].strip()} in which {bare}?"
    if first in PREPOSITIONS and len(opening) > 3 and opening[1].low in RELATIVES:
        if opening[-1].low == first:
            rest = rest[: opening[-1].start].rstrip()  # "the city in which she was born in"
        if opening[1].low == "whose":
            return f"{opening[0].text.capitalize()} which {possessive(bare)} {rest[opening[1].end :].strip()}?"
        return f"{rest[opening[1].end :].strip()} {first} which {bare}?"
    if first in PREPOSITIONS:
        return f"{verb} {group} {rest}?"
    if opening[0].text[0].isupper():
        return f"{rest} which {bare}?"
    if first.endswith("ing"):
        return f"{verb} {group} {rest}?"
    be = "are" if bare.endswith("s") and not bare.endswith("ss") else "was"
    return f"Which {bare} {be} {rest}?"


_WORKS = word_set("opera film movie novel book album song play musical symphony poem ballet operetta painting")


def _made(maker: str, opening: list[Token], rest: str) -> str:
    """ "the composer whose last opera was finished by X" -> "Who is the composer of the last opera finished by X?"."""
    end = group_end(opening, 1, len(opening))
    if end >= len(opening) or opening[end - 1].low not in _WORKS or not names_person(maker.split(" ")[-1]):
        return ""
    if opening[end].low not in {"was", "is", "were"}:
        return ""
    work = rest[opening[1].start : opening[end - 1].end]
    return f"Who is the {maker} of the {work} that {rest[opening[end].start :]}?"


def _subject_clause(opening: list[Token]) -> bool:
    """Whether the relative pronoun is the subject of its clause: a verb follows."""
    second = opening[1]
    if second.low in {"also", "once", "first", "later", "only", "then", "never", "had", "still"} and len(opening) > 2:
        return True
    if acts(second) or second.low in BASE_VERBS:
        return True
    if second.small.endswith("ly") and len(opening) > 2 and acts(opening[2]):
        return True
    # "that divides", "who coined": had the pronoun been the object, an article or a name would follow it.
    small = second.small
    return small.endswith(("s", "ed")) and small not in DETERMINERS | PRONOUNS | PREPOSITIONS and len(small) > 3


_ASKS_LAST = lazy_pattern(
    r"^(?P<head>(?!(?:who|whom|whose|what|which|where|when|how|in|on|at|if|besides|between|"
    r"for)\b).{3,250}) (?:an?|the) "
    r"(?P<noun>(?:[\w-]+ ){0,4}?[a-z]+) (?P<link>that|who|which) "
    r"(?P<rest>(?:is|was|are|were|has|had|[a-z]+ed|[a-z]+s|[a-z]+) (?:.{0,200} )?"
    r"(?:who|whom|when|where|what|which|what [a-z ]+|which [a-z ]+))$",
    re.IGNORECASE,
)
_ASKS_LAST_REDUCED = lazy_pattern(
    r"^(?P<head>(?!(?:who|whom|whose|what|which|where|when|how|in|on|at|if|besides|between|"
    r"for)\b).{3,250}) (?:an?|the) "
    r"(?P<noun>(?:[\w-]+ ){0,4}?[a-z]+) (?P<rest>(?P<verb>[a-z]+) (?:[a-z]+ ){1,3}"
    r"(?:who|whom|when|where|what|which|what [a-z ]+|which [A-Za-z ]+))$",
    re.IGNORECASE,
)


# "The bridge Ada Orr built crosses which river": a clause without a pronoun.
_ASKS_LAST_CONTACT = lazy_pattern(
    r"^(?:The|the) (?P<noun>[a-z]+(?: [a-z]+)?) (?=[A-Z\"“])(?P<clause>.{4,120}?) "
    r"(?P<rest>(?:is|was|were|are|has|had|[a-z]+ed|[a-z]+s) (?:[a-z]+ )?(?:(?:in|on|at|into|by|to|from|for|of) )?"
    r"(?:what|which|who|whom|where|when)\b[^,]*)$"
)


def plan_trailing(text: str, expand: Callable[[str, str], Node]) -> Node | None:
    """Plan a statement that asks at its end, "X is on a network founded by who": the network, then its founder."""
    contact = _ASKS_LAST_CONTACT.match(text)
    if contact and any(acts(token) for token in tokenize(contact["clause"])):
        description = f"the {contact['noun']} {contact['clause']}"
        slot = expand(phrase_question(description, Asks.WHAT), description)
        return Lookup(text, f"{{0}} {contact['rest']}?", (slot,)) if "{" not in text else None
    if match := _ASKS_LAST.match(text):
        predicate = match["rest"]
    elif (match := _ASKS_LAST_REDUCED.match(text)) and is_participle(tokenize(match["verb"])[0]):
        predicate = f"was {match['rest']}"
    else:
        return None
    noun = re.sub(r"^(?:type|kind) of ", "", match["noun"])
    slot = expand(f"{match['head']} which {noun}?", text[len(match["head"]) + 1 : match.start("rest")].strip())
    return Lookup(text, f"{{0}} {predicate}?", (slot,)) if "{" not in predicate else None
