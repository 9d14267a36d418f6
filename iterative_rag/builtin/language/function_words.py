"""Closed-class words and small word tools: what every part of the built-in backend knows about English."""

from __future__ import annotations

from functools import lru_cache

from iterative_rag.text.dates import MONTHS as NAMES_OF_MONTHS
from iterative_rag.text.folding import folded as folded_text
from iterative_rag.text.numerals import rank
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for lists that read better as text."""
    return frozenset(text.split())


MONTHS = tuple(month.lower() for month in NAMES_OF_MONTHS)

DETERMINERS = word_set("the a an this that these those his her its their our my your")
PRONOUNS = word_set("he she it they him her his hers its their them we us i you who")
PREPOSITIONS = word_set(
    "of in on at by from for with to into near after before during between as than about over under through "
    "across against among within without toward towards until since like along around behind beside besides "
    "beyond off onto upon via per outside inside out up down"
)
RELATIVES = word_set("who whom whose which that where when")
AUXILIARIES = word_set(
    "is was are were be been being am did does do has have had can could will would shall should may might must"
)
QUESTION_WORDS = word_set("who whom whose what which where when why how")
CONJUNCTIONS = word_set("and or but nor so yet if while because although though")
STOPWORDS = (
    DETERMINERS
    | PRONOUNS
    | PREPOSITIONS
    | RELATIVES
    | AUXILIARIES
    | QUESTION_WORDS
    | CONJUNCTIONS
    | word_set(
        "there here not no also both either each some any all many much more most very just only own same s get got"
    )
)

# Past tenses and participles that do not end in -ed, with their base form.
_IRREGULAR = """
died:die lied:lie tied:tie born:bear bore:bear became:become begun:begin began:begin blew:blow borne:carry
bought:buy brought:bring built:build came:come chose:choose chosen:choose cut:cut drawn:draw drew:draw
driven:drive drove:drive fell:fall fallen:fall felt:feel fought:fight found:find flew:fly flown:fly gave:give
given:give went:go gone:go grew:grow grown:grow held:hold hid:hide hit:hit kept:keep knew:know known:know
laid:lay led:lead left:leave lent:lend let:let lay:lie lain:lie lost:lose made:make meant:mean met:meet paid:pay
put:put ran:run rang:ring read:read rose:rise risen:rise said:say sang:sing sung:sing sank:sink saw:see seen:see
sent:send sold:sell set:set shook:shake shot:shoot shown:show slain:slay slew:slay spent:spend spoke:speak
spoken:speak sprang:spring stood:stand struck:strike swam:swim swore:swear sworn:swear taken:take took:take
taught:teach told:tell thought:think threw:throw thrown:throw tore:tear torn:tear understood:understand won:win
wore:wear worn:wear wrote:write written:write outlived:outlive lying:lie dying:die beat:beat beaten:beat
succeeded:succeed drowned:drown
"""
IRREGULAR: dict[str, str] = {past: base for past, _, base in (pair.partition(":") for pair in _IRREGULAR.split())}
# Base forms and third persons that end a question's verb phrase ("where does the river rise") or open a clause.
BASE_VERBS = word_set(
    "die rise lie live flow begin start end stand win lose marry work study teach play write direct compose "
    "design build found open close follow precede succeed become come go get give take make join cross meet hold "
    "lead serve sit belong attend graduate move grow die hail originate run reach rule reign compete perform "
    "record release appear premiere star sing paint publish discover invent receive share border separate have "
    "use house contain include host sign score beat defeat kill shoot murder bury name call say bear speak own "
    "buy sell produce last weigh cost happen occur take empty drain pass lay rank earn retire resign outlive "
    "survive influence inspire enter"
)
PARTICIPLES = word_set(
    "born built made written won held led shot known given taken torn chosen drawn sung set found told taught "
    "worn slain fought spoken thrown sworn laid kept lost sent sold bought paid left seen put beaten hit struck"
)

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
    found = []
    for word in _WORD.findall(fold(common_names(text))):
        if word.endswith("'s"):
            word = word[:-2]
        if word:
            found.append(word)
    return found


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


def base_form(verb: str) -> str:
    """The base form of a past tense ("died" -> "die", "married" -> "marry", "won" -> "win")."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if not verb.endswith("ed") or len(verb) < 5:
        return verb
    bare = verb[:-2]
    if bare.endswith("i"):
        return f"{bare[:-1]}y"
    if bare[-1] == bare[-2] and bare[-1] in "bdgmnprt":
        return bare[:-1]
    soft = bare[-1] in "scvzgue" or (bare.endswith(("at", "it", "in", "ir", "ur", "ib", "os", "ut")) and len(bare) > 4)
    return f"{bare}e" if soft and not bare.endswith(("ss", "ain", "oin")) else bare


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
