"""Normalizes the wording of a question before it is parsed."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import BASE_VERBS, DETERMINERS, PARTICIPLES
from iterative_rag.builtin.language.nouns import names_person
from iterative_rag.builtin.language.tokens import is_participle, is_verb, tokenize
from iterative_rag.text.patterns import lazy_pattern

# Characters of a question that are read; the rest is ignored.
LONGEST = 2000
# Nominal forms of a question word and a verb.
_NOMINAL = tuple(
    (lazy_pattern(rf"^(?:what|where|when) (?:is|was) {pattern}\??$", re.IGNORECASE), plain)
    for pattern, plain in (
        (r"(?:the )?(?:place of birth|birthplace) of (.+?)", "Where was {} born?"),
        (r"(?:the )?place of death of (.+?)", "Where did {} die?"),
        (r"(?:the )?(?:date of birth|birthday) of (.+?)", "When was {} born?"),
        (r"(?:the )?date of death of (.+?)", "When did {} die?"),
        (r"(.+?)['’]s (?:birthday|date of birth)", "When was {} born?"),
        (r"(.+?)['’]s (?:birthplace|place of birth)", "Where was {} born?"),
    )
)


def reword_nominal(question: str) -> str:
    """Rewrite a nominal question: "What is the place of birth of X?" -> "Where was X born?"."""
    for pattern, plain in _NOMINAL:
        if match := pattern.match(question):
            return plain.format(match[1])
    return question


# "director of film X": the article is missing.
_BARE_ROLE = lazy_pattern(
    r"(?<![Tt]he )(?<!\w)(director|composer|performer|author|singer|producer|writer) of\b"
    r"(?: (?:film|song|book)(?= [A-Z]))?"
)
# "his former student Ann Lee" -> "Ann Lee"
_NAMED_KIN = lazy_pattern(r"\b(?:his|her|its|their) (?:[a-z]+ ){0,2}([a-z]+) (?=[A-Z])")
# "Ann Lee's brother Bo" -> "Bo"; only for persons.
_NAMED_OWN = lazy_pattern(
    r"(?:[A-Z][\w.-]* )*[A-Z][\w.-]*['’]s (?:[a-z]+['’]s )*(?:[a-z]+ ){0,2}"
    r"(?P<noun>[a-z]+) (?=[A-Z“\"](?!\w*['’]s? [a-z]+ [A-Z]))"
)
_AS_OF = lazy_pattern(r"^as of (?:[A-Z]\w+ )?(?:\d{1,2}, )?\d{4}, ", re.I)
# "In 1954, who won ...", "At the 1912 games, who ..."
_FRONTED = lazy_pattern(
    r"^(?P<when>(?:in|at|on|during|for) (?!(?:which|what|whom|whose|the (?:same )?year)\b)[^,?]{3,120}), "
    r"(?P<main>(?:who|what|which|where|how many|how much)\b.{4,250})$",
    re.I,
)


# "What country is the city of Orm in?"
_STRANDED = lazy_pattern(
    r"^(?:what|which) (?P<noun>[a-z]+(?: [a-z]+)?) (?P<be>is|was|are|were) (?P<what>(?:the |[A-Z]).{2,200}) in$", re.I
)
# "the composer of the score of the film Dawn" -> "the composer of Dawn"
_SCORE = lazy_pattern(r"\b(composer) of (?:the )?(?:film )?(?:score|music|soundtrack) (?:for|of|to) ", re.I)
# "How often has Orm won the cup?" is answered by a number, "How often does the ferry run?" is not.
_HOW_OFTEN = lazy_pattern(r"^how often(?= (?:has|have|had|did|was|were)\b)", re.I)


def _reword(text: str) -> str:
    """Rewrite stranded prepositions and roundabout forms."""
    if match := _STRANDED.match(text):
        text = f"In which {match['noun']} {match['be']} {match['what']}"
    text = _HOW_OFTEN.sub("How many times", text)
    return _SCORE.sub(r"\1 of ", text)


def _reorder_adverbials(text: str) -> str:
    """Drop contractions and "as of ..."; move a fronted adverbial to the end."""
    text = re.sub(r" (?=['’]s\b)", "", text)
    text = re.sub(r"\b(what|who|where|when|how)['’]s\b", r"\1 is", text, flags=re.I)
    text = _AS_OF.sub("", text)
    match = _FRONTED.match(text)
    settled_in = match and re.match(r"\w+ the [a-z]", match["when"])
    if match and (settled_in or not any(is_verb(token) for token in tokenize(match["when"]))):
        text = f"{match['main']} {match['when'][0].lower()}{match['when'][1:]}"
    return text[:1].upper() + text[1:]


def _drop_person(match: re.Match[str]) -> str:
    return "" if names_person(match["noun"]) else match[0]


_EXTRAPOSED = lazy_pattern(
    r"^(?P<lead>.{0,60}?\b(?:did|does|do|was|were|is|are) )(?P<noun>the [\w-]+(?: [\w-]+){0,3}?) (?P<verb>[a-z]+) "
    r"(?P<clause>(?:(?:with|for|in|on|at|from|by|to|after) )?(?:that|who|whom|which|whose)\b.{3,300})$",
    re.IGNORECASE,
)
_ASIDE = lazy_pattern(r",\s+(?:also|who is also|which is also|himself|herself|itself)\s[^,]{3,100},", re.IGNORECASE)


def reorder_clauses(text: str) -> str:
    """Drop asides and move an extraposed clause to its noun: "the river rise that ..." -> "the river that ... rise"."""
    ending = "?" if text.endswith("?") else ""
    text = _ASIDE.sub("", text.rstrip("?"))
    match = _EXTRAPOSED.match(text)
    if match and (match["verb"] in BASE_VERBS | PARTICIPLES or is_participle(tokenize(match["verb"])[0])):
        text = f"{match['lead']}{match['noun']} {match['clause']} {match['verb']}"
    return text + ending


def merge_sentences(question: str) -> str:
    """Put each clause of a question right after its noun."""
    text = " ".join(_WHOS.sub(_correct_whose, question).split()).rstrip(" ?.")
    return f"{reorder_clauses(text)}?" if text else question


# "the singer who's third album ...": misspelt "whose"
_WHOS = lazy_pattern(r"(?<=\w )who['’]s (?P<next>[\w-]+)(?= (?:[\w-]+ ){0,3}(?:is|was|are|were|has|had)\b)")


def _correct_whose(match: re.Match[str]) -> str:
    word = tokenize(match["next"])[0]
    plain = is_verb(word) or word.low in DETERMINERS or word.low.endswith(("ing", "ly", "ed"))
    return match[0] if plain else f"whose {match['next']}"


def normalize(question: str) -> str:
    """Normalize a question: at most LONGEST characters, single spaces, no question mark."""
    text = " ".join(question[:LONGEST].split()).rstrip(" ?.!")
    text = _reword(_reorder_adverbials(_WHOS.sub(_correct_whose, text)))
    text = _NAMED_OWN.sub(_drop_person, text)
    text = _BARE_ROLE.sub(r"the \1 of", text)
    text = _NAMED_KIN.sub(lambda match: "" if names_person(match[1]) else match[0], text)
    return reword_nominal(text).rstrip("?")
