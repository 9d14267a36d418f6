"""How needs are worded: what a question asks for in short, and whether it is about the value of another one."""

from __future__ import annotations

from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern

# What is left has to be a noun phrase: it begins with an article, or with a name that owns what is asked for.
_ASKS_FOR = lazy_pattern(
    r"^(?:Who|What|Which)\s+(?P<verb>is|are|was|were)\s+(?P<article>the\s+)?(?P<phrase>\S.*?)\s*\?$"
)
_OWNED = lazy_pattern(r"^[^\W\d_a-z](?:(?!\b(?:when|while|that|who|which)\b).)*?(?:['’]s|s['’])\s+\S")
# A question inside the question, a choice, or a phrase that ends in its middle: "the capital of France known for".
_NO_PHRASE = lazy_pattern(
    r"(?:,|\bor\b|\b(?:and|but)\s+(?:who|what|when|where|which|how|why|is|are|was|were|did|does)\b"
    r"|\b(?:by|for|from|of|in|on|at|to|with|about|as|known|called|like|do|did|does|before"
    r"|\w{3,}ed)$)"
)
_WORD = lazy_pattern(r"[^\W_]+")


def asked_phrase(question: str) -> tuple[str, str]:
    """The noun phrase that a question asks for and its verb: "the 15th first lady" and "is" for "Who is the 15th first
    lady?"; both "" where the question has another form."""
    found = _ASKS_FOR.match(question)
    if found is None or _NO_PHRASE.search(found["phrase"]):
        return "", ""
    article = "the " if found["article"] else ""
    return (article + found["phrase"], found["verb"]) if article or _OWNED.match(found["phrase"]) else ("", "")


def label(question: str) -> str:
    """ "15th first lady" for "Who is the 15th first lady?"; a question of another form as it is."""
    return asked_phrase(question)[0].removeprefix("the ") or question


def builds_on(question: str, value: str) -> bool:
    """Whether a question names the value of another one, word for word."""
    wanted = _words(value)
    return bool(wanted) and f" {wanted} " in f" {_words(question)} "


def _words(text: str) -> str:
    return " ".join(_WORD.findall(folded(text)))
