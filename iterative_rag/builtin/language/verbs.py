"""Base forms of verbs, derived from their endings and a list of irregular forms."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import BASE_VERBS, IRREGULAR, word_set
from iterative_rag.builtin.language.tokens import Token, is_verb
from iterative_rag.text.patterns import lazy_pattern

# Irregular past tenses besides those of `function_words`; as verbs of a question they are rare.
_MORE: dict[str, str] = {
    past: base
    for past, _, base in (
        pair.partition(":")
        for pair in word_set(
            "broke:break got:get forgot:forget arose:arise ate:eat awoke:awake bit:bite bred:breed dealt:deal dug:dig "
            "fled:flee froze:freeze hung:hang hurt:hurt overthrew:overthrow oversaw:oversee rode:ride sought:seek "
            "shed:shed slept:sleep spun:spin split:split spread:spread stole:steal stuck:stick swept:sweep cast:cast "
            "underwent:undergo withdrew:withdraw cost:cost burnt:burn learnt:learn fed:feed overcame:overcome used:use"
        )
    )
}
_DOUBLED = lazy_pattern(r"([bdgmnprt])\1$")
# Stems whose base form ends in a silent e: "releas-", "produc-", "creat-", "receiv-", "charg-", "continu-".
_SILENT = lazy_pattern(
    r"(?:[^aeiou]|[aeiou]{2})[aiou][bcdgkmnprstvz]$|[aeiou]{2}[sv]$|[nrl]s$|[aeiounr]c$|[aeiourl]v$|[dnr]g$|u$|[bptgdf]l$|[iy]z$|eat$|uir$"
)
_NO_E = lazy_pattern(
    r"(?:visit|edit|limit|credit|hibit|habit|profit|open|happen|order|offer|enter|cover|suffer|liver|develop|consider|"
    r"member|appear|repeat|treat|defeat|debut|recruit|main|mother|father|focus|sponsor)$"
)


def acts(token: Token) -> bool:
    """Whether a token looks like a finite verb or a participle, including rare irregular forms."""
    return is_verb(token) or token.small in _MORE


def base_form(verb: str) -> str:
    """The base form: "died" -> "die", "plays" -> "play"; "" for an unknown form."""
    low = verb.lower()
    if known := IRREGULAR.get(low) or _MORE.get(low):
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
    if _DOUBLED.search(stem):
        return stem[:-1]
    return f"{stem}e" if _SILENT.search(stem) and not _NO_E.search(stem) else stem
