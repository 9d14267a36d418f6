"""Restates a request as a plain question: "Could you tell me where X was born" -> "Where was X born"."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import DETERMINERS
from iterative_rag.builtin.language.nouns import names_person
from iterative_rag.builtin.language.tokens import acts, group_end, head_noun, tokenize
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import capitalize, invert, phrase_question
from iterative_rag.text.patterns import lazy_pattern

_GREETING = lazy_pattern(r"^(?:(?:hi|hello|hey|please|ok|okay|so|well)\b(?: there)?[,!. ]+)+(?=\w)", re.I)
_PLEASE = lazy_pattern(r"[, ]+(?:please|thanks|thank you)(?=[.!? ]*$)|(?<= )(?-i:please),? ", re.I)
# What stands before a question or before the verb of a request.
_OPENING = lazy_pattern(
    r"^(?:(?:can|could|would|will) you (?:kindly |also )?(?=(?:tell|give|show|say|name|list|find|explain|describe)\b)"
    r"|(?:do|would|might) you (?:happen to )?know |(?:may|might|can|could) i (?:ask|know) |let (?:me|us) know "
    r"|any idea |i(?: would|['’]d) (?:like|love) to know[,]? |i (?:want|need|wish) to know "
    r"|i(?:['’]m| am| was) (?:just )?(?:wondering|curious)[,:]? (?:about )?"
    r"|i(?:['’]m| am| was) (?:looking for|trying to find(?: out)?) )",
    re.I,
)
# The verb of a request, as far as what follows shows that it is one: "State Street" and "Say Anything" are names.
_REQUEST = lazy_pattern(
    r"^(?:(?:tell|give|show|name|list|find) (?:me|us)|(?:say|name|list|enumerate|identify|give|show|find|find out|"
    r"state|specify|mention|provide|determine|explain)"
    r"(?= (?:the|all|an?|both|any|every|who|whom|what|which|where|when|how|why|(?-i:[A-Z])[^?]*?['’]s)\b))[:,]? (?=\S)",
    re.I,
)
_ABOUT = lazy_pattern(
    r"^(?:tell (?:me|us) (?:something |more )?about|describe) (?P<what>(?!who|what|wh).{2,300})$", re.I
)
_ASKS = lazy_pattern(
    r"^(?:(?:about|in|at|on|from|to|for|by|with|of) )?(?:(?P<of>what|which|whose|how (?:many|much))"
    r"|who|whom|where|when|why|how(?: (?:tall|long|high|old|deep|wide|far|big|large|fast|heavy|often|late|early))?)\b",
    re.I,
)
_INVERTED = lazy_pattern(r"^(?:is|was|are|were|did|does|do|has|have|can)\b", re.I)
# "whos the director", "what's"; not "Who's Who"
_SHORT = lazy_pattern(r"^((?i:who|what|where|when|how))['’]?s (?=[a-z])")


def restated(question: str) -> str:
    """The question of a request, without its mark; any other question only loses greetings, "please" and contractions
    ("whos")."""
    text = " ".join(question.split())
    text = _SHORT.sub(r"\1 is ", _PLEASE.sub("", _GREETING.sub("", text)))
    asked = _OPENING.sub("", text)
    if about := _ABOUT.match(asked):
        return f"What is known about {about['what'].rstrip(' ?.!')}"
    while match := _REQUEST.match(asked):
        asked = asked[match.end() :]
    return capitalize(text if asked == text else _plain(asked.rstrip(" ?.!")))


def _plain(asked: str) -> str:
    """A question of its own for an embedded question ("where X was born") or a noun phrase ("the mayor of X")."""
    if match := _ASKS.match(asked):
        return _inverted(asked, match.end(), counts=bool(match["of"]))
    if _INVERTED.match(asked):
        return asked
    tokens = tokenize(asked)
    begin = int(tokens[0].low in DETERMINERS)
    noun = head_noun(tokens[begin : max(group_end(tokens, begin, len(tokens)), begin + 1)])
    return phrase_question(asked, Asks.WHO if names_person(noun) else Asks.WHAT).rstrip("?")


def _inverted(asked: str, end: int, *, counts: bool) -> str:
    """ "when the tower opened" -> "When did the tower open"; a question in the right order stays as it is."""
    tokens = [token for token in tokenize(asked) if token.start >= end]
    while counts and tokens and tokens[0].word and not _opens_clause(tokens[0].small, acts(tokens[0])):
        end = tokens.pop(0).end
    if not tokens or acts(tokens[0]) or tokens[0].low == "to":
        return asked
    question = invert(asked[:end], asked[tokens[0].start :])
    return question.rstrip("?") if question.startswith(capitalize(asked[:end])) else asked


def _opens_clause(small: str, verb: bool) -> bool:
    return not small or small in DETERMINERS or verb
