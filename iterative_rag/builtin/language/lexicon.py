"""How the words of a question appear in texts: synonyms of relations, answer kinds, superlatives, measures."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from iterative_rag.builtin.language.function_words import stem, word_set
from iterative_rag.builtin.language.nouns import PLACES, names_person


class AnswerKind(StrEnum):
    """The expected type of an answer."""

    PERSON = "person"
    PLACE = "place"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    NAME = "name"
    THING = "thing"
    YES_NO = "yes/no"


# One line for each word asked for and the words that a text may use instead; with "=", all stand for each other.
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
wrote author writer written composed composer screenplay
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
people population inhabitants residents
inhabitants population people residents
=assassinated assassin
rise source rises spring
flow mouth empties empty flows ends joins drains discharges
empty mouth flow flows joins drains
climbed ascent climb climbers climbing ascended
climb ascent climbed climbers climbing
nickname nicknamed called known dubbed alias
play plays played portrayed role cast starring
portrayed plays played role
earn grossed gross office
cost price paid budget
coached coach trained trainer
belong belongs part member range archipelago league
real birth full
finished completed completion built
based basis inspired inspiration source
scientist physicist chemist biologist mathematician astronomer naturalist physiologist
musician singer pianist guitarist violinist composer drummer bassist
athlete runner swimmer sprinter jumper player champion
artist painter sculptor
=painted painter painting artist portrayed canvas
commissioned ordered paid
restored repaired renovated restoration
building skyscraper tower house hall museum
island isle islands
mountain peak mount volcano
seat headquarters based
headquarters based seat offices
start started began begun foundation
begun started began
owner owned owns owners
owns owner owned
operated operator operates
produced producer producers
sport played plays
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
laureate prize awarded won
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
_SPELLED: dict[str, tuple[str, ...]] = {}
for _line in _SYNONYMS.strip().splitlines():
    _words = _line.lstrip("=").split()
    for _head in _words if _line.startswith("=") else _words[:1]:
        _GROUPS[stem(_head)] = _GROUPS.get(stem(_head), frozenset()) | {stem(_word) for _word in _words}
        _SPELLED[stem(_head)] = (*_SPELLED.get(stem(_head), ()), *_words)

_FAMILIES = tuple({head, *group} for head, group in _GROUPS.items())


# Inverse relations: "Preceded by X" is in the article of X's successor.
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


@lru_cache(maxsize=8192)
def alike(stemmed: str) -> frozenset[str]:
    """The stem and those that a text may use for the same relation."""
    # Agent nouns: "built" and "builder", "composed" and "composer".
    agents = {f"{stemmed}er", f"{stemmed}or"} if len(stemmed) > 3 else set()
    acts = {stemmed[:-2]} if stemmed.endswith(("er", "or")) and len(stemmed) > 6 else set()
    return _GROUPS.get(stemmed, frozenset()) | agents | acts | {stemmed}


@lru_cache(maxsize=4096)
def are_told_apart(one: str, other: str) -> bool:
    """Whether the words that texts use for two relations are known (of their stems), and none stands for both."""
    known = all(any(word in group for group in _FAMILIES) for word in (one, other))
    return known and one != other and not any({one, other} <= group for group in _FAMILIES)


def synonyms(stemmed: str) -> tuple[str, ...]:
    """Synonyms of a stem as spelled words, nearest first."""
    return tuple(dict.fromkeys(word for word in _SPELLED.get(stemmed, ()) if stem(word) != stemmed))


SUPERLATIVES: dict[str, int] = {
    # +1: the greatest value ranks first; -1: the smallest.
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
# Adjectives of measure and the quantity that they compare.
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
    "far": "distance",
    "old": "age",
}


_AMOUNTS = word_set(
    "height length depth width elevation population area age number distance budget cost price weight mass speed"
)


def kind_of_noun(noun: str) -> AnswerKind:
    """The kind of answer that "which NOUN" asks for."""
    noun = noun.lower()
    single = noun.removesuffix("s")
    if noun in {"year", "years", "decade", "century"}:
        return AnswerKind.YEAR
    if noun in {"date", "day", "birthday", "month"}:
        return AnswerKind.DATE
    if noun in _AMOUNTS:
        return AnswerKind.NUMBER
    if noun in PLACES or single in PLACES or (single.endswith("ie") and single[:-2] + "y" in PLACES):
        return AnswerKind.PLACE
    if noun in {"surname", "forename"}:
        return AnswerKind.PERSON
    if noun in {"name", "title"}:
        return AnswerKind.NAME
    if names_person(noun):
        return AnswerKind.PERSON
    return AnswerKind.THING
