"""Tokenizes questions, classifies tokens by their form (name, verb, participle), finds noun groups, and gives the base
forms of verbs."""

from __future__ import annotations

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
    listed,
    ordinal,
    paired,
    word_set,
)
from iterative_rag.text.patterns import lazy_pattern

# The stops of "Mt. Orm" and "J. J. Lee" belong to the names.
_TOKEN = lazy_pattern(
    r"(?:Mt|St|Ft|Dr|Mr|Mrs|Ms|[A-Z])\.(?= [^\W\d_a-z])|"
    r"\"[^\"]{1,200}\"|“[^”]{1,200}”|[^\W_][\w.&'’/–-]*[^\W_]['’]?(?=\W|$)|[^\W_]['’]?|[^\s\w]"
)


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def small(self) -> str:
        """The word if it is in lower case, else "": capitalized, "Of" and "The" are part of a title."""
        return "" if self.text[0].isupper() else self.text

    @property
    def capital(self) -> bool:
        """Whether the token may be a name: capitalized, a quoted title or a number."""
        return self.text[0].isupper() or self.text[0] in '"“' or self.text[0].isdigit()

    @property
    def possessive(self) -> bool:
        return self.text.endswith(("'s", "’s", "s'", "s’"))

    @property
    def word(self) -> bool:
        return self.text[0].isalnum() or self.text[0] in '"“'


# Adverbs before a participle ("the peak first climbed in ...").
BEFORE = word_set("first originally later once formerly also")
# Present participles that open a reduced clause ("the river lying in ...").
PRESENT = listed("present")
_LINKS = PREPOSITIONS | RELATIVES | CONJUNCTIONS
_RANKS = listed("greatest") | listed("smallest")
# Irregular past tenses that are rare as verbs of a question.
_RARE = paired("irregular_and_rare")
# Stems whose base form ends in a silent e: "releas-", "produc-", "creat-", "receiv-", "charg-", "continu-".
_SILENT = lazy_pattern(
    r"(?:[^aeiou]|[aeiou]{2})[aiou][bcdgkmnprstvz]$|[aeiou]{2}[sv]$|[nrl]s$|[aeiounr]c$|[aeiourl]v$|[dnr]g$|u$|[bptgdf]l$|[iy]z$|eat$|uir$"
)
_NO_E = tuple(listed("without_e"))


def tokenize(text: str) -> list[Token]:
    return [Token(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]


def is_verb(token: Token) -> bool:
    """Whether a token looks like a finite verb or a participle."""
    low = token.low
    if token.capital:
        return False
    return (
        low in AUXILIARIES
        or low in IRREGULAR
        or (
            low.endswith("ed")
            and len(low) > 4
            and low not in {"united", "hundred", "seed", "speed", "animated", "indeed", "breed"}
        )
        or (
            low.endswith("s")
            and low[:-1] in BASE_VERBS
            and low not in {"lives", "plays", "names", "works", "houses", "stars"}
        )
        or (low.endswith("es") and low[:-2] in BASE_VERBS)
    )


def is_participle(token: Token) -> bool:
    low = token.low
    return not token.capital and (
        low in PRESENT
        or low in PARTICIPLES
        or (low.endswith("ed") and len(low) > 4 and low not in {"united", "hundred", "seed", "speed"})
    )


def head_noun(tokens: list[Token]) -> str:
    """The last plain word of a noun group ("tallest office building" -> "building")."""
    for token in reversed(tokens):
        if token.word and not token.capital:
            return token.low
    return tokens[-1].low if tokens else ""


def group_end(tokens: list[Token], start: int, stop: int) -> int:
    """End (exclusive) of the bare noun group that begins at `start`."""
    index = start
    while index < stop:
        token = tokens[index]
        small = token.small
        if not token.word or small in _LINKS | QUESTION_WORDS:
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


def subject_end(tokens: list[Token]) -> int:
    """Index of the verb of a plain statement, where its subject ends; 0 if there is none."""
    at = group_end(tokens, int(tokens[0].low in DETERMINERS), len(tokens)) if tokens else 0
    while at + 1 < len(tokens) and tokens[at].low in PREPOSITIONS and tokens[at + 1].low not in RELATIVES:
        at = group_end(tokens, at + 1 + (tokens[at + 1].low in DETERMINERS), len(tokens))
    verbs = [n for n in range(max(at, 1), len(tokens)) if is_verb(tokens[n]) and not is_verb(tokens[n - 1])]
    if len(verbs) < 2 or tokens[at].low in AUXILIARIES:
        return verbs[0] if verbs else 0
    # A clause after the noun has a verb of its own: "the man who was shot died", "the man known as X was born".
    reduced = is_participle(tokens[at]) and not tokens[at - 1].capital and tokens[verbs[1]].low in AUXILIARIES
    return verbs[reduced or not is_verb(tokens[at])]


def _modifies(tokens: list[Token], index: int, start: int, stop: int) -> bool:
    """Whether a participle modifies the noun after it ("the second assassinated president") and is not a verb."""
    if not is_participle(tokens[index]) or index + 1 >= stop:
        return False
    after = tokens[index + 1]
    before = tokens[start:index]
    plain_before = all(ordinal(t.low) is not None or t.low in _RANKS or t.low in DETERMINERS for t in before)
    return plain_before and after.word and after.low not in _LINKS | DETERMINERS


def acts(token: Token) -> bool:
    """Whether a token looks like a finite verb or a participle, including rare irregular forms."""
    return is_verb(token) or token.small in _RARE


def base_form(verb: str) -> str:
    """The base form: "died" -> "die", "plays" -> "play"; "" for an unknown form."""
    low = verb.lower()
    if known := IRREGULAR.get(low) or _RARE.get(low):
        return known
    if low.endswith("ied") and len(low) > 4:
        return f"{low[:-3]}y"
    if low.endswith("ed") and len(low) > 4:
        return _of_past(low[:-2])
    for ending in ("es", "s"):
        if low.endswith(ending) and low[: -len(ending)] in BASE_VERBS:
            return low[: -len(ending)]
    return f"{low[:-3]}y" if low.endswith("ies") and f"{low[:-3]}y" in BASE_VERBS else ""


def _of_past(stem: str) -> str:
    if stem in BASE_VERBS:
        return stem
    if f"{stem}e" in BASE_VERBS:
        return f"{stem}e"
    if stem[-1] == stem[-2] and stem[-1] in "bdgmnprt":
        return stem[:-1]
    return f"{stem}e" if _SILENT.search(stem) and not stem.endswith(_NO_E) else stem
