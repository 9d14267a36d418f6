"""Word lists and small word tools: what every part of the built-in backend knows about English."""

from __future__ import annotations

from functools import lru_cache, partial

from iterative_rag.text.dates import MONTHS as NAMES_OF_MONTHS
from iterative_rag.text.folding import folded as folded_text
from iterative_rag.text.numerals import rank
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern, table_beside


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for lists that read better as text."""
    return frozenset(text.split())


_lists = partial(table_beside, __file__, "words.toml")


def listed(name: str) -> frozenset[str]:
    """A list of words of `words.toml`."""
    return word_set(_lists()["words"][name])


def paired(name: str) -> dict[str, str]:
    """A list of words of `words.toml`, each with what it stands for."""
    return dict(pair.split(":") for pair in _lists()["pairs"][name].split())


def lines(name: str) -> list[str]:
    """The lines of a list of `words.toml`."""
    return str(_lists()["lines"][name]).strip().splitlines()


MONTHS = tuple(month.lower() for month in NAMES_OF_MONTHS)
DETERMINERS, PRONOUNS, PREPOSITIONS = listed("determiners"), listed("pronouns"), listed("prepositions")
RELATIVES, AUXILIARIES = listed("relatives"), listed("auxiliaries")
QUESTION_WORDS, CONJUNCTIONS = listed("question_words"), listed("conjunctions")
STOPWORDS = (DETERMINERS | PRONOUNS | PREPOSITIONS | RELATIVES | AUXILIARIES | QUESTION_WORDS | CONJUNCTIONS) | listed(
    "other_stopwords"
)
# Past tenses and participles that do not end in -ed, with their base form.
IRREGULAR = paired("irregular")
# Base forms and third persons that end a question's verb phrase ("where does the river rise") or open a clause.
BASE_VERBS, PARTICIPLES = listed("base_verbs"), listed("participles")
_PLURAL_KEPT = word_set("ss us is")


def fold(text: str) -> str:
    """Lower case without accents, with plain apostrophes."""
    return folded_text(text.replace("’", "'").replace("ʻ", "'"))


_LARGE = lazy_pattern(
    r"(?<![^\W_])[A-ZÀ-ÞĀ-ŽА-Я](?:[^\W_]|(?<=\w)[.'](?=[A-Za-z]{2}))*?(?=['’]s\b|[^\w.']|[.'](?:\W|$)|$)"
)
_WORD = lazy_pattern(r"[^\W_]+(?:['.][^\W_]+)*")


def words(text: str) -> list[str]:
    """Folded words, those of names in the form that these are compared in; a possessive 's goes, "J.K." is one word."""
    forms = []
    for word in _WORD.findall(fold(common_names(text))):
        if word.endswith("'s"):
            word = word[:-2]
        if word:
            forms.append(word)
    return forms


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light stem: "architects" and "architect", "designed" and "designs", "Lornian" and "Lornia" meet."""
    word = IRREGULAR.get(word, word)
    if word[:1].isdigit() or len(word) <= 3:
        return word
    for ending, kept in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("ings", ""),
        ("ing", ""),
        ("edly", ""),
        ("ied", "y"),
        ("ed", ""),
        ("s", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and word[-2:] not in _PLURAL_KEPT:
            word = word[: len(word) - len(ending)] + kept
            if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
                word = word[:-1]
            break
    if word.endswith("ical") and len(word) > 6:
        return word[:-4]
    if word.endswith("ic") and len(word) > 5:
        return word[:-2]
    if word.endswith("ion") and len(word) > 7:
        return word[:-3]
    if word.endswith("ican") or (word.endswith("ian") and len(word) > 5):
        return word[:-1].removesuffix("i") if word.endswith("ian") else word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def content(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, with repeats."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


def names_in(text: str) -> frozenset[str]:
    """Stems of the words that are capitalized or hold a digit: "Born" the name, not "born" the verb."""
    return frozenset(stem(fold(word)) for word in _LARGE.findall(common_names(text).replace("’", "'"))) | frozenset(
        stem(word) for word in words(text) if word[0].isdigit()
    )


def ordinal(word: str) -> int | None:
    """ "third", "3rd", "twenty-fifth" and "25th" as numbers; None for anything else."""
    return rank(word, "en")


def folded(text: str) -> str:
    """For comparing values: words only."""
    return " ".join(word for word in words(text) if word != "the")
