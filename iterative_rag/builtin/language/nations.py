"""Countries with their adjectives and the larger regions that contain them, so that "Texas" matches "American"."""

from __future__ import annotations

import re
from functools import lru_cache

from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern

# One line for each region: its name, then its countries, each as name "=" other names and adjectives; "_" is a space.
_CONTINENTS = "europe=european asia=asian africa=african oceania=oceanian north_america= south_america="
_COUNTRIES = """
europe: albania=albanian andorra=andorran austria=austrian belarus=belarusian belgium=belgian,flemish,walloon
europe: bosnia=bosnian,bosnia_and_herzegovina bulgaria=bulgarian croatia=croatian,croat cyprus=cypriot
europe: czech_republic=czech,czechia,czechoslovakia,czechoslovak denmark=danish,dane estonia=estonian
europe: finland=finnish,finn
europe: france=french,frenchman germany=german,west_germany,east_germany,prussia,prussian,bavarian
europe: greece=greek hungary=hungarian iceland=icelandic,icelander ireland=irish,republic_of_ireland italy=italian
europe: kosovo=kosovar latvia=latvian liechtenstein= lithuania=lithuanian luxembourg=luxembourgish malta=maltese
europe: moldova=moldovan monaco=monegasque
europe: montenegro=montenegrin netherlands=dutch,holland,dutchman norway=norwegian
europe: macedonia=macedonian,north_macedonia poland=polish,pole portugal=portuguese romania=romanian
europe: russia=russian,soviet,soviet_union,ussr san_marino= serbia=serbian,serb,yugoslavia,yugoslav slovakia=slovak
europe: slovenia=slovenian,slovene spain=spanish,spaniard,catalan,basque,catalonia sweden=swedish,swede
europe: switzerland=swiss ukraine=ukrainian united_kingdom=british,britain,great_britain,uk,u.k vatican=vatican_city
united_kingdom: england=english,englishman scotland=scottish,scot,scots wales=welsh northern_ireland=northern_irish
asia: afghanistan=afghan armenia=armenian azerbaijan=azerbaijani
asia: bahrain=bahraini bangladesh=bangladeshi bhutan=bhutanese
asia: brunei=bruneian cambodia=cambodian,khmer china=chinese,prc,people's_republic_of_china georgia_country=
asia: hong_kong=hongkonger india=indian indonesia=indonesian iran=iranian,persian,persia iraq=iraqi israel=israeli
asia: japan=japanese jordan_country=jordanian kazakhstan=kazakh,kazakhstani
asia: kuwait=kuwaiti kyrgyzstan=kyrgyz laos=laotian
asia: lebanon=lebanese malaysia=malaysian maldives=maldivian
asia: mongolia=mongolian myanmar=burmese,burma nepal=nepali,nepalese
asia: north_korea=north_korean oman=omani
asia: pakistan=pakistani palestine=palestinian philippines=filipino,philippine,filipina
asia: qatar=qatari saudi_arabia=saudi,saudi_arabian singapore=singaporean south_korea=south_korean,korean,korea
asia: sri_lanka=sri_lankan syria=syrian taiwan=taiwanese tajikistan=tajik thailand=thai turkey=turkish,ottoman
asia: turkmenistan=turkmen united_arab_emirates=emirati,uae uzbekistan=uzbek vietnam=vietnamese yemen=yemeni
africa: algeria=algerian angola=angolan benin=beninese
africa: botswana= burundi=burundian cameroon=cameroonian chad_country=chadian
africa: congo=congolese egypt=egyptian eritrea=eritrean
africa: ethiopia=ethiopian gabon=gabonese gambia=gambian ghana=ghanaian
africa: guinea=guinean ivory_coast=ivorian kenya=kenyan lesotho= liberia=liberian libya=libyan madagascar=malagasy
africa: malawi=malawian mali=malian mauritania=mauritanian
africa: mauritius=mauritian morocco=moroccan mozambique=mozambican
africa: namibia=namibian niger=nigerien nigeria=nigerian
africa: rwanda=rwandan senegal=senegalese seychelles= somalia=somali
africa: sierra_leone=sierra_leonean south_africa=south_african sudan=sudanese tanzania=tanzanian togo=togolese
africa: tunisia=tunisian uganda=ugandan zambia=zambian zimbabwe=zimbabwean,rhodesia,rhodesian
oceania: australia=australian fiji=fijian new_zealand=new_zealander samoa=samoan tonga=tongan papua_new_guinea=
north_america: bahamas=bahamian barbados=barbadian belize=belizean
north_america: canada=canadian,quebec costa_rica=costa_rican cuba=cuban
north_america: dominican_republic=dominican el_salvador=salvadoran
north_america: guatemala=guatemalan haiti=haitian honduras=honduran
north_america: jamaica=jamaican mexico=mexican nicaragua=nicaraguan panama=panamanian puerto_rico=puerto_rican
north_america: trinidad=trinidadian united_states=american,usa,us,u.s,u.s.a,united_states_of_america
south_america: argentina=argentine,argentinian bolivia=bolivian brazil=brazilian chile=chilean colombia=colombian
south_america: ecuador=ecuadorian guyana=guyanese paraguay=paraguayan peru=peruvian suriname=surinamese
south_america: uruguay=uruguayan venezuela=venezuelan
canada: ontario= british_columbia= alberta= manitoba= saskatchewan= nova_scotia= newfoundland= new_brunswick=
australia: new_south_wales= queensland= tasmania= south_australia= western_australia=
united_states: alabama= alaska= arizona= arkansas= california=californian colorado= connecticut= delaware= florida=
united_states: hawaii=hawaiian idaho= illinois= indiana= iowa= kansas= kentucky= louisiana= maine= maryland=
united_states: massachusetts= michigan= minnesota= mississippi= missouri= montana= nebraska= nevada= new_hampshire=
united_states: new_jersey= new_mexico= new_york= north_carolina= north_dakota= ohio= oklahoma= oregon= pennsylvania=
united_states: rhode_island= south_carolina= south_dakota= tennessee=
united_states: texas=texan utah= vermont= virginia= wisconsin=
united_states: wyoming= west_virginia= washington_state=
"""

_CODES: dict[str, str] = {}
_PART_OF: dict[str, str] = {}


def _enter(entry: str, whole: str) -> None:
    name, _, others = entry.partition("=")
    _PART_OF[name] = whole
    for said in [name, *others.split(",")]:
        if said:
            _CODES[said.replace("_", " ")] = name


for _entry in _CONTINENTS.split():
    _enter(_entry, "")
for _line in _COUNTRIES.strip().splitlines():
    _whole, _, _entries = _line.partition(": ")
    for _entry in _entries.split():
        _enter(_entry, _whole)

_NATION = lazy_pattern(
    rf"(?<![\w.])(?:{'|'.join(sorted((re.escape(said) for said in _CODES), key=len, reverse=True))})(?![\w])"
)
# Only capitalized words name a country: "turkey" does not.
_LARGE = lazy_pattern(r"[A-ZÀ-Þ]")


@lru_cache(maxsize=4096)
def nations_in(text: str) -> tuple[str, ...]:
    """Countries, states and continents mentioned in a text by name or adjective, in order, without duplicates."""
    found = []
    for match in _NATION.finditer(folded_in_place(text)):
        if _LARGE.match(text[match.start()]):
            found.append(_CODES[match[0]])
    return tuple(dict.fromkeys(found))


def wholes(nation: str) -> tuple[str, ...]:
    """A nation and the larger ones that contain it: ("texas", "united_states", "north_america")."""
    found = [nation]
    while whole := _PART_OF.get(found[-1], ""):
        found.append(whole)
    return tuple(found)


def country_of(nation: str) -> str:
    """The country of a state or part of a country; a continent is returned unchanged."""
    line = wholes(nation)
    return line[-2] if len(line) > 1 else line[0]


def within(nation: str, larger: str) -> bool:
    """Whether a nation equals `larger` or is part of it."""
    return larger in wholes(nation)
