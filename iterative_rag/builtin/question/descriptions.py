"""Finds descriptions: noun phrases that refer to something that must be looked up first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    CONJUNCTIONS,
    DETERMINERS,
    IRREGULAR,
    PARTICIPLES,
    PREPOSITIONS,
    QUESTION_WORDS,
    RELATIVES,
    ordinal,
    word_set,
)
from iterative_rag.builtin.language.lexicon import SUPERLATIVES
from iterative_rag.builtin.language.tokens import BEFORE, PRESENT, Token, is_participle, is_verb, tokenize
from iterative_rag.builtin.question.noun_phrases import is_description
from iterative_rag.text.patterns import lazy_pattern

# Token and tokenize are re-exported for modules that only need noun groups.
_EMPTY = word_set("title name rank record status role part place post")
__all__ = ["Phrase", "Token", "description_at", "find_descriptions", "group_end", "modifiers_end", "tokenize"]


def group_end(tokens: list[Token], start: int, stop: int) -> int:
    """End (exclusive) of the bare noun group that begins at `start`."""
    index = start
    while index < stop:
        token = tokens[index]
        small = token.small
        if index > start and tokens[index - 1].capital and (bracket := _title_goes_on(tokens, index, stop)):
            index = bracket
            continue
        if (
            not token.word
            or small in PREPOSITIONS
            or small in RELATIVES
            or small in CONJUNCTIONS
            or small in QUESTION_WORDS
        ):
            break
        if index > start and small in DETERMINERS:
            break
        if index > start and token.low in BEFORE and index + 1 < stop and is_participle(tokens[index + 1]):
            break
        if index > start and (is_verb(token) or token.low in PRESENT) and not _modifies(tokens, index, start, stop):
            break
        index += 1
        if token.possessive and index < stop and not tokens[index].word:
            break
    return index


def _title_goes_on(tokens: list[Token], index: int, stop: int) -> int:
    """Token index where a title resumes after brackets or a colon: "Dawn (1976 film)", "Ann: A Life"; 0 if neither."""
    if tokens[index].text == "(":
        return next((at + 1 for at in range(index, min(stop, index + 16)) if tokens[at].text == ")"), 0)
    if index + 1 >= stop or not tokens[index + 1].text[0].isupper() or tokens[index + 1].low in QUESTION_WORDS:
        return 0
    initial = tokens[index].text == "." and len(tokens[index - 1].text) == 1
    return index + 1 if initial or tokens[index].text in {":", "-", "–", "!", ";"} else 0


def _modifies(tokens: list[Token], index: int, start: int, stop: int) -> bool:
    """Whether a participle modifies the noun after it ("the second assassinated president") and is not a verb."""
    if not is_participle(tokens[index]) or index + 1 >= stop:
        return False
    after = tokens[index + 1]
    before = tokens[start:index]
    plain_before = all(ordinal(t.low) is not None or t.low in SUPERLATIVES or t.low in DETERMINERS for t in before)
    return plain_before and after.word and after.low not in PREPOSITIONS | CONJUNCTIONS | DETERMINERS | RELATIVES


@dataclass(frozen=True, slots=True)
class Phrase:
    """A description: tokens [start, end). [start, group) is its noun group, the rest its modifiers."""

    start: int
    group: int
    end: int


def find_descriptions(tokens: list[Token], start: int, stop: int) -> list[Phrase]:
    """The longest descriptions in tokens [start, stop), left to right, without overlap."""
    phrases = []
    index = start
    while index < stop:
        phrase = description_at(tokens, index, stop)
        if phrase is None:
            index += 1
        else:
            if _empty_object(tokens, phrase):
                index = phrase.start + 2
                continue
            # "Captain Smith, the father of ...": an apposition to a name needs no look-up.
            if not (
                phrase.start > start + 1 and tokens[phrase.start - 1].text == "," and tokens[phrase.start - 2].capital
            ):
                phrases.append(phrase)
            index = phrase.end
    return phrases


def _empty_object(tokens: list[Token], phrase: Phrase) -> bool:
    """ "took the title of the tallest tower": the object only completes the verb and needs no look-up."""
    nouns = tokens[phrase.start : phrase.group]
    return bool(phrase.start) and nouns[-1].low in _EMPTY and is_verb(tokens[phrase.start - 1])


def description_at(tokens: list[Token], start: int, stop: int) -> Phrase | None:
    """The description that begins at token `start`; None if none does."""
    token = tokens[start]
    if token.low in {"the", "his", "her", "its", "their"} and start + 1 < stop:
        group = group_end(tokens, start + 1, stop)
    elif token.small in {"a", "an"} and start + 1 < stop and start > 2 and tokens[start - 1].low in PREPOSITIONS:
        group = group_end(tokens, start + 1, stop)
        if group >= stop or tokens[group].low not in {"who", "whose", "whom", "which", "that"}:
            return None
    elif token.capital and token.low not in QUESTION_WORDS and (start == 0 or not tokens[start - 1].capital):
        group = _titled_owner(tokens, group_end(tokens, start, stop), stop)
        if not any(t.possessive for t in tokens[start : group - 1]):
            return None
    else:
        return None
    # "the country Ann Lee is from": the name is the subject of the clause, not part of the noun group.
    if group < stop and tokens[stop - 1].small in PREPOSITIONS and is_verb(tokens[group]):
        while group > start + 2 and tokens[group - 1].capital and not tokens[start + 1].capital:
            group -= 1
    if group <= start + (token.low in DETERMINERS):
        return None
    # "Ann Lee's father worked in ...": after a possessor, a participle is the verb of the sentence.
    end = modifiers_end(tokens, group, stop, reduced=token.low in DETERMINERS)
    # "sent Ann Lee's brother to prison": the prepositional phrase belongs to the verb.
    if token.capital and group < stop and tokens[group].small in {"to", "into", "at", "on", "for", "as"}:
        end = group
    return Phrase(start, group, end) if is_description(tokens, start, group, end) else None


def _titled_owner(tokens: list[Token], group: int, stop: int) -> int:
    """End of a possessor with a title after its name ("Joan, Lady of Orm's father"); `group` where it has none."""
    end = group + 1
    while end < stop and tokens[group].text == "," and (tokens[end].capital or tokens[end].low in {"of", "de"}):
        end += 1
    titled = any(token.low == "of" for token in tokens[group + 1 : end])
    return group_end(tokens, end - 1, stop) if titled and end < stop and tokens[end - 1].possessive else group


def modifiers_end(tokens: list[Token], index: int, stop: int, *, reduced: bool = True) -> int:
    """End (exclusive) of the modifiers after a noun group: "of ...", relative clauses, participles."""
    head_end = index
    while index < stop:
        token = tokens[index]
        low = token.small
        after = tokens[index + 1] if index + 1 < stop else None
        if index == head_end and _contact_clause(tokens, index, stop):
            return _clause_end(tokens, index, stop)
        if low in RELATIVES or (low in PREPOSITIONS and after is not None and after.low in RELATIVES):
            return _clause_end(tokens, index, stop)
        if token.text == "," and after is not None and after.low in {"who", "which", "whose", "whom", "where"}:
            return _clause_end(tokens, index + 1, stop)
        if reduced and index == head_end and low in BEFORE and after is not None and is_participle(after):
            return _clause_end(tokens, index + 1, stop)
        near = index == head_end or not tokens[index - 1].capital or (after is not None and after.low == "by")
        if reduced and near and is_participle(token) and low not in AUXILIARIES and _reduced(tokens, index, stop):
            return _clause_end(tokens, index, stop)
        if low in PREPOSITIONS and low not in {"than", "as"} and after is not None and after.word:
            index = _complement_end(tokens, index + 1, stop)
            continue
        if (
            token.text == ","
            and after is not None
            and after.capital
            and index
            and tokens[index - 1].capital
            and _name_goes_on(tokens, index, stop)
        ):
            index = group_end(tokens, index + 1, stop)
            continue
        break
    return index


def _contact_clause(tokens: list[Token], index: int, stop: int) -> bool:
    """Whether a clause without a pronoun follows the noun: "the country Ann Lee is from"."""
    end = index
    while end < stop and tokens[end].capital:
        end += 1
    return (
        index < end < stop
        and is_verb(tokens[end])
        and not tokens[index].possessive
        and tokens[end].low not in {"did", "does", "do"}
    )


def _name_goes_on(tokens: list[Token], comma: int, stop: int) -> bool:
    """Whether the words after a comma continue a name, as in "Lornfield, Westmark"."""
    end = comma + 1
    while end < stop and tokens[end].capital:
        end += 1
    return end >= stop or tokens[end].text == "," or not tokens[end].capital


def _reduced(tokens: list[Token], index: int, stop: int) -> bool:
    """Whether a participle opens a reduced relative clause: "the president born in ..."."""
    if index + 1 >= stop:
        return False
    after = tokens[index + 1]
    return after.low in PREPOSITIONS or after.low in {"as", "the", "a", "an", "when", "only", "both"} or after.capital


def _complement_end(tokens: list[Token], index: int, stop: int) -> int:
    """End of the noun phrase after a preposition, without its modifiers, which the caller's loop consumes."""
    if tokens[index].low in DETERMINERS or tokens[index].low in {"both", "all", "each"}:
        index += 1
    end = group_end(tokens, index, stop)
    while end + 1 < stop and tokens[end].low == "and" and tokens[end - 1].capital and tokens[end + 1].capital:
        end = group_end(tokens, end + 1, stop)
    return max(end, index + 1 if index < stop else index)


def _clause_end(tokens: list[Token], index: int, stop: int) -> int:
    """End of a clause: that of its region, or a comma or verb that opens the question or a second clause."""
    verbs = 0
    for at in range(index, stop):
        if verbs and at > index and tokens[at].low in {"did", "does"}:
            return at
        low = tokens[at].low
        finite = low in AUXILIARIES or (low in IRREGULAR and low not in PARTICIPLES)
        # "the area where X is located became": a second finite verb ends the clause.
        fresh = not is_verb(tokens[at - 1]) or (finite and tokens[at - 1].low not in AUXILIARIES and low != "been")
        if is_verb(tokens[at]) and fresh and (at == index or not _modifies_noun(tokens, at, stop)):
            verbs += 1
            present = low.endswith("s") and low[:-1] in BASE_VERBS and tokens[at - 1].capital
            if verbs > 1 and (finite or present) and tokens[at - 1].low not in RELATIVES | CONJUNCTIONS:
                return at
        elif tokens[at].low in RELATIVES | CONJUNCTIONS:
            verbs = 0
        if at == index:
            continue
        if tokens[at].text in {";", ":", "?"}:
            return at
        if tokens[at].low == "and" and at + 1 < stop and tokens[at + 1].low == "of":
            return at
        if (
            tokens[at].text == ","
            and at + 1 < stop
            and tokens[at + 1].low in QUESTION_WORDS | {"and", "but", "or", "also"}
        ):
            return at
    return stop


def _modifies_noun(tokens: list[Token], index: int, stop: int) -> bool:
    """Whether a participle modifies the noun before it ("the man known as ...") and is not the clause's verb."""
    before = tokens[index - 1]
    return (
        is_participle(tokens[index])
        and before.low not in RELATIVES | AUXILIARIES
        and not before.capital
        and index + 1 < stop
        and tokens[index + 1].low in {"as", "by", "after", "in", "for", "about", "on"}
    )


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
