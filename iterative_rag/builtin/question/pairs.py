"""Plans yes/no questions about two things as one closed look-up for each.

"Are X and Y both film directors?" becomes "Is X a film director?" and "Is Y a film director?".
"""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import DETERMINERS, PREPOSITIONS, RELATIVES, word_set
from iterative_rag.builtin.language.nouns import possessive
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
_AUX = r"(?P<aux>are|were|do|did|does|have|has|is|was)"
# "Are both magazines, A and B, ...", "Are both A and B ...", "Are A and B both ..."
_FRONT_BOTH = lazy_pattern(rf"^{_AUX} both(?: of)? (?P<body>.{{6,300}})$", re.I)
_MIDDLE_BOTH = lazy_pattern(
    rf"^{_AUX} (?P<pair>.{{2,120}}? (?:and|or|&) .{{2,120}}?),? (?:both|each)(?: of)? (?P<rest>.{{2,200}})$", re.I
)
_PLAIN_PAIR = lazy_pattern(rf"^(?i:{_AUX}) (?P<body>(?:the )?(?:[a-z]+ ){{0,3}}?[A-Z“\"].{{6,300}})$")
_AND = lazy_pattern(r",? (?:and|or|&) (?=(?:the [a-z]+ of |the |an? |[a-z]+ (?=[A-Z“\"]))?[A-Z“\"0-9])")
# A class noun before a name: "the director X", "magazines, the X".
_KIND = lazy_pattern(
    r"^(?P<the>(?:the |two )*)(?P<kind>(?:[a-z-]+ ){0,2}[a-z-]+)(?P<sep>[,:]? )(?=(?:the |The )?[A-Z“\"0-9])"
)
_UNCOUNTED = word_set("series species people men women")
_IRREGULAR = {"men": "man", "women": "woman", "people": "person", "genera": "genus", "wolves": "wolf", "wives": "wife"}


def both(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan a yes/no question about two things; None for any other."""
    parts = split_pair(text)
    if parts is None:
        return None
    aux, names, rest = parts
    return Computed(text, Operation.BOTH, tuple(closed(aux, name, rest, phrase) for name in names))


def closed(aux: str, name: str, rest: str, phrase: Phrase) -> Node:
    """The closed look-up of one side."""
    kind, bare = kind_and_name(name)
    node = phrase(bare)
    verb = _SINGULAR.get(aux.lower(), aux.capitalize())
    front = f"{kind} " if kind else ""
    asked = to_singular(rest) if verb in {"Is", "Was"} else rest
    if isinstance(node, Literal):
        return Lookup(name, escape_braces(f"{verb} {front}{node.source} {asked}?"))
    return Lookup(name, f"{verb} {front}{{0}} {escape_braces(asked)}?", (node,))


def to_singular(rest: str) -> str:
    """The predicate in the singular: "film directors" -> "a film director"."""
    tokens = tokenize(rest)
    end = next(
        (
            at
            for at, token in enumerate(tokens)
            if token.low in PREPOSITIONS | RELATIVES | {"and", ","} or not token.word or (at and is_participle(token))
        ),
        len(tokens),
    )
    if not end or tokens[0].low in DETERMINERS:
        return rest
    head = tokens[end - 1]
    noun = _single_noun(head.low)
    plural = noun != head.low or head.low in _UNCOUNTED
    if not plural or (head.capital and end < 2) or (is_participle(tokens[0]) and end < 2):
        return rest
    said = rest[: head.start] + (noun if head.small else head.text) + rest[head.end :]
    article = "an" if re.match(r"(?!uni|use|eur|one)[aeiou]", said, re.I) else "a"
    return f"{article} {said}"


def _single_noun(noun: str) -> str:
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun in _UNCOUNTED or noun.endswith(("ss", "us", "is", "ous")) or not noun.endswith("s"):
        return noun
    if noun.endswith("ies") and len(noun) > 4 and noun not in {"movies", "series"}:
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(("ches", "shes", "xes", "sses")) else noun[:-1]


def split_pair(text: str) -> tuple[str, tuple[str, str], str] | None:
    """Split a yes/no question about two things into (auxiliary, names, predicate); None for any other."""
    if match := _MIDDLE_BOTH.match(text):
        names = two_names(match["pair"])
        return (match["aux"], names, match["rest"]) if names else None
    match = _FRONT_BOTH.match(text) or (None if " or " in text else _PLAIN_PAIR.match(text))
    if match is None or match["body"].startswith("there "):
        return None
    parts = _names_and_rest(match["body"])
    return parts and (match["aux"], *parts)


def _names_and_rest(body: str) -> tuple[tuple[str, str], str] | None:
    """Split "magazines, A and B, British publications" into ("magazine A", "magazine B"), "British publications"."""
    for conjunction in reversed(list(_AND.finditer(body))):
        second = body[conjunction.end() :]
        end = _name_end(second)
        rest = second[end:].lstrip(" ,")
        if end and rest:
            names = two_names(f"{body[: conjunction.start()]} and {second[:end].rstrip(' ,')}")
            return (names, rest) if names else None
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
    kind = shared["kind"]
    noun = _single_noun(kind.split()[-1])
    if noun == kind.split()[-1] and not shared["the"] and not shared["sep"].startswith(","):
        return first.strip(" ,"), second.strip(" ,")
    kind = " ".join([*kind.split()[:-1], noun])
    own = _KIND.match(second)
    front = f"the {kind} "
    return front + first[shared.end() :].strip(" ,"), (second if own else front + second).strip(" ,")


_OWNED_BY = lazy_pattern(r"^(?P<who>.+?)['’]s? (?P<noun>[^'’]+)$")
_NAME_LAST = lazy_pattern(r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)*$")
_NOUN_OF = lazy_pattern(r"^(?P<noun>the .+?) of (?P<who>.+)$")


def second_of(first: str, second: str) -> str:
    """The second of two things in words of its own: "that of Bo Orm" after "the wife of Ann Lee" is "the wife of Bo
    Orm", "his son" after "Ann Lee's prize" is "Ann Lee's son"."""
    of, owned = _NOUN_OF.match(first), _OWNED_BY.match(first)
    if named := of or owned:
        second = re.sub(r"(?:(?<=^)|(?<=that of ))(?:his|her|its|their) ", f"{possessive(named['who'])} ", second)
    if (match := re.match(r"^(?:that|those) of (.+)$", second)) and (of or owned):
        return f"{of['noun']} of {match[1]}" if of else f"{possessive(match[1])} {owned['noun']}" if owned else second
    if (match := re.match(r"^(.+) of the same (?:name|title)$", second)) and (name := _NAME_LAST.search(first)):
        return f"{match[1]} {name[0]}"
    if (match := re.match(r"^(?:the|that) one ((?:in|at|on|by|from) .+)$", second)) and (
        head := re.match(r"^(the [\w-]+) (?:in|at|on|by|from) ", first)
    ):
        return f"{head[1]} {match[1]}"
    match = re.match(r"^(?:the|that|those) ?(.*?) ones?$", second)
    if match and (head := re.match(r"^the .*?\b([a-z]+(?: of .+)?)$", first)):
        return f"the {match[1]} {head[1]}"
    return second


def kind_and_name(name: str) -> tuple[str, str]:
    """Split "the director Ann Lee" into "the director" and "Ann Lee"; the kind is "" if there is none."""
    match = _KIND.match(name)
    if match is None or not match["the"] or re.search(r"\b(?:of|in|for|by)\b", match["kind"]):
        return "", name
    return f"the {match['kind']}", name[match.end() :]


def _name_end(text: str) -> int:
    """Character offset at which the name at the start of a text ends."""
    if text[:1] in '"“' and (close := re.search(r"[\"”]", text[1:])):
        return close.end() + 1
    tokens = tokenize(text)
    kind = _KIND.match(text)
    at = next((n for n, token in enumerate(tokens) if token.start >= kind.end()), 0) if kind else 0
    end = at
    while at < len(tokens):
        token = tokens[at]
        if token.capital and not (end and _opens_predicate(tokens, at, text)):
            end = at = at + 1
        elif token.low in {"the", "a", "an"} and not end:
            at += 1
        else:
            break
    return tokens[end - 1].end if end else 0


def _opens_predicate(tokens: list[Token], at: int, text: str) -> bool:
    """Whether a capitalized word opens the predicate: "Ann Lee British", "Orm American rock bands"."""
    if not nations_in(text[tokens[at].start : tokens[at].end]):
        return False
    after = tokens[at + 1 :]
    return not after or not after[0].capital or any(token.word and not token.capital for token in after)
