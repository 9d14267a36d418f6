"""What texts of seven languages are made of: function words, months, number words, negations; and which one a text is.

A text of any other language still works: its words of up to three letters count as function words.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from iterative_rag.patterns import lazy_pattern

_FUNCTION_WORDS = {
    "en": "the a an of in on at by from for with to into and or but nor so as than that this these those it its he "
    "she they them him her his their hers who whom whose which what where when how is are was were be been "
    "being has have had do does did will would can could may might shall should there here also both either "
    "each some any all not no about after before during between over under through until since while if then "
    "thus therefore hence only own same such very more most less least much many too just out up down off upon "
    "we you i my our your one because s yes already yet still even though although however once again ever "
    "whereas having itself himself herself who's that's it's there's whether",
    "de": "der die das des dem den ein eine einer eines einem einen und oder aber doch so als dass da in im an am auf "
    "aus bei beim mit nach von vom vor zu zum zur für über unter durch um bis seit während gegen ohne er sie es "
    "ihm ihn ihr ihre ihrer ihrem ihren ihres sein seine seiner seinem seinen seines wer was wo wann wie welche "
    "welcher welches welchem welchen deren dessen ist sind war waren wird werden wurde wurden worden hat haben "
    "hatte hatten kann können konnte auch nur noch schon sehr mehr nicht kein keine keinen diese dieser dieses "
    "diesem diesen jener jene dort hier dann damit daher darum man sich beide beiden weil dafür dabei wegen ja "
    "nein bereits erst jedoch sowie jeweils hingegen dagegen jeder jede jedes jeden jedem alle allen alles "
    "wobei worin womit wodurch davon darin dazu deshalb also zwar wenn ob obwohl nachdem bevor sei habe bin "
    "selbst etwa rund",
    "fr": "le la les l un une des du de d et ou mais donc or ni car que qu qui quoi dont où quand comment ce cet "
    "cette ces c se s sa son ses leur leurs il elle ils elles lui en y à au aux dans par pour sur sous avec "
    "sans entre vers chez depuis pendant avant après est sont était étaient fut furent être été a ont avait "
    "avaient ne n pas plus très aussi ainsi alors là ici même deux quel quelle quels quelles on nous vous je j "
    "m t t-il parce si tout oui non puisque puisqu lorsque lorsqu déjà cependant tandis jusque jusqu quoique "
    "celui celle ceux celles cela ça ayant étant eu soit encore seulement environ presque lequel laquelle",
    "es": "el la los las un una unos unas de del al a y e o u pero sino que quien quienes cual cuales cuyo cuya donde "
    "cuando como en por para con sin sobre entre hasta desde hacia durante tras se su sus lo le les él ella "
    "ellos ellas es son era eran fue fueron ser sido ha han había no ni más muy también así entonces esto este "
    "esta estos estas ese esa ambos qué quién cuál cuándo dónde cuántos cuántas cuánto cuánta porque si ya "
    "tenía tiene sí pues aunque mientras según todavía aún solo sólo siendo habiendo hay aquel aquella ambas "
    "ello eso cada cuyos cuyas luego hace",
    "it": "il lo la i gli le l un uno una di d del dello della dei degli delle dell a al allo alla ai agli alle all "
    "da dal dallo dalla dai dagli dalle dall in nel nello nella nei negli nelle nell su sul sulla con per tra "
    "fra e ed o ma che chi cui quale quali dove quando come non né più molto anche così quindi si suo sua suoi "
    "sue loro lui lei egli essa è sono era erano fu furono essere stato stata stati state ha hanno aveva questo "
    "questa questi queste c perché sì no già mentre poiché ancora però solo quello quella quelli quelle ciò "
    "essendo avendo ogni cioè dunque circa",
    "pt": "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem sobre entre até "
    "desde e ou mas que quem qual quais cujo cuja onde quando como não nem mais muito também assim então se seu "
    "sua seus suas ele ela eles elas é são era eram foi foram ser sido tem têm tinha isto este esta estes estas "
    "ao aos à às já enquanto pois ainda porém embora só apenas cada isso aquele aquela sendo tendo havia há lhe",
    "nl": "de het een en of maar want dus die dat dit deze der in op aan bij met naar van voor tot uit over onder "
    "door om tegen zonder tussen hij zij ze hem haar zijn hun wie wat waar wanneer hoe welke is was waren wordt "
    "werd werden worden heeft hebben had hadden kan kon ook niet geen nog zeer meer er daar hier dan toen te "
    "als al reeds echter terwijl omdat doordat alle elk elke zelf slechts ongeveer",
}
# Words that say little more than that something is said: they need no proof of their own.
_LIGHT = {
    "en": "answer called named known year years old age aged work works person people one two another other total "
    "makes make came comes say says said according stated question namely respectively date name lies lie "
    "stands located situated measures measured amounts equals totals counts refers means belongs article "
    "articles document documents fact facts source sources quote passage place happened occurred answered day "
    "days time dates dated",
    "de": "jahr jahre jahren alt alter werk werke namens genannt heißt hieß antwort laut frage name liegt liegen "
    "steht befindet beträgt betrug misst messen zählt umfasst lautet bedeutet gehört artikel dokument quelle "
    "quellen fakten insgesamt beantwortet tag tage tagen zeit datiert",
    "fr": "an ans année années âge âgé âgée œuvre oeuvre nommé nommée appelé appelée réponse selon nom situé située "
    "trouve mesure mesurait compte s'élève vaut signifie article document source sources faits total lieu eu "
    "jour jours temps date",
    "es": "año años edad obra llamado llamada respuesta según nombre situado situada mide medía cuenta significa "
    "artículo documento fuente fuentes hechos total lugar se día días tiempo fecha",
    "it": "anno anni età opera chiamato chiamata risposta secondo nome situato situata trova misura conta significa "
    "articolo documento fonte fonti fatti totale luogo giorno giorni tempo data",
    "pt": "ano anos idade obra chamado chamada resposta segundo nome mede conta significa artigo documento fonte "
    "fontes fatos total lugar dia dias tempo data",
    "nl": "jaar jaren oud leeftijd werk genaamd antwoord volgens naam meet telt bedraagt betekent artikel document "
    "bron bronnen feiten totaal dag dagen tijd",
}
# Which of two is more: what a comparison concludes, not what a fact states.
_COMPARING = {
    "en": "before after earlier later older younger longer shorter larger smaller bigger higher lower taller more "
    "less fewer greater first last second difference apart exactly while whereas both same elder eldest than "
    "compared equally likewise alike",
    "de": "früher später älter jünger länger kürzer größer kleiner höher niedriger mehr weniger zuerst eher beide "
    "beides",
    "fr": "avant après plus moins ancien ancienne jeune aîné aînée premier première tous toutes",
    "es": "antes después más menos mayor menor primero primera ambos ambas",
    "it": "prima dopo più meno maggiore minore primo entrambi entrambe",
    "pt": "antes depois mais menos maior menor primeiro ambos ambas",
    "nl": "eerder later ouder jonger langer korter groter kleiner hoger meer minder eerst beide",
}
_NEGATIONS = {
    "en": "not never no neither nor without nobody none t",
    "de": "nicht nie niemals kein keine keinen keiner keinem ohne weder",
    "fr": "pas jamais aucun aucune ni sans",
    "es": "no nunca jamás ningún ninguna ninguno sin ni",
    "it": "non mai nessun nessuno nessuna senza né",
    "pt": "não nunca jamais nenhum nenhuma sem nem",
    "nl": "niet nooit geen zonder noch",
}
_MONTHS = (
    "january january januar janvier enero gennaio janeiro januari января stycznia",
    "february februar février febrero febbraio fevereiro februari февраля lutego",
    "march märz mars marzo março maart марта marca",
    "april avril abril aprile апреля kwietnia",
    "may mai mayo maggio maio mei мая maja",
    "june juni juin junio giugno junho июня czerwca",
    "july juli juillet julio luglio julho июля lipca",
    "august août agosto augustus августа sierpnia",
    "september septembre septiembre setiembre settembre setembro сентября września",
    "october oktober octobre octubre ottobre outubro октября października",
    "november novembre noviembre novembro ноября listopada",
    "december dezember décembre diciembre dicembre dezembro декабря grudnia",
)
_SHORT_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_NUMBER_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn zwanzig",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove venti",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito "
    "dezenove vinte",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien "
    "achttien negentien twintig",
}
_TENS = {
    "en": "thirty forty fifty sixty seventy eighty ninety",
    "de": "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "trente quarante cinquante soixante",
    "es": "treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "it": "trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "pt": "trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "nl": "dertig veertig vijftig zestig zeventig tachtig negentig",
}
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_PLAIN = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})


@lru_cache(maxsize=65536)
def folded(text: str) -> str:
    """Small letters without accents."""
    text = text.casefold().translate(_PLAIN)
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def _sets(lists: dict[str, str]) -> dict[str, frozenset[str]]:
    return {language: frozenset(folded(words).split()) for language, words in lists.items()}


_FUNCTION, _LIGHTS, _COMPARES, _NOT = (_sets(lists) for lists in (_FUNCTION_WORDS, _LIGHT, _COMPARING, _NEGATIONS))
MONTHS = {word: n for n, line in enumerate(_MONTHS, start=1) for word in folded(line).split()} | {
    word: n for n, word in enumerate(_SHORT_MONTHS.split(), start=1)
}
_NUMBERS = {
    language: {word: n for n, word in enumerate(folded(words).split(), start=2)}
    | {word: 10 * n for n, word in enumerate(folded(_TENS[language]).split(), start=3)}
    for language, words in _NUMBER_WORDS.items()
}


@lru_cache(maxsize=16384)
def language(text: str) -> str:
    """The code of the language whose function words a text holds most of; "" where that cannot be told."""
    words = [folded(word) for word in _LETTERS.findall(text)]
    counted = {code: sum(word in known for word in words) for code, known in _FUNCTION.items()}
    best, *others = sorted(counted, key=lambda code: -counted[code])
    clear = counted[best] >= 2 and counted[best] > counted[others[0]] and 5 * counted[best] >= len(words)
    return best if clear else ""


def is_function_word(word: str, code: str) -> bool:
    """Whether a folded word carries no meaning of its own in the language; in an unknown one, whether it is short."""
    if code:
        return word in _FUNCTION[code] or word in _LIGHTS[code] or len(word) == 1
    return len(word) <= 3 or any(word in known for known in _FUNCTION.values())


def is_comparing(word: str, code: str) -> bool:
    return any(word in known for known in _COMPARES.values()) if not code else word in _COMPARES[code]


def is_negation(word: str, code: str) -> bool:
    return any(word in known for known in _NOT.values()) if not code else word in _NOT[code]


def number_of(word: str, code: str) -> int | None:
    """ "seven" and "twenty-one" as numbers; "one" is an article in too many languages."""
    known = _NUMBERS.get(code or "en", {})
    if word in known:
        return known[word]
    tens, dash, unit = word.partition("-")
    if dash and known.get(tens, 0) >= 20 and (unit in known or unit == "one"):
        return known[tens] + known.get(unit, 1)
    return known.get(tens) if dash else None
