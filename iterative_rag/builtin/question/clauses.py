"""Plans a statement that asks at its end: "X is on a network founded by who": the network, then its founder."""

from __future__ import annotations

import re
from collections.abc import Callable

from iterative_rag.builtin.language.tokens import is_participle, tokenize
from iterative_rag.builtin.language.verbs import acts
from iterative_rag.builtin.question.plan import Lookup, Node
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import phrase_question
from iterative_rag.text.patterns import lazy_pattern

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
