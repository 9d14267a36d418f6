"""Plans a claim ("Was Ann Lee born in Tellby?") as the look-up of its value ("Where was Ann Lee born?").

The found value is compared with the claimed one; the closed question itself is the second witness.
"""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import BASE_VERBS, DETERMINERS, PREPOSITIONS, word_set
from iterative_rag.builtin.language.nouns import names_person
from iterative_rag.builtin.language.text_values import amounts, dates
from iterative_rag.builtin.language.tokens import Token, base_form, is_participle, tokenize
from iterative_rag.builtin.question.plan import Computed, Literal, Lookup, Node, Operation, escape_braces
from iterative_rag.builtin.question.time_questions import Expand, Phrase
from iterative_rag.text.patterns import lazy_pattern

_BE, _DO = word_set("is was are were"), word_set("did does do")
# Words of claims of another form (two-sided, compared, negated), or about nothing that has a name.
_NOT_PLAIN = word_set("and or both same than never not there it this you")
_PLACED = word_set("in at on near")
# Lower-case words inside a name.
_INNER = word_set("of the and de la le du des von van der den del di da")
# Verbs whose object has few makers: who made it tells more than all that somebody made.
_MAKES = word_set("design direct write compose build found discover invent paint produce publish create draw kill")
_DOES = _MAKES | word_set("open win sing play own murder shoot defeat lead marry")
# Verbs that a place may follow, not a work: "die in Tellby", but "star in Dawn".
_BEFALL = word_set("die live grow rise begin start end open premiere marry work study teach move flow lie happen")
_IS_THE = lazy_pattern(
    r"^(?P<aux>[Ii]s|[Ww]as) (?P<name>(?:the )?[A-ZÀ-Þ][\w'’.-]*(?: (?:of |de |the )?[A-ZÀ-Þ][\w'’.-]*)*) "
    r"(?P<what>the (?:[a-z]+ ){0,2}?(?P<noun>[a-z]+) of .{2,200})$"
)
_NOUNS = lazy_pattern(r"[a-z][a-z -]*")


def claim(text: str, expand: Expand, phrase: Phrase) -> Node | None:
    """Plan a claim about one thing; None for any other question."""
    tokens = tokenize(text)
    if not tokens or tokens[0].low not in _BE | _DO or _NOT_PLAIN & {t.low for t in tokens}:
        return None
    pair = _is_the(text) or _counted(text, tokens) or _value_last(text, tokens)
    if pair is None:
        return None
    asked, value = pair
    closed = Lookup("", escape_braces(f"{text}?"))
    # Of what and when somebody wins or plays there may be more than the one value that is found.
    happens_once = _BEFALL & set(asked.rstrip("?").split()[-1:])
    unit = "open" if asked.startswith(("What did", "What does", "When did")) and not happens_once else ""
    return Computed(text, Operation.HOLDS, (Literal(value), expand(asked, ""), closed), unit=unit)


def _is_the(text: str) -> tuple[str, str] | None:
    """ "Is Tellby the capital of Orm": "What is the capital of Orm?", "Tellby"."""
    match = _IS_THE.match(text)
    if match is None:
        return None
    return f"{'Who' if names_person(match['noun']) else 'What'} {match['aux'].lower()} {match['what']}?", match["name"]


def _counted(text: str, tokens: list[Token]) -> tuple[str, str] | None:
    """ "Does the bridge have 16 arches": "How many arches does the bridge have?", "16"."""
    for amount, start, end in reversed(amounts(text)):
        counted, front = text[end:].strip(), text[tokens[1].start : start].strip()
        nouns = _NOUNS.fullmatch(counted) and not (PREPOSITIONS | BASE_VERBS | DETERMINERS) & set(counted.split())
        if not front or not nouns or text[start].isupper() or dates(text[start:end]):
            continue
        if not amount.unit and tokens[0].low in _DO:
            return f"How many {counted} {tokens[0].low} {front}?", text[start:end]
    return None


def _value_last(text: str, tokens: list[Token]) -> tuple[str, str] | None:
    """The question for the name or date at the end of a claim, and that value."""
    start = _name_start(tokens)
    if start >= len(tokens) or start < 2:
        return None
    value, before = text[tokens[start].start :], tokens[start - 1]
    if before.low in DETERMINERS:
        start -= 1
        before = tokens[start - 1]
    preposition = before.low if before.low in PREPOSITIONS else ""
    head = tokens[1 : start - bool(preposition)]
    if not head or not any(token.capital for token in head):
        return None
    aux, said = tokens[0].low, text[head[0].start : head[-1].end]
    dated, placed = any(end - begin == len(value) for _, begin, end in dates(value)), preposition in _PLACED
    verb = base_form(head[-1].low) if aux in _BE and is_participle(head[-1]) else head[-1].low
    if aux in _BE and head[-1].capital:
        named = all(token.capital or token.low in _INNER for token in head)
        return (f"Where {aux} {said}?", value) if named and placed and not dated else None
    if aux in _BE and verb == head[-1].low:
        return None
    if preposition == "by" and verb in _DOES:
        return f"Who {aux} {said} by?", value
    if (head[-1].low, preposition) in {("married", "to"), ("named", "after")}:
        return f"{'Who' if preposition == 'to' else 'What'} {aux} {said} {preposition}?", value
    if dated or (placed and (aux in _BE or verb in _BEFALL)):
        return (f"{'When' if dated else 'Where'} {aux} {said}?", value) if placed else None
    if aux in _BE:
        return None
    if verb in BASE_VERBS and not preposition and verb in _MAKES:
        return f"Who {aux} {verb} {text[tokens[start].start :]}?", text[head[0].start : head[-2].end]
    if verb in BASE_VERBS and preposition == "into":
        return f"Into what {aux} {said}?", value
    if verb in BASE_VERBS and (placed or not preposition):
        whom = "Who" if verb in {"marry", "succeed", "precede"} else "What"
        return f"{whom} {aux} {said}{f' {preposition}' if preposition else ''}?", value
    # "Did Ann Lee win the Harp Prize in Physics"
    return (f"In what {aux} {said}?", value) if preposition == "in" and head[-1].capital and len(head) > 2 else None


def _name_start(tokens: list[Token]) -> int:
    """Index at which the name or date at the end of a claim begins; past the end if there is none."""
    at = start = len(tokens)
    while at > 1:
        at -= 1
        if tokens[at].capital:
            start = at
        elif start == len(tokens) or not (tokens[at].text == "," or tokens[at].low in _INNER):
            break
    return start
