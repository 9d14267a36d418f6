"""Classes of nouns: kinship, offices, places, words that rule out a person."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import stem, word_set

# Asked nouns that give the kind of answer but nothing about the relation ("which year").
BARE_KINDS = frozenset(
    stem(word)
    for word in ["year", "date", "day", "name", "place", "city", "country", "state", "person", "man", "woman", "thing"]
)
# Larger places, the last part of "Lornfield, Westmark"; SMALLER is the first.
LARGER = frozenset(stem(word) for word in ["state", "country", "nation", "province", "region", "county"])
COUNTRIES = frozenset(stem(word) for word in ["country", "nation"])
SMALLER = frozenset(stem(word) for word in ["city", "town", "village"])
# What stands in a place and is none itself: a name that ends in one of these is no city, river or country.
SITES = word_set(
    "bridge tower theatre theater hall house museum university college school church cathedral stadium arena palace "
    "castle hotel hospital library airport station academy institute temple abbey cemetery opera studio studios"
)
NOT_PERSON_WORDS = word_set(
    "river bridge tower building museum house university college school street avenue park church cathedral city "
    "county state states lake mountain mount island national prize award house company corporation republic "
    "kingdom world war games cup theatre theater hall station academy institute society association "
    "league association act union empire center centre hotel hospital library airport championship festival "
    "teatro opera palace palazzo plaza castle temple district village north south east west new saint"
)
KINSHIP = word_set(
    "mother father wife husband spouse son daughter brother sister child uncle aunt nephew niece cousin "
    "grandfather grandmother grandson granddaughter father-in-law mother-in-law son-in-law daughter-in-law "
    "brother-in-law sister-in-law stepfather stepmother half-brother half-sister widow widower parent sibling "
    "twin namesake"
)
ROLES = word_set(
    "president lady king queen emperor empress prince princess pope bishop captain mayor governor senator "
    "minister chancellor secretary judge general admiral leader head chief chairman founder architect designer "
    "engineer builder director author writer novelist poet composer singer performer musician artist painter "
    "sculptor actor actress producer screenwriter scientist physicist chemist biologist mathematician astronomer "
    "inventor discoverer explorer athlete swimmer runner boxer footballer player coach manager champion winner "
    "laureate successor predecessor assassin attacker killer murderer owner employer teacher student pupil "
    "advisor adviser mentor partner man woman boy girl person conductor pianist guitarist drummer violinist "
    "namesake victim host editor publisher translator journalist politician lawyer doctor nurse philosopher "
    "historian economist sovereign monarch ruler bassist vocalist frontman skater golfer sprinter striker "
    "goalkeeper captain doctor scorer people someone who star couple"
)
PLACES = word_set(
    "city town country state village place county province region continent island river lake sea ocean mountain "
    "range capital birthplace hometown district borough location stadium venue hall church cathedral cemetery "
    "university college school street avenue park peninsula bay strait desert valley territory nation area"
)
PERSON_ENDINGS = ("er", "or", "ist", "ian", "ress", "eer", "ant", "man", "woman", "in-law")
NOT_PERSONS = word_set(
    "river skyscraper number tower chapter order power center theater water letter paper matter member newspaper "
    "summer winter october september november december charter banner computer color colour floor error factor "
    "sector harbor harbour motor tutor minor major corner border quarter paper other another former latter later "
    "over under after never cover offer answer meter liter kilometer diameter theatre layer power flower master- "
    "list list wrist twist century restaurant plant giant grant variant elephant instrument tributary oxygen peer "
    "career pioneer-ship beer opener poster chapter consumer weather feather leather semester crater mirror "
    "terror horror mayor-ship"
)
# Relational nouns, which identify a thing only together with another: "the capital of ...".
FUNCTIONAL = word_set(
    "capital birthplace mouth source height length depth width elevation population area name title date year "
    "cause place country city state river location symbol number color colour language currency religion "
    "nationality age flag anthem club team band label genre sequel prequel successor predecessor hometown "
    "residence home school university college headquarters summit peak tributary namesake basis subject theme "
    "setting runtime budget score result venue stadium continent region county province party profession "
    "occupation employer award prize"
)
_IRREGULAR_PLURALS = word_set("people men women children countrymen sportsmen alumni")
_SINGULARS = word_set("series species means")
NAME_PARTS: dict[str, str] = {
    "first name": "first",
    "given name": "first",
    "forename": "first",
    "christian name": "first",
    "surname": "last",
    "last name": "last",
    "family name": "last",
    "maiden name": "maiden",
    "middle name": "middle",
}


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
