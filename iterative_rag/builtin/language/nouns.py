"""Classes of nouns: kinship, offices, places, words that rule out a person; and the gender of names and nouns."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import listed, stem

BARE_KINDS = frozenset(map(stem, listed("bare_kinds")))
LARGER, COUNTRIES, SMALLER = (frozenset(map(stem, listed(name))) for name in ("larger", "countries", "smaller"))
SITES, PLACES = listed("sites"), listed("places")
NOT_PERSON_WORDS, NOT_PERSONS = listed("not_person_words"), listed("not_persons")
KINSHIP, ROLES, FUNCTIONAL = listed("kinship"), listed("roles"), listed("functional")
PERSON_ENDINGS = ("er", "or", "ist", "ian", "ress", "eer", "ant", "man", "woman", "in-law")
_IRREGULAR_PLURALS, _SINGULARS = listed("irregular_plurals"), listed("singulars")
FEMALE, MALE = "female", "male"
_FEMALE_NAMES, _MALE_NAMES = listed("female_names"), listed("male_names")
_FEMALE_NOUNS, _MALE_NOUNS = listed("female_nouns"), listed("male_nouns")
NAME_PARTS = dict.fromkeys(("first name", "given name", "forename", "christian name"), "first")
NAME_PARTS |= dict.fromkeys(("surname", "last name", "family name"), "last")
NAME_PARTS |= {"maiden name": "maiden", "middle name": "middle"}


def names_person(noun: str) -> bool:
    """Whether a noun denotes a person: by kinship, office, or an ending of occupations."""
    noun = noun.lower()
    single = noun.removesuffix("s") if noun not in KINSHIP | ROLES else noun
    if noun in KINSHIP or noun in ROLES or single in KINSHIP or single in ROLES:
        return True
    return single not in NOT_PERSONS and len(single) > 4 and single.endswith(PERSON_ENDINGS)


def possessive(noun: str) -> str:
    """The possessive form: "Ann's", "Jones'"."""
    return f"{noun}'" if noun.endswith("s") else f"{noun}'s"


def is_plural(noun: str) -> bool:
    """Whether a noun, in lower case, looks like a plural."""
    return noun in _IRREGULAR_PLURALS or (
        noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and noun not in _SINGULARS
    )


def gender_of_name(name: str) -> str:
    """FEMALE or MALE by the given name that a name begins with, "" where it tells neither."""
    first = name.split()[0].casefold() if name.split() else ""
    return FEMALE if first in _FEMALE_NAMES else MALE if first in _MALE_NAMES else ""


def gender_of_noun(noun: str) -> str:
    """FEMALE or MALE for "mother", "king" and their like, else ""."""
    low = noun.casefold()
    return FEMALE if low in _FEMALE_NOUNS else MALE if low in _MALE_NOUNS else ""
