"""Plans yes/no questions about two things: whether both are something, as one closed look-up for each ("Are X and Y
both film directors?" becomes "Is X a film director?" and "Is Y a film director?"), and whether they have the same."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import BASE_VERBS, DETERMINERS, PREPOSITIONS, RELATIVES, word_set
from iterative_rag.builtin.language.nouns import is_plural
from iterative_rag.builtin.language.tokens import Token, is_participle, tokenize
from iterative_rag.builtin.question.plan import (
    Computed,
    Expand,
    Literal,
    Lookup,
    Node,
    Operation,
    Phrase,
    escape_braces,
)
from iterative_rag.text.other_names import nations_in
from iterative_rag.text.patterns import lazy_pattern

_SINGULAR = {"are": "Is", "were": "Was", "do": "Does", "have": "Has", "is": "Is", "was": "Was", "did": "Did"}
_AND = lazy_pattern(r",? (?:and|or|&) (?=(?:the [a-z]+ of |the |an? |[a-z]+ (?=[A-Z“\"]))?[A-Z“\"0-9])")
# A class noun before a name: "the director X", "magazines, the X".
_KIND = lazy_pattern(
    r"^(?P<the>(?:the |two )*)(?P<kind>(?:[a-z-]+ ){0,2}[a-z-]+)(?P<sep>[,:]? )(?=(?:the |The )?[A-Z“\"0-9])"
)
_UNCOUNTED = word_set("series species people men women")
# What these say of two things is not said of each of them; "or" offers a choice.
_MUTUAL = word_set(
    "same different similar each other another together related married brother brothers sister sisters siblings "
    "husband wife cousins twins relatives friends colleagues rivals enemies neighbours neighbors not never or"
)
_SHARED = lazy_pattern(r"^(?P<verb>.*?)\b(?P<link>in|from) the same (?P<noun>[a-z]+)\b")


@dataclass(frozen=True, slots=True)
class Pair:
    """A yes/no question about two things."""

    auxiliary: str
    names: tuple[str, str]
    predicate: str


def both(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan a yes/no question about each of two things; None for any other."""
    pair = split_pair(text)
    if pair is None or not _MUTUAL.isdisjoint(pair.predicate.lower().split()):
        return None
    sides = (closed(pair.auxiliary, name, pair.predicate, phrase) for name in pair.names)
    return Computed(text, Operation.BOTH, tuple(sides))


def same(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan "Were A and B born in the same town?"; None for any other question, and where one side alone cannot be asked
    for what is shared ("directed by the same person"). Most such questions are recognized by the network."""
    pair = split_pair(text)
    shared = _SHARED.match(pair.predicate) if pair else None
    if pair is None or shared is None:
        return None
    noun, link, verb = shared["noun"], shared["link"], shared["verb"].strip()
    if is_plural(verb):
        verb = ""  # "both airports in the same state"
    if is_plural(noun) or (verb and not (verb in BASE_VERBS or is_participle(tokenize(verb)[0]))):
        return None
    auxiliary = _SINGULAR.get(pair.auxiliary, pair.auxiliary).lower()
    asks = [f"{link.capitalize()} which {noun} {auxiliary} {name} {verb}".strip() + "?" for name in pair.names]
    # Knowing the country does not decide whether the states are the same.
    unit = "part" if noun in {"state", "province", "county", "district"} else ""
    return Computed(text, Operation.SAME, tuple(map(expand, asks, pair.names)), unit=unit)


def closed(auxiliary: str, name: str, predicate: str, phrase: Phrase) -> Node:
    """The closed look-up of one side."""
    kind, bare = kind_and_name(name)
    node = phrase(bare)
    verb = _SINGULAR.get(auxiliary, auxiliary.capitalize())
    front = f"{kind} " if kind else ""
    asked = to_singular(predicate) if verb in {"Is", "Was"} else predicate
    if isinstance(node, Literal):
        return Lookup(name, escape_braces(f"{verb} {front}{node.source} {asked}?"))
    return Lookup(name, f"{verb} {front}{{0}} {escape_braces(asked)}?", (node,))


def to_singular(rest: str) -> str:
    """The predicate in the singular: "film directors" -> "a film director"."""
    tokens = tokenize(rest)
    ends = PREPOSITIONS | RELATIVES | {"and", "or", ","}
    end = next(
        (n for n, token in enumerate(tokens) if token.low in ends or not token.word or (n and is_participle(token))),
        len(tokens),
    )
    if not end or tokens[0].low in DETERMINERS:
        return rest
    head = tokens[end - 1]
    noun = _single_noun(head.low)
    plural = noun != head.low or head.low in _UNCOUNTED
    if not plural or (end < 2 and (head.capital or is_participle(tokens[0]))):
        return rest
    said = rest[: head.start] + (noun if head.small else head.text) + rest[head.end :]
    vowel = said[0].lower() in "aeiou" and not said.lower().startswith(("uni", "use", "eur", "one"))
    return f"{'an' if vowel else 'a'} {said}"


def _single_noun(noun: str) -> str:
    if noun in _UNCOUNTED or noun.endswith(("ss", "us", "is")) or not noun.endswith("s"):
        return noun
    if noun.endswith("ies") and noun != "movies":
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(("ches", "shes", "xes", "sses")) else noun[:-1]


def split_pair(text: str) -> Pair | None:
    """Split a yes/no question about two things; None for any other."""
    opening, _, body = text.partition(" ")
    if body.lower().startswith(("both ", "both, ")):
        body = body[4:].lstrip(" ,").removeprefix("of ")
    if opening.lower() not in _SINGULAR | {"does": "", "has": ""} or body.startswith("there "):
        return None
    pair, mark, rest = body.partition(" both ") if " both " in body else body.partition(" each ")
    if mark:
        names = two_names(pair.rstrip(","))
        return Pair(opening.lower(), names, rest) if names else None
    for conjunction in reversed(list(_AND.finditer(body)) if " or " not in body else ()):
        second = body[conjunction.end() :]
        end = _name_end(second)
        rest = second[end:].lstrip(" ,")
        if end and rest:
            names = two_names(f"{body[: conjunction.start()]} and {second[:end].rstrip(' ,')}")
            return Pair(opening.lower(), names, rest) if names else None
    return None


def two_names(pair: str) -> tuple[str, str] | None:
    """Split "the films A and B" into "the film A" and "the film B"."""
    places = list(_AND.finditer(pair))
    if not places:
        return None
    # "A and the Band and B": split at the last "and", since the first is more often part of a name.
    first, second = pair[: places[-1].start()], pair[places[-1].end() :]
    shared = _KIND.match(first)
    if shared is None or " of" in shared["kind"]:
        return first.strip(" ,"), second.strip(" ,")
    *before, noun = shared["kind"].split()
    if _single_noun(noun) == noun and not shared["the"] and not shared["sep"].startswith(","):
        return first.strip(" ,"), second.strip(" ,")
    front = " ".join(("the", *before, _single_noun(noun), ""))
    return front + first[shared.end() :].strip(" ,"), ("" if _KIND.match(second) else front) + second.strip(" ,")


def kind_and_name(name: str) -> tuple[str, str]:
    """Split "the director Ann Lee" into "the director" and "Ann Lee"; the kind is "" if there is none."""
    match = _KIND.match(name)
    if match is None or not match["the"] or not PREPOSITIONS.isdisjoint(match["kind"].split()):
        return "", name
    return f"the {match['kind']}", name[match.end() :]


def _name_end(text: str) -> int:
    """Character offset at which the name at the start of a text ends."""
    tokens = tokenize(text)
    kind = _KIND.match(text)
    at = next((n for n, token in enumerate(tokens) if token.start >= kind.end()), 0) if kind else 0
    end = at
    while at < len(tokens):
        token = tokens[at]
        if token.capital and not (end and _opens_predicate(tokens, at, text)):
            end = at = at + 1
        else:
            break
    return tokens[end - 1].end if end else 0


def _opens_predicate(tokens: list[Token], at: int, text: str) -> bool:
    """Whether a capitalized word opens the predicate: "Ann Lee British", "Orm American rock bands"."""
    if not nations_in(text[tokens[at].start : tokens[at].end]):
        return False
    after = tokens[at + 1 :]
    return not after or not after[0].capital or any(token.word and not token.capital for token in after)
