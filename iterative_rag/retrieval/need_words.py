"""What a need asks about: the names in it, and the query that is left without the words around the question."""

from __future__ import annotations

import re
from functools import lru_cache

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern

# A query is not cut to fewer words than these.
FEWEST_WORDS = 3
# Languages in which every noun has a capital, so that two such words are often no name.
CAPITAL_NOUNS = ("de",)

_TOKEN = lazy_pattern(r"[^\W_]+(?:['’.-][^\W_]+)*")
_WORD = lazy_pattern(r"[^\W_]+")
_BEFORE_SIGN = lazy_pattern(r" +(?=[?.!,])")
ADDITION = lazy_pattern(r"\s*\([^)]*\)\s*$")
_POSSESSIVE = lazy_pattern(r"['’]s$")
# Words inside of names: "Treaties of the European Union", "Vincent van Gogh".
_INSIDE_NAMES = frozenset(
    ("of", "the", "de", "la", "le", "du", "del", "di", "da", "al", "van", "von", "der", "den", "and", "in", "for", "on")
)
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = rf"(?:(?:the )?(?:{_DAY} (?:of )?)?{_MONTH}(?: {_DAY})?,? (?:of )?)?\d{{4}}"
_SCAFFOLDING = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        rf",?\s*\b(?:as of|as at) {_DATE}\b,?",
        r"\b(?:can|could|would) you (?:please )?(?:tell|give|show|find|name)\b(?: me\b)?,?",
        r"\b(?:please )?(?:tell|give|show) me\b(?: about\b)?,?",
        r"\baccording to (?:wikipedia|the (?:text|article|passage|document|corpus|sources?))\b[^,]{0,30},",
        r"\b(?:i would|i'd) like to know\b,?|\bdo you know\b,?|\bplease\b,?",
        r"\b(?:which|what) (?:one )?of the following\b",
        r"\b(?:what|which) (?:is|was|are|were) the name of\b",
    )
)


def without_scaffolding(question: str) -> str:
    """The question without "As of August 2024", "tell me" and the like, whose words are found everywhere."""
    cut = question
    for pattern in _SCAFFOLDING:
        cut = pattern.sub(" ", cut)
    cut = _BEFORE_SIGN.sub("", " ".join(cut.split())).strip(" ,")
    return cut if len(cut.split()) >= FEWEST_WORDS else question


def plain_words(text: str) -> str:
    """The words of a text, folded, with one space between them, and names in the form that these are compared in."""
    return " ".join(_WORD.findall(folded(common_names(text))))


def holds_words(text: str, words: str) -> bool:
    """Whether whole words stand in a text, in their order; both as `plain_words` gives them."""
    return f" {words} " in f" {text} "


def is_titled(title: str, named: str) -> bool:
    """Whether an article is the one that a model names: by its title, or by one with an addition in brackets less or
    more, or with other small words: "List of towers in Karsa" for "List of towers of Karsa"."""
    if plain_words(title) == plain_words(named):
        return True
    bare, other = (_plain_name(text) for text in (title, named))
    return bare == other and bool(bare) and not (ADDITION.search(title) and ADDITION.search(named))


def _plain_name(title: str) -> list[str]:
    words = plain_words(ADDITION.sub("", title)).split()
    return [word for word in words if len(word) == 1 or not is_function_word(word, "en")]


@lru_cache(maxsize=1024)
def names_in(question: str) -> tuple[str, ...]:
    """The names in a question as `plain_words`: runs of words with a capital, or a number after one."""
    code, question = language(question), common_names(question)
    runs: list[list[str]] = [[]]
    end = 0
    for token in _TOKEN.finditer(question):
        word, joined = token[0], not question[end : token.start()].strip()
        end = token.end()
        if not joined:
            runs.append([])
        if word[0].isupper() or (word[0].isdigit() and runs[-1]):
            if runs[-1] or not is_function_word(folded(word), code):
                runs[-1].append(word)
        elif runs[-1] and word in _INSIDE_NAMES:
            runs[-1].append(word)
        else:
            runs.append([])
        if _POSSESSIVE.search(word):
            runs.append([])
    return tuple(dict.fromkeys(name for run in runs if (name := _name(run))))


def _name(run: list[str]) -> str:
    while run and run[-1] in _INSIDE_NAMES:
        run = run[:-1]
    return plain_words(" ".join(_POSSESSIVE.sub("", word) for word in run))
