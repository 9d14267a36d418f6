"""Decides whether a noun phrase is a description, which must be looked up, or stands for itself."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import DETERMINERS, PREPOSITIONS, RELATIVES, ordinal
from iterative_rag.builtin.language.lexicon import SUPERLATIVES
from iterative_rag.builtin.language.nouns import FUNCTIONAL, KINSHIP, NAME_PARTS, PLACES, names_person
from iterative_rag.builtin.language.tokens import BEFORE, Token, head_noun, is_participle


def is_description(tokens: list[Token], start: int, group: int, end: int) -> bool:
    nouns = [token for token in tokens[start:group] if token.low not in DETERMINERS]
    if not nouns:
        return False
    if any(token.possessive for token in nouns[:-1]):
        return not nouns[-1].capital and _depends(head_noun(nouns))
    head = head_noun(nouns)
    modified = end > group
    if not modified and len(nouns) == 2 and nouns[0].low in {"most", "fewest", "least"}:
        return False  # "killed the most people": a count, not persons
    if all(token.capital for token in nouns):
        return len(nouns) == 1 and modified and tokens[group].low == "who"
    opener = tokens[group].low if modified else ""
    if nouns[-1].capital and nouns[-1].text[0].isupper():
        return False
    if nouns[0].capital and nouns[0].text[0].isupper() and not _depends(head):
        return False  # "the World Cup final played in ...": a name that ends in a common noun
    if (
        opener in RELATIVES
        or (modified and tokens[group].capital)
        or (modified and (is_participle(tokens[group]) or opener in BEFORE))
        or opener == ","
    ):
        return True
    if modified and opener in PREPOSITIONS and tokens[group + 1].low in RELATIVES:
        return True
    ranked = any(ordinal(token.low) is not None or token.low in SUPERLATIVES for token in nouns[:-1])
    superlative = any(token.low in SUPERLATIVES and ordinal(token.low) is None for token in nouns[:-1])
    if ranked:
        return (modified and superlative) or names_person(head) or head in PLACES
    if " ".join(token.low for token in nouns[-2:]) in NAME_PARTS:
        return modified
    if modified and opener == "of":
        return _depends(head)
    if modified and any(re.fullmatch(r"\d{4}", token.text) for token in nouns[:-1]):
        return True
    return (
        modified and opener in PREPOSITIONS and tokens[start].low == "the" and not nouns[0].capital and _depends(head)
    )


def _depends(head: str) -> bool:
    """Whether a noun identifies its referent by a relation to something else: mother, architect, capital, river."""
    single = head.removesuffix("s")
    return (
        head in KINSHIP
        or names_person(head)
        or head in FUNCTIONAL
        or single in FUNCTIONAL
        or head in PLACES
        or single in PLACES
        or head
        in {"film", "book", "novel", "song", "album", "opera", "musical", "building", "museum", "bridge", "tower"}
    )
