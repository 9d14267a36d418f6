"""Finds the regions of a question in which a description may have to be looked up first."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    PREPOSITIONS,
    QUESTION_WORDS,
    RELATIVES,
    word_set,
)
from iterative_rag.builtin.language.tokens import Token, is_participle, is_verb
from iterative_rag.builtin.question.descriptions import group_end

_BE = word_set("is was are were")
# Base forms that count as verbs only after "did": elsewhere they are rare or nouns.
_MORE_VERBS = word_set(
    "leave invade gain conquer acquire establish abolish adopt enter surrender declare change settle colonize occupy "
    "annex secede introduce ratify sign visit appoint elect arrive depart return escape flee emigrate train"
)


def regions(tokens: list[Token]) -> list[tuple[int, int]]:
    """Token ranges [start, end) that may hold descriptions, without the noun phrase that the question asks for."""
    low = [token.low for token in tokens]
    if low[0] in {"who", "what"} and len(low) > 2 and low[1] in _BE | {"are", "were"}:
        return _copular(tokens)
    late = next((at for at in range(3, len(low)) if low[at] in {"which", "what", "how"}), 0)
    if late and low[0] not in QUESTION_WORDS and low[1] not in {"which", "what"}:
        at = late - (low[late - 1] in PREPOSITIONS)
        copula = next((index for index in range(1, at - 1) if low[index] in _BE and low[index + 1] in DETERMINERS), at)
        # "X was the second wife of what singer": the noun phrase after the copula is asked for, not looked up.
        inside = any(low[index] in RELATIVES for index in range(copula))
        return [(0, at if inside else copula)]
    tail = _tail(tokens)
    begin = _asked_noun_end(tokens)
    return [(begin, tail)] + ([(tail, len(tokens))] if tail < len(tokens) else [])


def _asked_noun_end(tokens: list[Token]) -> int:
    """The end of "which building", "in which year", "how many"; of "did" where yes or no is asked."""
    for index, token in enumerate(tokens[:3]):
        if token.low in {"which", "what"}:
            return group_end(tokens, index + 1, len(tokens)) if index + 1 < len(tokens) else index + 1
        if token.low in {"who", "whom", "where", "when", "how"}:
            return index + 1
    return int(tokens[0].low in AUXILIARIES)


def _copular(tokens: list[Token]) -> list[tuple[int, int]]:
    """Regions of "Who was the A of B?": A is asked for, B may be a description."""
    start = 2
    group = group_end(tokens, start + (tokens[start].low in DETERMINERS), len(tokens))
    possessors = [index for index in range(start, group - 1) if tokens[index].possessive]
    regions = []
    if possessors:
        regions.append((start, possessors[-1] + 1))
    tail = _tail(tokens)
    regions.append((max(group, start + 1), max(tail, group)))
    return [(a, b) for a, b in regions if a < b]


def _tail(tokens: list[Token]) -> int:
    """Where the verb phrase at the end of an inverted question begins ("was X born", "did X die in 1900")."""
    low = [token.low for token in tokens]
    auxiliary = next((index for index, word in enumerate(low[:8]) if word in AUXILIARIES), None)
    if auxiliary is None or (low[0] in {"who", "what"} and auxiliary == 1 and low[1] in _BE):
        return len(tokens)
    did = low[auxiliary] in {"did", "does", "do"}
    for index in range(len(tokens) - 1, auxiliary + 1, -1):
        token = tokens[index]
        if (
            did
            and low[index] in BASE_VERBS | _MORE_VERBS
            and not token.capital
            and low[index - 1] not in DETERMINERS | PREPOSITIONS
        ):
            return index
        if not did and is_participle(token) and _ends(tokens, index) and low[index - 1] not in AUXILIARIES:
            return index - (low[index - 1] in {"first", "originally", "finally", "last"})
        if not did and is_participle(token) and _after_clause(tokens, auxiliary, index):
            return index
    return len(tokens)


def _after_clause(tokens: list[Token], auxiliary: int, index: int) -> bool:
    """ "was the country that made X taken by Y": the clause has its own verb, so "taken" belongs to "was"."""
    if index + 1 >= len(tokens) or tokens[index + 1].low != "by" or not tokens[index - 1].capital:
        return False
    pronoun = next((at for at in range(auxiliary + 1, index) if tokens[at].small in RELATIVES), index)
    return any(is_verb(tokens[at]) for at in range(pronoun + 1, index))


def _ends(tokens: list[Token], index: int) -> bool:
    """Whether the participle ends the question, apart from a date: "... built in 1900"."""
    return index == len(tokens) - 1 or (
        index + 2 < len(tokens) <= index + 4 and tokens[index + 1].low in {"in", "on"} and tokens[index + 2].capital
    )
