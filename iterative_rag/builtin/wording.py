"""Rewrites a question into a plainer one before its grammar is looked at."""

from __future__ import annotations

import re

from iterative_rag.builtin.nouns import names_person
from iterative_rag.builtin.phrases import description_at, tokenize
from iterative_rag.builtin.words import BASE_VERBS, PARTICIPLES

# Where a question ends that is too long to be one.
LONGEST = 2000
# Nouns that stand for a question word and a verb.
_NOMINAL = tuple(
    (re.compile(rf"^(?:what|where|when) (?:is|was) {pattern}\??$", re.IGNORECASE), plain)
    for pattern, plain in (
        (r"(?:the )?(?:place of birth|birthplace) of (.+?)", "Where was {} born?"),
        (r"(?:the )?place of death of (.+?)", "Where did {} die?"),
        (r"(?:the )?(?:date of birth|birthday) of (.+?)", "When was {} born?"),
        (r"(?:the )?date of death of (.+?)", "When did {} die?"),
        (r"(.+?)['’]s (?:birthday|date of birth)", "When was {} born?"),
        (r"(.+?)['’]s (?:birthplace|place of birth)", "Where was {} born?"),
    )
)


def plainly(question: str) -> str:
    """ "What is the place of birth of X?" as "Where was X born?"."""
    for pattern, plain in _NOMINAL:
        if match := pattern.match(question):
            return plain.format(match[1])
    return question


# "director of film X" without its article
_BARE_ROLE = re.compile(
    r"(?<!the )(?<!\w)(director|composer|performer|author|singer|producer|writer) of\b"
    r"(?: (?:film|song|book)(?= [A-Z]))?"
)
# "his former student Ann Lee" is Ann Lee.
_NAMED_KIN = re.compile(r"\b(?:his|her|its|their) (?:[a-z]+ ){0,2}([a-z]+) (?=[A-Z])")
_PRONOUN = re.compile(r"\b(he|she|it|they|his|her|its|their)\b", re.IGNORECASE)


def _one_sentence(text: str) -> str:
    """ "The boy who ... became a champion. Where was he born" -> "Where was the boy who ... born"."""
    first, stop, question = text.rpartition(". ")
    if not stop or _PRONOUN.search(question) is None:
        return text
    tokens = tokenize(first)
    phrase = description_at(tokens, 0, len(tokens)) if tokens else None
    if phrase is None:
        return text
    subject = first[: tokens[phrase.end - 1].end]
    subject = subject[0].lower() + subject[1:] if subject.startswith("The ") else subject
    return _PRONOUN.sub(lambda match: subject if match[1].lower() in {"he", "she", "it", "they"} else "the", question)


_EXTRAPOSED = re.compile(
    r"^(?P<lead>.{0,60}?\b(?:did|does|do|was|were|is|are) )(?P<noun>the [\w-]+(?: [\w-]+){0,3}?) (?P<verb>[a-z]+) "
    r"(?P<clause>(?:(?:with|for|in|on|at|from|by|to|after) )?(?:that|who|whom|which|whose)\b.{3,300})$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r",\s+(?:also|who is also|which is also|himself|herself|itself)\s[^,]{3,100},", re.IGNORECASE)


def in_order(text: str) -> str:
    """Asides dropped, and "the river rise that ..." put in order: "the river that ... rise"."""
    ending = "?" if text.endswith("?") else ""
    text = _ASIDE.sub("", text.rstrip("?"))
    match = _EXTRAPOSED.match(text)
    if match and (match["verb"] in BASE_VERBS or match["verb"] in PARTICIPLES):
        text = f"{match['lead']}{match['noun']} {match['clause']} {match['verb']}"
    return text + ending


def settled(question: str) -> str:
    """One plain question without its mark: at most LONGEST characters, single spaces, pronouns replaced."""
    text = " ".join(question[:LONGEST].split()).rstrip(" ?.!")
    text = _BARE_ROLE.sub(r"the \1 of", text)
    text = _NAMED_KIN.sub(lambda match: "" if names_person(match[1]) else match[0], text)
    return plainly(_one_sentence(text)).rstrip("?")
