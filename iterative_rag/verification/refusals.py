"""Refusals in the guise of an answer ("cannot be determined from the facts"), in several languages.

A text is a refusal if all of it says so, never because it holds the words: a film may be called "I Don't Know How She
Does It", and a source may call a date unknown.
"""

from __future__ import annotations

import re
from functools import cache

from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Draft, Fact, Inquiry
from iterative_rag.verification.claim_splitting import cut

_MARKS = lazy_pattern(r"\s*\[\d+\]")
# What a refusal says it looked in; the words between do not matter.
_IN = (
    "from in by on based_on within according_to with given using aus anhand nach mit laut d'apres dans selon avec en "
    "segun con de da nei nelle dai dalle em com uit met op_basis_van"
)
_SOURCES = (
    "facts? documents? context corpus information sources? texts? passages? data question fakten dokumenten? texten? "
    "quellen? kontext informationen angaben faits contexte informations donnees textes? hechos documentos? contexto "
    "informacion fuentes datos textos? fatti documenti contesto informazioni fonti testi fatos informacoes feiten "
    "bronnen gegevens"
)
# What a refusal says, one or several ways a line, folded; names in braces stand for lists of words.
_SAID = r"""
(i|we) (do not|don't|cannot|can't|could not|couldn't) (know|tell|say|determine|answer|find){IT}
(it |this |that |the \w+ )?(is |was )?(not|cannot be|can't be|could not be|couldn't be|can not be) {DONE}
(it |this |that |the \w+ )?(is )?(unknown|unclear|unspecified|undetermined|unanswerable)
(there is )?(no|not enough|insufficient) (answer|information|data|facts?|mention|evidence)( was| is)?( {DONE})?
n/a|no idea|not applicable
(das |es )?(ist |wurde |wird |kann |konnte |lasst sich |liess sich )?nicht {GETAN}( werden)?
(ich )?weiss (es |ich )?nicht|unbekannt|unklar|keine (angaben?|antwort|informationen)( gefunden)?
(je )?ne sais pas|inconnue?|indetermine|pas (d'information|de reponse)|aucune (information|reponse|donnee)( trouvee)?
(cela |ce |c')?(ne |n')?(est |a |peut )?(pas|non) (ete )?(etre )?{FAIT}
impossible (de|a) (repondre|determiner|savoir|dire)
no (lo )?se|desconocid[oa]|no (encontrad[oa]|disponible|determinad[oa]|hay informacion|consta)
no se (sabe|encontro|encuentra|puede determinar|puede responder|puede saber|menciona|indica|ha encontrado)
non (lo )?so|sconosciut[oa]|ignot[oa]|nessuna (informazione|risposta)|non (trovat[oa]|disponibile|determinabile)
non si (sa|puo (determinare|sapere|dire|rispondere))|non e (noto|nota|specificato|indicato|possibile determinarlo)
nao (sei|se sabe|encontrad[oa]|foi encontrad[oa]|consta|e possivel (determinar|responder|saber)|ha informacao)
desconhecid[oa]
(ik )?weet (ik |het )?niet|onbekend|niet (gevonden|bekend|vermeld|te bepalen|te beantwoorden)
не (найдено|известно|указано|знаю|удалось определить)|неизвестно|нет (данных|информации)
nie (wiem|znaleziono|wiadomo|podano)|brak (informacji|danych)
不明|未知|不知道|无法确定|無法確定|わかりません|不明です|分かりません
"""
_PARTICIPLES = {
    "{IT}": "( it| this| that| an answer| the answer| the question| this question)?",
    "{DONE}": "(found|known|determined|answered|established|stated|specified|given|mentioned|available|provided|said|"
    "clear|identified|inferred)",
    "{GETAN}": "(gefunden|bekannt|bestimmt|bestimmbar|beantwortet|beantwortbar|ermittelt|ermitteln|beantworten|"
    "bestimmen|angegeben|genannt|erwahnt|feststellbar)",
    "{FAIT}": "(trouvee?|connue?|determinee?|precisee?|mentionnee?|indiquee?|possible)",
}
# What is said of the sources: "the facts do not say ...".
_SILENT = (
    "do not|does not|don't|doesn't|nennen|sagen|enthalten|geben|ne (disent|donnent|mentionnent|precisent)|"
    "no (dicen|indican|mencionan|dan)|non (dicono|indicano|menzionano)|nao (dizem|indicam|mencionam)|zeggen|vermelden"
)


def _any(words: str) -> str:
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


def _said() -> str:
    text = "|".join(_SAID.strip().splitlines())
    for name, words in _PARTICIPLES.items():
        text = text.replace(name, words)
    return text


@cache
def _refusal() -> re.Pattern[str]:
    """Compiled when it is first asked for: that takes as long as a tenth of a short question."""
    oneself = f"(?:(?:sorry|unfortunately|leider|malheureusement|lamentablemente|purtroppo),? )?(?:{_said()})"
    where = rf"{_any(_IN)} (?:[\w']+ ){{0,4}}?{_any(_SOURCES)}(?: \w+){{0,3}}"
    subject = rf"(?:[\w']+ ){{0,3}}?{_any(_SOURCES)}(?: found| given| provided)? (?:{_SILENT})\b.*"
    return re.compile(rf"(?:{oneself}(?:,? {where})?|{where},? {oneself}|{subject})")


def is_refusal(inquiry: Inquiry, draft: Draft) -> bool:
    """Whether an answered draft says in fact that there is no answer."""
    if not draft.answered:
        return False
    short = _plain(draft.short_answer)
    facts = [inquiry.facts[place] for place in draft.cited if place < len(inquiry.facts)]
    if short and _stands(draft.short_answer, facts):
        return False
    if short:
        return _refusal().fullmatch(short) is not None
    sentences = [_plain(piece.text) for piece in cut(draft.text)]
    return not sentences or all(_refusal().fullmatch(sentence) for sentence in sentences)


def _plain(text: str) -> str:
    return " ".join(folded(_MARKS.sub("", text)).replace("’", "'").strip(" .!?\"'*()").split())


def _stands(short: str, facts: list[Fact]) -> bool:
    """Whether a cited fact holds the very words: as its value, in its quote or its title."""
    wanted = re.compile(rf"(?<!\w){re.escape(_plain(short))}(?!\w)")
    return any(wanted.search(_plain(text)) for fact in facts for text in (fact.value, fact.quote, fact.title))
