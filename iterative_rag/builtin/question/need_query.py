"""Parses a need into a query: the kind of its answer, the names that it is about, the relation that it asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    IRREGULAR,
    PARTICIPLES,
    PREPOSITIONS,
    QUESTION_WORDS,
    RELATIVES,
    STOPWORDS,
    content,
    ordinal,
    stem,
    word_set,
    words,
)
from iterative_rag.builtin.language.lexicon import MEASURES, SUPERLATIVES, AnswerKind, kind_of_noun
from iterative_rag.builtin.language.nouns import BARE_KINDS, is_plural
from iterative_rag.builtin.language.text_values import years
from iterative_rag.builtin.language.tokens import Token, group_end, tokenize
from iterative_rag.text.asked_forms import asked_form
from iterative_rag.text.other_names import common_names
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import AnswerForm

_EXTRACT = lazy_pattern(
    r"^(?:why\b|(?:for what|what (?:is|was|were|are) the) reasons?\b|how come\b|what is known about "
    r"|explain\b|describe\b"
    r"|what (?:is|was|are|were|does|did|do)\b.{2,200} like\W*$|what happened (?:to|in|at|on|during|after|when)\b"
    # "How did she die?" asks for a cause, "How do you spell it?" for a word.
    r"|(?:in what way|how) (?:do|does|did)\b(?!.{2,200}\b(?:die|spell|pronounce|call|name)\b)"
    r"|how (?:was|were)\b.{2,200}\b(?:built|chosen|created|designed|discovered|formed|founded|made)\b)",
)
_TEXTS = frozenset({AnswerForm.TABLE, AnswerForm.SUMMARY, AnswerForm.REPORT})


def wants_extract(question: str) -> bool:
    """Whether the answer to a question is what passages say, quoted, rather than a name, a number or a date."""
    return _EXTRACT.match(question.strip().lower()) is not None or asked_form(question) in _TEXTS


LONGEST = 600
# Light verbs, which carry no meaning without their particle ("come out", "take place", "get married").
LIGHT_VERBS = word_set("come came comes take took takes get got gets go went happen happened occur occurred")
# "first" is not an ordinal before these.
COMPOUND_FIRST = word_set("lady ladies name names minister ministers aid class")

YES_NO_OPENINGS = word_set("is are was were do does did has have had")
_YEAR = lazy_pattern(r"\d{4}s?")
_ATTRIBUTE = lazy_pattern(r"^what (?:is|was|were|are) (?:the |.{2,80}['’]s )", re.IGNORECASE)


_BIRTHPLACE = lazy_pattern(
    r"^what (?:is|was) (?:(?:the )?(?:birthplace|place of birth) of (.+?)|(.+?)['’]s birthplace)\??$", re.I
)

# "Is Tellby a city or a river?" offers two answers, "Did she ever marry or have children?" asks for a yes.
_EITHER = lazy_pattern(
    r"^(?!.*\b(?:ever|any\w*)\b).*?\b(?P<left>(?:\S+ ){1,4})or (?!(?:not|no|more|less|so)\b)(?P<right>\S+(?: \S+){0,3})"
)
# What asks for something wherever it stands, while "who" and the like may begin a clause.
_ASKING = frozenset({"what", "how"})


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed need, in stems: `names` holds the words of each name, `relation` the other content words.

    `asked` is the noun group that is asked for ("which building"), `unit` the unit of measure asked for.
    """

    text: str
    kind: AnswerKind
    asked: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    relation: tuple[str, ...]
    ordinals: tuple[int, ...]
    superlative: str
    years: tuple[int, ...]
    unit: str

    @property
    def attribute(self) -> str:
        """The noun of "What is the N of X?", which an answering sentence must mention; "" for other questions."""
        asked = self.asked[-1] if self.asked else ""
        return asked if asked not in BARE_KINDS and _ATTRIBUTE.match(self.text) else ""

    @property
    def name_words(self) -> frozenset[str]:
        return frozenset(word for name in self.names for word in name)


@lru_cache(maxsize=512)
def read_query(question: str) -> Query:
    text = question[:LONGEST].strip()
    if nominal := _BIRTHPLACE.match(text):
        text = f"Where was {nominal[1] or nominal[2]} born?"
    plain = common_names(text)
    tokens = [token for token in tokenize(plain) if token.word]
    low = [token.low for token in tokens]
    kind, asked, skipped, unit = _asked(low, plain)
    names: list[tuple[str, ...]] = []
    relation: list[str] = []
    ordinals, superlative = [], ""
    run: list[str] = []
    for index, token in enumerate(tokens):
        after = low[index + 1] if index + 1 < len(low) else ""
        adverb = token.low == "first" and (after in COMPOUND_FIRST or _is_past(after))
        rank = None if adverb else ordinal(token.low)
        name = token.capital and index and token.low not in QUESTION_WORDS and rank is None
        if index == 0 and token.capital and token.low not in QUESTION_WORDS | AUXILIARIES | DETERMINERS | PREPOSITIONS:
            name = True
        if name and not _YEAR.fullmatch(token.text):
            run += content(token.text)
        if run and (not name or token.possessive or token.text[0] in '"“'):
            names.append(tuple(run))
            run = []
        if name:
            continue
        if rank is not None:
            ordinals.append(rank)
        elif token.low == "first" and _is_past(after):
            relation.append(stem(token.low))
        elif token.low in SUPERLATIVES and token.low not in {"last"}:
            superlative = superlative or token.low
            relation.append(stem(token.low))
        elif (
            token.low not in STOPWORDS | LIGHT_VERBS
            and index not in skipped
            and not (token.text.isdigit() and len(token.text) == 4)
        ):
            relation += [stem(word) for word in words(token.text) if word not in STOPWORDS]
    if run:
        names.append(tuple(run))
    return Query(
        text,
        kind,
        asked,
        tuple(names),
        tuple(dict.fromkeys(relation)),
        tuple(ordinals),
        superlative,
        tuple(years(text)),
        unit,
    )


def offered(question: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words of meaning on both sides of the "or" in "Is Tellby a city or a river?", of which one side answers; None
    for a question that offers no choice."""
    match = _EITHER.match(question)
    return (frozenset(content(match["left"])), frozenset(content(match["right"]))) if match else None


def _is_past(word: str) -> bool:
    """Whether a word is a past form: "first" before one ("was first performed") is not an ordinal."""
    return word in IRREGULAR or word in PARTICIPLES or (word.endswith("ed") and len(word) > 4)


def _asked(low: list[str], text: str) -> tuple[AnswerKind, tuple[str, ...], frozenset[int], str]:
    """Answer kind, stems of the asked noun, indexes of tokens that are not relation words, and the unit asked for."""
    if low and low[0] in YES_NO_OPENINGS:  # also with a "when" inside: "Did Ann Lee win when Bo Orr lost?"
        return AnswerKind.CHOICE if offered(text) else AnswerKind.YES_NO, (), frozenset(), ""
    tokens = [token for token in tokenize(text) if token.word]
    for index, word in enumerate(low):
        after = low[index + 1] if index + 1 < len(low) else ""
        if index > 1 and word in RELATIVES and not _ASKING.isdisjoint(low[index + 1 :]):
            continue  # "Dawn is by a singer who is a player of what sport?"
        if word == "how" and after in {"many", "much"}:
            first = index + 2 + 2 * (low[index + 2 : index + 4] == ["of", "the"])
            end = _noun_end(low, first, group_end(tokens, first, len(tokens)))
            noun = low[first:end]
            return AnswerKind.NUMBER, tuple(stem(w) for w in noun), frozenset(), (noun[-1] if noun else "")
        if word == "how" and after in MEASURES:
            unit = next((low[i + 1] for i in range(len(low) - 1) if low[i] == "in"), "")
            return AnswerKind.NUMBER, (stem(after), stem(MEASURES[after])), frozenset(), unit
        if word in {"which", "what"} and after not in AUXILIARIES and after:
            first = index + 1
            if after == "of":  # "Which of the rivers ..."
                first += 1 + (low[index + 2] in DETERMINERS if index + 2 < len(low) else 0)
            end = _noun_end(low, first, group_end(tokens, first, len(tokens)))
            # "In which year Ann Lee died": the asked noun ends where a name begins.
            while end > first + 1 and tokens[end - 1].capital and not tokens[first].capital:
                end -= 1
            # "Which of the Seven Summits ...": what they are is not said.
            noun = [token.low for token in tokens[first:end] if after != "of" or not tokens[first].capital]
            if noun and tokens[end - 1].possessive:
                noun[-1] = noun[-1].rstrip("s").rstrip("'’")
            kind = kind_of_noun(noun[-1]) if noun else AnswerKind.THING
            stems = tuple(
                stem(w.replace("’", "'").removesuffix("'s").removesuffix("'")) for w in noun if w not in STOPWORDS
            )
            bare = frozenset({end - 1}) if stems and stems[-1] in BARE_KINDS else frozenset()
            return kind, stems, bare, ""
        if word == "where":
            return AnswerKind.PLACE, (), frozenset(), ""
        if word == "when":
            return AnswerKind.DATE, (), frozenset(), ""
        if word in {"who", "whom"}:
            return AnswerKind.PERSON, _copular_noun(low, index, tokens), frozenset(), ""
        if word == "what" and after in AUXILIARIES:
            noun_stems = _copular_noun(low, index, tokens)
            kind = next((kind_of_noun(w) for w in low if noun_stems and stem(w) == noun_stems[-1]), AnswerKind.THING)
            unit = next((low[i + 1] for i in range(len(low) - 1) if low[i] == "in"), "")
            return kind, noun_stems, frozenset(), unit if kind is AnswerKind.NUMBER else ""
    if low and low[0] in AUXILIARIES:
        return AnswerKind.YES_NO, (), frozenset(), ""
    return AnswerKind.THING, (), frozenset(), ""


def _noun_end(low: list[str], first: int, end: int) -> int:
    """Where the asked noun ends: a plural has its verb behind it ("Which rivers join the Elbe?")."""
    for at in range(first + 1, end):
        after = low[at + 1] if at + 1 < len(low) else ""
        if low[at] in BASE_VERBS and is_plural(low[at - 1]) and after not in AUXILIARIES:
            return at
    return end


def _copular_noun(low: list[str], index: int, tokens: list[Token]) -> tuple[str, ...]:
    """Stems of the noun after the copula: "first lady" of "Who is the 15th first lady of X?"."""
    start = index + 2
    if start >= len(tokens):
        return ()
    end = group_end(tokens, start + (low[start] in DETERMINERS), len(tokens))
    possessors = [at for at in range(start, len(tokens) - 1) if tokens[at].possessive]
    headed = end < len(tokens) and low[end] == "of"  # "the date of birth of Ann Lee's father"
    if possessors and not headed and group_end(tokens, possessors[-1] + 1, len(tokens)) == len(tokens):
        start, end = possessors[-1] + 1, len(tokens)
    return tuple(stem(token.low) for token in tokens[start:end] if not token.capital and token.low not in STOPWORDS)
