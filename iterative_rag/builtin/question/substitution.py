"""Turns the spans of a split into sub-questions, and puts values in their place.

`sub_question` turns "the university where X was a professor" into "At which university was X a professor?";
`substitute` replaces such a span by a value; `plan_split` makes a plan of the whole split. A form that no rule knows
keeps its word order ("What is ...?", "... which university?"), which is good enough for search and reader.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.language.function_words import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    IRREGULAR,
    PREPOSITIONS,
    RELATIVES,
    word_set,
)
from iterative_rag.builtin.language.nouns import possessive
from iterative_rag.builtin.language.tokens import Token, acts, base_form, group_end, head_noun, is_participle, tokenize
from iterative_rag.builtin.question.plan import Lookup, escape_braces
from iterative_rag.builtin.question.span_decoding import Asks, Form, QuestionKind, QuestionSpan, Split
from iterative_rag.text.patterns import lazy_pattern

_AT = word_set("university college school academy institute station stadium hospital location event festival")
_SUBJECT_PRONOUNS = word_set("he she it they we i you who")
# Placeholder for a value that is not known yet, spelled like a name so that the rules parse it as one.
_SLOT = "Qslot{}q"
_IN_YEAR = lazy_pattern(r" in \d{4}\b")
_SLOTTED = lazy_pattern(r"Qslot(\d+)q")


def sub_question(question: str, span: QuestionSpan) -> str:
    """The sub-question that resolves a span."""
    text = question[span.start : span.end].strip(" ,")
    asked = _clause_question(text) if span.form is Form.CLAUSE else phrase_question(text, span.asks)
    return asked[:1].upper() + asked[1:]


def substitute(question: str, span: QuestionSpan, value: str) -> str:
    """Replace a span by a value and adapt the articles, possessives and pronouns around it."""
    before, after = question[: span.start], question[span.end :]
    value = value.strip().rstrip(".;,") if not value.rstrip().endswith(("Jr.", "Sr.", "Inc.")) else value.strip()
    if span.form is Form.CLAUSE:
        return capitalize(before + _predicated(value, after, question[span.start : span.end]))
    before = re.sub(r"\b(?:the|an?|this|that) $", "", before, flags=re.IGNORECASE)
    if ", wh" in question[span.start : span.end]:
        after = after.removeprefix(",")  # it closes the clause
    return capitalize(before + value + after)


def plan_split(split: Split) -> Lookup | None:
    """Plan a nested question; None for other kinds."""
    question = split.question
    if split.kind is not QuestionKind.NESTED or not split.inner:
        return None
    inner: list[QuestionSpan] = []
    for span in sorted(split.inner, key=lambda span: -span.score):
        again = any(_is_same(question, span, other) for other in inner)
        if not again and not is_named(question[span.start : span.end]):
            inner.append(_with_year(question, span))
    return _node(question, question, inner, None)


def _with_year(question: str, span: QuestionSpan) -> QuestionSpan:
    """A description with the year behind its verb: "the film that Ann Lee made" and "in 2010"."""
    year = _IN_YEAR.match(question, span.end)
    acted = year and acts(tokenize(question[span.start : span.end])[-1])
    return replace(span, end=year.end()) if year and acted else span


def _is_same(question: str, span: QuestionSpan, other: QuestionSpan) -> bool:
    """Whether two spans are one description with two ends: nested ones begin at one place only as "X" and "X's Y"."""
    return span.start == other.start and not question[min(span.end, other.end) :].startswith(("'", "’"))


_EXTRAPOSED = lazy_pattern(
    r"^(?P<lead>.{0,60}?\b(?:did|does|do|was|were|is|are) )(?P<noun>the [\w-]+(?: (?!of\b)[\w-]+){0,2}?) "
    r"(?P<verb>[a-z]+) (?P<clause>(?:(?:with|for|in|on|at|from|by|to|after) )?(?:that|who|whom|which|whose)\b.{3,})$",
    re.IGNORECASE,
)


def reordered(question: str) -> str:
    """The question as the network was taught to read it, with an extraposed clause at its noun: "the river rise that
    ..." -> "the river that ... rise"."""
    match = _EXTRAPOSED.match(question.rstrip("?"))
    if match and (match["verb"] in BASE_VERBS or is_participle(tokenize(match["verb"])[0])):
        return f"{match['lead']}{match['noun']} {match['clause']} {match['verb']}?"
    return question


def is_named(phrase: str) -> bool:
    """Whether a description contains the name of its referent: "the cook Ann Lee"."""
    tokens = tokenize(phrase.rstrip(" ,?"))
    if len(tokens) < 3 or not tokens[-1].capital or tokens[-1].text[0].isdigit() or tokens[0].low not in DETERMINERS:
        return False
    return not any(_ends_group(token) or token.possessive for token in tokens[1:])


def _ends_group(token: Token) -> bool:
    """Whether a token ends the noun group: a preposition, determiner, conjunction, verb or sign."""
    small = token.small
    linked = small in PREPOSITIONS | RELATIVES | DETERMINERS or small in {"and", "or"}
    return linked or (not token.word and token.text not in {"-", "–", "."}) or acts(token) or small.endswith("ing")


def _node(question: str, source: str, inner: Sequence[QuestionSpan], outer: QuestionSpan | None) -> Lookup:
    """The look-up of a span (None: the whole question), with the spans directly inside it as slots."""
    inside = [span for span in inner if outer is None or outer.holds(span)]
    direct = [span for span in inside if not any(other.holds(span) for other in inside)]
    direct = [span for span in direct if span.form is Form.PHRASE or outer is None]
    direct.sort(key=lambda span: span.start)
    text, end = question, outer.end if outer else len(question)
    for index in range(len(direct) - 1, -1, -1):
        changed = substitute(text, direct[index], _SLOT.format(index))
        end += len(changed) - len(text)
        text = changed
    if outer is not None:
        text = sub_question(text, QuestionSpan(outer.start, end, outer.form, outer.asks, outer.score))
    template = _SLOTTED.sub(r"{\1}", escape_braces(text.strip()))
    slots = tuple(_node(question, question[span.start : span.end], inner, span) for span in direct)
    return Lookup(source, template, slots)


def capitalize(text: str) -> str:
    """The text as the beginning of a sentence, without spaces or commas before it."""
    text = " ".join(text.lstrip(" ,").split())
    return text[:1].upper() + text[1:]


# --- phrases -----------------------------------------------------------------------------------


def phrase_question(text: str, asks: Asks) -> str:
    """The question that a noun phrase asks."""
    tokens = tokenize(text)
    if not tokens:
        return f"What is {text}?"
    begin = int(tokens[0].low in DETERMINERS and len(tokens) > 1)
    group = max(group_end(tokens, begin, len(tokens)), begin + 1)
    opens_clause = group < len(tokens) and (acts(tokens[group]) or tokens[group].low in BASE_VERBS)
    if opens_clause and not tokens[begin].capital:
        while group > begin + 1 and tokens[group - 1].capital:
            group -= 1  # "the country Ann Lee is from": the name opens the clause
    noun = text[tokens[begin].start : tokens[group - 1].end]
    rest = tokens[group:]
    owned = any(token.possessive for token in tokens[: len(tokens) - 1])
    if rest and not (owned and begin == 0):
        clause = text[rest[0].start :].strip(" ,")
        if asked := _modified(noun, tokenize(clause), clause):
            return asked
    verb = "Who is" if asks is Asks.WHO else "What is"
    article = "" if owned or begin or tokens[0].capital else "the "
    return f"{verb} {article}{_small_article(text)}?"


def _small_article(text: str) -> str:
    return text[:1].lower() + text[1:] if text.split()[0] in {"The", "This", "That", "These", "A", "An"} else text


def _modified(noun: str, tokens: list[Token], clause: str) -> str:
    """The question that resolves a noun with a clause after it; "" if no clause follows ("of ...")."""
    if len(tokens) < 2:
        return ""
    first, after = tokens[0].low, tokens[1]
    rest = clause[after.start :]
    if first == "whose":
        return f"Which {possessive(noun)} {rest}?"
    if first in PREPOSITIONS and after.low in RELATIVES - {"whose"} and len(tokens) > 3:
        inside = clause[tokens[2].start :]
        return invert(f"{first} which {noun}", inside)
    if first in {"where", "when"}:
        link = "at" if first == "where" and noun.split()[-1].lower() in _AT else "in"
        return invert(f"{link} which {noun}", rest)
    if first in {"who", "whom", "which", "that"}:
        subject = first != "whom" and _predicate(after)
        return f"Which {noun} {rest}?" if subject else invert(f"which {noun}", rest)
    adverb = first.endswith("ly") and is_participle(after)
    if adverb or (is_participle(tokens[0]) and not first.endswith("ing")):
        return f"Which {noun} was {clause}?"
    if (tokens[0].capital or first in DETERMINERS | _SUBJECT_PRONOUNS) and any(acts(token) for token in tokens[1:]):
        return invert(f"which {noun}", clause)
    return ""


def _predicate(token: Token) -> bool:
    """Whether the token after a relative pronoun begins the predicate, so that the pronoun is the subject."""
    small = token.small
    adverb = small.endswith("ly") or small in {"also", "once", "first", "later", "only", "then", "never", "still"}
    ending = small.endswith(("s", "ed")) and len(small) > 3 and small not in DETERMINERS | _SUBJECT_PRONOUNS
    return adverb or acts(token) or token.low in BASE_VERBS or ending


def invert(asked: str, clause: str) -> str:
    """Invert a clause: "in which city", "X died" -> "In which city did X die?", or "X died in which city?" if no
    auxiliary or known verb is found."""
    tokens = tokenize(clause)
    verbs = [at for at in range(1, len(tokens)) if acts(tokens[at]) and not tokens[at].capital]
    # "the man known as X was born"
    verb = next((at for at in verbs if tokens[at].low != "known"), verbs[0] if verbs else 0)
    if verb and not any(token.small in RELATIVES for token in tokens[:verb]):
        subject = clause[: tokens[verb].start].strip()
        rest = clause[tokens[verb].end :].strip()
        low = tokens[verb].low
        tail = f" {rest}" if rest else ""
        if low in AUXILIARIES - {"been", "being", "be", "has", "had", "have", "did", "do", "does"} or (
            low in {"has", "had", "have"} and len(tokens) > verb + 1 and is_participle(tokens[verb + 1])
        ):
            return f"{capitalize(asked)} {low} {subject}{tail}?"
        base = "have" if low in {"has", "had"} else base_form(low)
        if base := base or low.removesuffix("s") * (low.removesuffix("s") in BASE_VERBS):
            auxiliary = "does" if low.endswith("s") and low not in IRREGULAR else "did"
            return f"{capitalize(asked)} {auxiliary} {subject} {base}{tail}?"
    return f"{clause} {asked}?"


# --- clauses -----------------------------------------------------------------------------------

_LAST_NOUN = lazy_pattern(
    r"^(?P<head>.*\b)(?:an?|the|this|another|one of the|its|his|her|their) (?P<noun>[^,]+)$", re.I
)


def _clause_question(text: str) -> str:
    """Turn a clause into a question: "X is the son of a singer" -> "X is the son of which singer?"."""
    match = _LAST_NOUN.match(text)
    return f"{match['head']}which {match['noun']}?" if match else f"{text}?"


def _predicated(value: str, after: str, clause: str) -> str:
    """Join a value with what follows a clause, turned into its predicate."""
    rest = after.lstrip(" ,")
    tokens = tokenize(rest)
    if not tokens:
        return f"{value}{after}"
    first = tokens[0].low
    if first == "whose":
        return f"{possessive(value)} {rest[tokens[0].end :].lstrip()}"
    if first in {"that", "who", "which"}:
        return f"{value} {rest[tokens[0].end :].lstrip()}"
    if first in {"where", "when"}:
        return f"in {value} {rest[tokens[0].end :].lstrip()}"
    if first in PREPOSITIONS and len(tokens) > 1 and tokens[1].low in {"which", "whom"}:
        return f"{first} {value} {rest[tokens[1].end :].lstrip()}"
    if first == "of":
        noun = head_noun(tokenize(clause))
        return f"{value} is the {noun} {rest}"
    if first == "and" or (acts(tokens[0]) and not is_participle(tokens[0])):
        return f"{value} {rest}"
    return f"{value} {'is' if first in PREPOSITIONS or first.endswith('ing') else 'was'} {rest}"
