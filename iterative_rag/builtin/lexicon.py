"""What words of a question may look like in a text: relation synonyms, kinds of answer, units, superlatives."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from iterative_rag.builtin.words import stem, word_set, words


class Kind(StrEnum):
    """The expected type of an answer."""

    PERSON = "person"
    PLACE = "place"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    NAME = "name"
    THING = "thing"
    YES_NO = "yes/no"


# Where the first word is asked for, the others may stand in the text; of a line with "=" each may stand for each.
_SYNONYMS = """
=wife husband spouse married marriage wed wedding widow widower consort
mother mom parents
father dad parents
son child children
daughter child children
brother sibling siblings
sister sibling siblings
architect designer designed design architects designers drew
designer designed design architect
builder built build constructed engineer
engineer engineered structural
born birth birthplace birthdate native birthday
birthplace born birth native
died death dead die passed
buried resting grave burial tomb interred
author wrote written writer writers novelist penned
writer wrote written author writers screenplay screenwriter
director directed direct directs filmmaker
composer composed compose music wrote scored score
composed composer compose wrote
singer sang sung sings performer performed recorded vocalist artist
performer singer artist performed band
producer produced
founder founded establish established founders founding
founded established founder started formed founding built
opened opening inaugurated inauguration completed open premiere premiered
completed finished built completion opened
built constructed completed construction erected finished
length long kilometers kilometres km runs
long length runtime running duration minutes
height tall high elevation altitude roof
tall height high
high height elevation tall altitude
elevation height altitude high
deep depth
wide width
area covers large size square
population inhabitants people residents census
mouth empties empty flows flow ends joins drains discharges
source rises rise begins spring headwaters origin
rise source rises begins headwaters spring
begin source starts rises
tributary tributaries joins
river rivers banks bank stream
lies stands located location situated lie
located location situated lies stands city
location located situated stands
successor succeeded followed after took over
succeeded successor followed after replaced
predecessor preceded before
preceded predecessor
follow followed succeeded successor after
assassin shot killed murdered assassinated killer
assassinated shot killed murdered assassination murder assassin
killed shot murdered assassinated murder kill slain
shot killed assassinated assassin shoot
attacker assassin killer
president presidency presidents
capital capitals
country countries nation state
nationality born country citizen
named namesake eponym honor honour called after
namesake named honor
teacher taught teachers tutor mentor
student pupil taught studied students doctoral
advisor adviser supervisor advisors supervised
studied study graduated education educated attended university college school alma degree
attended education graduated studied
graduated education degree attended studied
education graduated studied attended degree
award prize awards awarded won honours honors
prize award awarded won laureate prizes
won win winner winners champion champions awarded received gold prize
winner won champion winners champions
received won awarded
laureate prize nobel awarded won
occupation profession worked career
employer worked company firm employee employed
club team played
discovered discovery discoverer discoverers isolated found
discoverer discovered discoverers
inventor invented invention
member members belonged band
come released release premiered premiere published
release released publish came published premiered date
released release came premiered published
published publication publisher released appeared came
film movie picture
movie film
novel book
book novel
album record
starring starred star stars cast actor lead leading
star starring cast leading
actor actress cast starring star plays played lead
actress actor cast starring star played
play played role cast
runtime length minutes running
minute runtime length running
language spoken languages
religion faith church
currency money
cause reason
stadium venue ground arena
venue stadium ground held hosted
hosted host held city games
host hosted city
age aged old
old age aged
floor floors storeys stories
floors floor storeys stories
cost price budget paid dollars
tallest highest height
highest tallest elevation height
largest biggest greatest
biggest largest greatest
longest length
oldest first earliest
first earliest
mayor mayors
coach manager trainer
symbol symbols
element chemical
atomic number
torn demolished demolition pulled destroyed
sign signed act law
law act signed
dedicate dedicated dedication unveiled inaugurated
conductor conducted conduct
premiere premiered first performed performance
performed premiere premiered performance performances
basis based inspired inspiration
based basis inspired inspiration
separate separates between border divides
goal goals scored
score result goals
final finals championship
middle full
=lost lose loser runner beaten defeated
present now today modern currently
current now today present
maiden nee born
nickname called known nicknamed
weigh weight mass
weight mass weigh
"""

_GROUPS: dict[str, frozenset[str]] = {}
for _line in _SYNONYMS.strip().splitlines():
    _words = _line.lstrip("=").split()
    for _head in _words if _line.startswith("=") else _words[:1]:
        _GROUPS[stem(_head)] = _GROUPS.get(stem(_head), frozenset()) | {stem(_word) for _word in _words}


# "Preceded by X" stands in the article of the one who followed X.
INVERSE: dict[str, frozenset[str]] = {
    stem(head): frozenset(stem(word) for word in rest.split())
    for head, rest in {
        "follow": "preceded predecessor",
        "succeed": "preceded predecessor",
        "successor": "preceded predecessor",
        "precede": "succeeded successor followed",
        "predecessor": "succeeded successor followed",
        "mother": "child children son daughter",
        "father": "child children son daughter",
        "son": "father mother parents",
        "daughter": "father mother parents",
        "child": "father mother parents",
        "wife": "husband spouse",
        "husband": "wife spouse spouses",
        "student": "teacher advisor advisors",
        "teacher": "students student pupil",
    }.items()
}
# Nouns that say nothing about the relation when they are asked for.
BARE_KINDS = frozenset(
    stem(word)
    for word in ["year", "date", "day", "name", "place", "city", "country", "state", "person", "man", "woman", "thing"]
)
# Larger places: the last part of "Fairfield, Vermont".
LARGER = frozenset(stem(word) for word in ["state", "country", "nation", "province", "region", "county"])
NOT_PERSON_WORDS = word_set(
    "river bridge tower building museum house university college school street avenue park church cathedral city "
    "county state states lake mountain mount island national prize award house company corporation republic "
    "kingdom world war olympics games cup theatre theater hall station academy institute society association "
    "league association act union empire center centre hotel hospital library airport championship festival "
    "district village north south east west new saint"
)


@lru_cache(maxsize=8192)
def alike(stemmed: str) -> frozenset[str]:
    """The stems that may stand for `stemmed` where a relation is looked for, itself included."""
    # The one who does it: "built" and "builder", "composed" and "composer".
    agents = {f"{stemmed}er", f"{stemmed}or"} if len(stemmed) > 3 else set()
    acts = {stemmed[:-2]} if stemmed.endswith(("er", "or")) and len(stemmed) > 6 else set()
    return _GROUPS.get(stemmed, frozenset()) | agents | acts | {stemmed}


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
    "goalkeeper captain American doctor scorer people someone who star couple"
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
# Nouns that need an "of": the thing they name depends on another.
FUNCTIONAL = word_set(
    "capital birthplace mouth source height length depth width elevation population area name title date year "
    "cause place country city state river location symbol number color colour language currency religion "
    "nationality age flag anthem club team band label genre sequel prequel successor predecessor hometown "
    "residence home school university college headquarters summit peak tributary namesake basis subject theme "
    "setting runtime budget score result venue stadium continent region county province party profession "
    "occupation employer award prize"
)
SUPERLATIVES: dict[str, int] = {
    # +1: the greatest value comes first; -1: the smallest.
    "tallest": 1,
    "highest": 1,
    "largest": 1,
    "biggest": 1,
    "longest": 1,
    "greatest": 1,
    "deepest": 1,
    "widest": 1,
    "heaviest": 1,
    "newest": 1,
    "latest": 1,
    "last": 1,
    "youngest": 1,
    "fastest": -1,
    "shortest": -1,
    "smallest": -1,
    "lowest": -1,
    "oldest": -1,
    "earliest": -1,
    "first": -1,
    "lightest": -1,
    "narrowest": -1,
    "nearest": -1,
    "closest": -1,
    "most": 1,
    "fewest": -1,
    "least": -1,
}
# Adjectives of measure: what is measured.
MEASURES: dict[str, str] = {
    "tall": "height",
    "taller": "height",
    "tallest": "height",
    "high": "height",
    "higher": "height",
    "highest": "height",
    "lower": "height",
    "long": "length",
    "longer": "length",
    "longest": "length",
    "shorter": "length",
    "deep": "depth",
    "deeper": "depth",
    "wide": "width",
    "wider": "width",
    "large": "area",
    "larger": "area",
    "bigger": "area",
    "big": "area",
    "smaller": "area",
    "heavier": "weight",
    "heavy": "weight",
    "lighter": "weight",
    "populous": "population",
    "old": "age",
}
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
    """Whether a noun names people: kinship, office, or an ending of occupations."""
    noun = noun.lower()
    single = noun.removesuffix("s") if noun not in KINSHIP | ROLES else noun
    if noun in KINSHIP or noun in ROLES or single in KINSHIP or single in ROLES:
        return True
    return single not in NOT_PERSONS and len(single) > 4 and single.endswith(PERSON_ENDINGS)


def kind_of_noun(noun: str) -> Kind:
    """What kind of answer "which NOUN" asks for."""
    noun = noun.lower()
    single = noun.removesuffix("s")
    if noun in {"year", "years", "decade", "century"}:
        return Kind.YEAR
    if noun in {"date", "day", "birthday", "month"}:
        return Kind.DATE
    if noun in PLACES or single in PLACES or (single.endswith("ie") and single[:-2] + "y" in PLACES):
        return Kind.PLACE
    if noun in {"name", "title"}:
        return Kind.NAME
    if noun in {"height", "length", "depth", "width", "elevation", "population", "area", "age", "number", "distance"}:
        return Kind.NUMBER
    if names_person(noun):
        return Kind.PERSON
    return Kind.THING


def has_any(text: str, stems: frozenset[str]) -> bool:
    return any(stem(word) in stems for word in words(text))
