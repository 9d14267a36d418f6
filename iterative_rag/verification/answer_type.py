"""What kind of answer a question asks for, where its words tell, and whether a short answer is of that kind."""

from __future__ import annotations

import re
from enum import StrEnum

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import language
from iterative_rag.text.mentions import mentions
from iterative_rag.text.patterns import lazy_pattern


class Asked(StrEnum):
    NUMBER = "number"
    TIME = "time"
    ANY = "any"


# Question words at the beginning of a question or of one of its clauses; what they do not settle is ANY.
_NUMBER = lazy_pattern(
    r"(?:^|[,;:] )(?:\w+ ){0,2}?(?:how (?:many|old|tall|long|high|far|much|deep|wide)|"
    r"wie (?:viele?|alt|hoch|gross|lang|weit|tief)|combien|cuant[oa]s?|quant[oiae]s?|hoeveel|hoe (?:oud|lang|hoog)|"
    r"сколько|ile)\b"
)
_TIME = lazy_pattern(
    r"(?:^|[,;:] )(?:(?:in|on|since|until|seit|en|nel|em|am|im|a) )?(?:when|"
    r"(?:what|which) (?:year|date|day|month|decade|century)|wann|welche[mns]? (?:jahr|datum|tag|monat)|quand|"
    r"quelle (?:annee|date)|cuando|que (?:ano|fecha)|quando|(?:che|quale) (?:anno|data)|wanneer|welk jaar|когда|"
    r"в каком году|kiedy)\b"
)
_SPANS = lazy_pattern(r"how (?:long|far)|wie lang|quanto tempo")


def kind_asked(question: str) -> Asked:
    plain = folded(" ".join(question.split())).strip(" ¿¡?\"'")
    if _TIME.search(plain):
        return Asked.TIME
    return Asked.NUMBER if _NUMBER.search(plain) else Asked.ANY


def is_of_kind(question: str, short: str) -> bool:
    """False only where a number or a time is asked for and the short answer holds neither."""
    asked = kind_asked(question)
    if asked is Asked.ANY or _SPANS.search(folded(question)):
        return True
    return bool(mentions(short, language(question))) or re.search(r"\d", short) is not None or _in_words(short)


def _in_words(short: str) -> bool:
    """ "None", "never", "the same year", "one": answers in words that a number may have, in few words."""
    return len(short.split()) <= 2
