"""Hypernyms for closed questions: a novelist is a writer, a documentary is a film."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import stem

# One line for each class: the first word holds where a text has any of the others.
_KINDS = """
person man woman people actor singer writer director politician player
writer novelist poet playwright author screenwriter journalist essayist dramatist columnist lyricist biographer satirist
author novelist poet playwright writer essayist dramatist wrote
novelist novels novel
poet poetry poems
journalist reporter columnist correspondent editor
musician singer guitarist pianist drummer bassist rapper vocalist composer songwriter violinist cellist saxophonist
musician trumpeter organist keyboardist multi-instrumentalist dj frontman percussionist conductor
singer vocalist vocals frontman singer-songwriter soprano tenor mezzo-soprano baritone rapper frontwoman sang
songwriter singer-songwriter lyricist
composer composed composes
vocalist singer frontman frontwoman vocals
vocals vocalist singer
artist painter sculptor singer musician rapper photographer illustrator cartoonist printmaker
actor actress thespian starred starring film-actor
actress actor
filmmaker director producer screenwriter film-maker cinematographer
director filmmaker directed directing film-maker
producer produced
screenwriter screenplay scriptwriter writer
animator animation animated cartoonist
entertainer singer actor comedian dancer presenter
comedian comic satirist stand-up
athlete player footballer swimmer runner sprinter boxer skater gymnast cyclist wrestler jumper skier rower golfer
sportsperson player footballer swimmer runner sprinter boxer skater gymnast cyclist wrestler athlete
footballer football soccer midfielder striker goalkeeper defender
player plays played
scientist physicist chemist biologist mathematician astronomer naturalist physiologist botanist geologist zoologist
academic professor scholar lecturer
professor academic lecturer
politician senator congressman minister president governor mayor representative statesman mp
lawyer attorney barrister solicitor jurist
doctor physician surgeon
businessman entrepreneur executive founder industrialist ceo businessperson
philosopher philosophy
translator translated translation
chef cook restaurateur
film movie documentary drama comedy thriller western picture musical cartoon feature
movie film documentary drama comedy thriller
feature film movie
documentary docudrama documentary-film
cartoon animated animation
animated animation cartoon
song single track ballad
album record lp ep
record album
band group duo trio quartet quintet act ensemble boyband
group band duo trio quartet quintet
publication magazine newspaper journal periodical weekly monthly newsletter tabloid
magazine periodical journal publication
newspaper daily tabloid broadsheet
periodical magazine journal newspaper
book novel memoir anthology biography novella textbook
game boardgame videogame
series sitcom show
show series sitcom program programme
breed dog hound spaniel terrier retriever
dog breed hound spaniel terrier retriever shepherd
hound scenthound sighthound
plant flowering herb shrub tree genus perennial flower
flower flowering
tree trees conifer
shrub shrubs
large tree trees tall giant big largest
tall tree trees high
small herb little tiny
genus genera
species genus
animal mammal bird reptile fish insect
city town municipality metropolis prefecture-level commune
town city municipality village
village hamlet settlement
settlement village town city hamlet
company corporation firm manufacturer conglomerate subsidiary business retailer enterprise brand
business company corporation firm
university college institution school
college university school institution
school university college academy institute
institution university college school museum
airport airfield aerodrome
restaurant pizzeria chain eatery cafe
drink beverage cocktail soda soft-drink liqueur lemonade
beverage drink cocktail soda
cocktail drink
building skyscraper tower hotel house mall museum library hall
skyscraper tower building
church cathedral basilica chapel abbey
cathedral church minster
mountain peak mount summit volcano
river stream tributary
lake reservoir loch
organization association society charity foundation institute union agency
organisation association society charity foundation institute union agency
party political
league division championship
team club side
club team
opera operetta
play drama tragedy comedy
ship vessel frigate destroyer cruiser battleship steamship
aircraft airplane fighter bomber airliner
weapon rifle gun pistol missile
mine mining
canal waterway
private independent
public state
located situated lies based
situated located lies based
based headquartered located
native indigenous endemic originating from
founded established formed created started began launched opened
formed founded established began
established founded formed created
published released issued founded launched
released published premiered
created made developed founded designed
built constructed completed erected
died deceased death
known famous noted best-known renowned
famous known notable noted renowned acclaimed celebrated
famed known
popular popularity best-seller bestseller hit famous best-selling successful
successful success hit
award prize awarded
awards prize awarded won
prize award awarded
win won winner winning champion awarded
winner won winning awarded recipient
receive received awarded won
member members frontman vocalist guitarist bassist drummer singer leader founding
leader led head
work worked works working
write wrote written writes author
serve served serves
compete competed competes
industry business
"""

_NARROWER: dict[str, frozenset[str]] = {}
_NEAR: dict[str, tuple[str, ...]] = {}
for _line in _KINDS.strip().splitlines():
    _head, *_others = _line.split()
    _NARROWER[stem(_head)] = _NARROWER.get(stem(_head), frozenset()) | {stem(other) for other in _others}
    for _one, _rest in ((_head, _others), *((_other, [_head]) for _other in _others)):
        _NEAR[stem(_one)] = (*_NEAR.get(stem(_one), ()), *_rest)


def counts_as(stemmed: str) -> frozenset[str]:
    """The stem and those of its hyponyms: a text that uses one of them supports `stemmed`."""
    return _NARROWER.get(stemmed, frozenset()) | {stemmed}


def near_kinds(stemmed: str) -> tuple[str, ...]:
    """Hypernyms and hyponyms of a stem, as spelled words."""
    return tuple(dict.fromkeys(word for word in _NEAR.get(stemmed, ()) if stem(word) != stemmed))
