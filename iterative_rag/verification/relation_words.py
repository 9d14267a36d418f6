"""Words of several languages that say the same relation, so that a claim need not repeat the words of its quote.

Tight on purpose: what merely goes together (directed and produced, born and lived) is two lines. An entry that ends
in * stands for all words that begin so; all are folded.
"""

from __future__ import annotations

from functools import lru_cache

_SAME = """
design* architect* drew drawn draw* entwarf entworfen entwerf* baumeister* concu* concev* dessin* disen* progett*
built build* construct* erect* gebaut* baute* errichtet* construi* batir bati* edific* costrui*
born birth* geboren* geburt* ne nee nes naissance naquit nacio nacid* nacim* nato nata nasc* nacq*
died dies die death* dead starb* gestorben* tod todes verstorben* mort* meurt mouru* deced* murio muert* falleci* mori
wrote writ* author* novelist* compos* verfass* schrieb* geschrieben* komponi* ecri* auteur* escri* scri* songwriter*
direct* filmmaker* regie* regisseur* realis* dirig* dirett* diretto regist*
publish* appear* issued released releas* erschien* veroffentlich* publi* paru* parai* pubblic* aparec*
found* establish* grund* gegrund* fond* fund*
open* inaugur* eroffn* ouvert* ouvr* abierto abri* apert*
finish* complet* ended fertig* vollend* acheve* termin* acab* conclu*
married marri* wife husband spouse* heirat* verheirat* ehefrau* ehemann* epou* mariee casad* espos* spos* moglie marito
buried burial bury* grave begrab* beigesetzt* enterr* inhum* sepol* sepult*
population* inhabit* people residents einwohner* bevolker* habitant* poblacion abitant* popolazione
tall* high* height* hoch* hoh* haut* alt altos alta altas altura* altezza* alto
long* length* lang* longue* larg* longit* lungh* lungo
held hosted took place celebr* stattfand* stattgefunden* svolse svolt*
win wins won took winner* award* receiv* went gewann* gewonn* gewinn* erhielt* erhalt* gagn* recu recev* gan* recib*
town city cities towns stadt* ville* ciudad* citta
film* movie* pelicula*
paint* malte* gemalt* maler* gemald* peint* peign* pint* dipin* pittor* cuadro
sing* sang sung sanger* chant* cant*
play* spielt* gespielt* jou* toc* suon*
fight* fought battle* kampf* schlacht*
lead leads leader* led
leave leaves left
sell sells sold
hold holds held
become becomes became
begin begins began begun start*
choose* chose chosen
give gives gave given
grow grows grew grown
know knows knew known
make makes made
meet meets met
take takes took taken
teach* taught
buy buys bought
bring brings brought
lose* lost loss
fall falls fell fallen
speak* spoke spoken
go goes went gone
come comes came
shoot* shot
kill* murder* assassinat* slain
gab gegeben geben gibt
nahm genommen nehm*
ging gegangen geht gehen
kam gekommen kommt kommen
zog gezogen zieht ziehen
trug getragen trag*
verlor* verlier*
fand gefunden find*
wuchs gewachsen aufgewachsen wachs*
"""
_WHOLE: dict[str, set[int]] = {}
_BEGINNINGS: dict[str, set[int]] = {}
for _n, _line in enumerate(_SAME.strip().splitlines()):
    for _entry in _line.split():
        _table = _BEGINNINGS if _entry.endswith("*") else _WHOLE
        _table.setdefault(_entry.rstrip("*"), set()).add(_n)
# Lines that are needed by name: what stands in "(3 March 1874 – 1950)".
BORN, DIED = (next(iter(_WHOLE[word])) for word in ("born", "died"))


@lru_cache(maxsize=32768)
def relations(word: str) -> frozenset[int]:
    """The lines that a folded word belongs to."""
    found = set(_WHOLE.get(word, ()))
    for length in range(3, len(word) + 1):
        found |= _BEGINNINGS.get(word[:length], set())
    return frozenset(found)
