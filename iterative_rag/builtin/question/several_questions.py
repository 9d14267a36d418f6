"""Splits a text that asks two things: "Who built X and when was it opened?" -> "Who built X", "When was X opened"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import BASE_VERBS
from iterative_rag.builtin.language.tokens import acts, base_form, tokenize
from iterative_rag.builtin.question.request_forms import in_question_order
from iterative_rag.builtin.question.substitution import capitalize
from iterative_rag.text.patterns import lazy_pattern

_HOW = r"how (?:tall|long|high|old|deep|wide|big|large|fast|heavy)"
_ASKED = r"(?:(?:in|at|on|from|to|for|by|with|of) )?(?:who|whom|what|which|when|where|why|how)\b(?!['’])"
_MARKED = lazy_pattern(rf"\?+ (?:and |also,? )?(?={_ASKED})", re.I)
_AND = lazy_pattern(rf"(?<!\bof),? and (?:also )?(?={_ASKED})")
# "When and where was X born", "In what year and in which city was X born"
_PAIRED = lazy_pattern(
    rf"^(?P<one>(?:(?:in|at|on) )?(?:what|which) [a-z]+|{_HOW}|when|where|how|why|who) and "
    rf"(?P<other>(?:(?:in|at|on|by) )?(?:what|which|whom) [a-z]+|by whom|{_HOW}|when|where|how|why|who) "
    r"(?P<rest>(?:is|was|are|were|did|does|do|has|had)\b.{3,300})$",
    re.I,
)
# "When was X born, and in which town", "Who raised the bell, and when"
_SHORTENED = lazy_pattern(
    r"^(?P<one>(?i:(?:(?:in|at|on) )?(?:what|which) [a-z]+|when|where|how|who)) (?:(?:is|was) it that )?"
    r"(?P<rest>.{6,300}?),? and "
    r"(?P<other>(?:(?:in|at|on|by) )?(?:what|which|whom) [a-z]+|by whom|of what|when|where|how|why)$",
)
# "who wrote the music" after "Who directed Dawn"
_OF_THE_SAME = lazy_pattern(r"^who (?:was|is|[a-z]+ed|wrote|sang|drew|made|built) the [a-z]+$", re.I)
_AUXILIARY = lazy_pattern(r"^(?:is|was|are|were|did|does|do|has|had)\b", re.I)
_OPENING = lazy_pattern(rf"^{_ASKED} ?(?:many |much |tall |long |old )?", re.I)
_NAME = lazy_pattern(
    r"(?:[Tt]he |a )?(?:[A-ZÀ-Þ\"“][\w.'’\"”-]*(?: (?:(?:of|the|de|la|and|von|van|in) )*(?=[A-ZÀ-Þ\d]))?"
    r"|(?<= )\d[\w-]* ?)+"
)
_WHO_IS = lazy_pattern(r"^(?:who|what) (?:is|was|are|were) (?P<name>(?!the |an? |his |her ).+)$", re.I)
_NAME_OF = lazy_pattern(r"^what (?:is|was) the name of the [a-z]", re.I)
_RELATIVE = lazy_pattern(r"\b(?:who|whose|whom|that|which|where|between)\b", re.I)
_PLACE = lazy_pattern(r"^where\b|\b(?:capital|city|town|country|birthplace|village)\b", re.I)
_WHICH = lazy_pattern(r"^(?:which|what) (?:[a-z]+ ){0,2}?[a-z]+(?= (?:[a-z]+s|[a-z]+ed|is|was) )", re.I)
_BARE_WHICH = lazy_pattern(r"^which (?=(?:[a-z]+s|[a-z]+ed|is|was|has|had) )")
_ASKS_THING = lazy_pattern(r"^(?:which|what) (?!(?:year|date|day)\b)", re.I)
_PRONOUN = lazy_pattern(r"\b(?P<word>he|she|him|his|her|it|its|they|them|their|there)\b(?: (?P<noun>[a-z]+))?")

# Stands in the second question for the answer of the first.
FIRST_ANSWER = "{0}"


@dataclass(frozen=True, slots=True)
class TwoQuestions:
    """Two questions of one text. `second` holds FIRST_ANSWER where it asks about the answer of the first."""

    first: str
    second: str


def two_questions(text: str) -> TwoQuestions | None:
    """The two questions of a text, each complete; None where it asks one thing."""
    text = text.strip().rstrip(" ?.!")
    if "{" in text:
        return None
    if paired := _PAIRED.match(text):
        return TwoQuestions(*(capitalize(f"{paired[name]} {paired['rest']}") for name in ("one", "other")))
    if shortened := _SHORTENED.match(text):
        return _of_shortened(shortened)
    for pattern in (_MARKED, _AND):
        for cut in pattern.finditer(text):
            first, second = text[: cut.start()], text[cut.end() :]
            if opening := _OPENING.match(first):
                clause = pattern is _AND and _RELATIVE.search(first, opening.end())
                # "The man who did this and who did that" is one description.
                if not clause and (complete := _completed(first, second)):
                    return TwoQuestions(capitalize(first), capitalize(in_question_order(complete)))
    return None


def _of_shortened(match: re.Match[str]) -> TwoQuestions | None:
    """The two questions of a text whose second one is a mere "and when"; None where the verb tells nothing."""
    first, rest, other = match["one"], match["rest"], match["other"]
    if _AUXILIARY.match(rest):
        return TwoQuestions(*(capitalize(f"{name} {rest}") for name in (first, other)))
    verb, _, whom = rest.partition(" ")
    if first.lower() != "who" or not whom or base_form(verb) in ("", verb):
        return None
    return TwoQuestions(
        capitalize(f"{first} {rest}"), capitalize(f"{other} did {FIRST_ANSWER} {base_form(verb)} {whom}")
    )


def _completed(first: str, second: str) -> str:
    """The second question without the pronoun or the noun that it takes from the first; "" where it is none."""
    if bare := _BARE_WHICH.match(second):
        asked = _WHICH.match(first)
        return f"{asked[0]} {second[bare.end() :]}" if asked else ""
    opening = _OPENING.match(second)
    pronoun = _PRONOUN.search(second, opening.end()) if opening else None
    if pronoun is None:
        if (told := _OF_THE_SAME.match(second)) and (meant := _meant(first, "it")) not in ("", FIRST_ANSWER):
            return f"{told[0]} of {meant}"
        # Of two questions that begin alike, the second may be a condition of the first.
        return second if _NAME.search(second, 1) and first.split()[0].lower() != second.split()[0].lower() else ""
    word, noun = pronoun["word"], pronoun["noun"]
    meant = _meant(first, word)
    before, after = second[: pronoun.start()], second[pronoun.end("word") :]
    if not meant:
        return ""
    if word in {"his", "its", "their"} or (word == "her" and noun):
        return f"{before}the {noun} of {meant}{second[pronoun.end() :]}" if noun else ""
    return f"{before}{'in ' if word == 'there' else ''}{meant}{after}"


def _meant(first: str, pronoun: str) -> str:
    """What a pronoun of the second question stands for: a name of the first one, or its answer; "" for nothing."""
    if named := _WHO_IS.match(first):
        return named["name"]
    asks_person = first.lower().startswith("who")
    if pronoun == "there" and _PLACE.search(first):
        return FIRST_ANSWER
    if pronoun in {"he", "she", "him", "his", "her"} and _NAME_OF.match(first):
        return FIRST_ANSWER
    if pronoun in {"he", "she"} and (asks_person or _ASKS_THING.match(first)):
        return FIRST_ANSWER
    if pronoun in {"it", "its"} and _ASKS_THING.match(first):
        return FIRST_ANSWER
    opening = _OPENING.match(first)
    names = list(_NAME.finditer(first, opening.end() if opening else 0))
    if not names:
        return ""
    # "La bohème" goes on in lower case, to the end of the question at most.
    rest = first[names[-1].end() :]
    small = [token for token in tokenize(rest) if acts(token) or token.low in BASE_VERBS]
    own = 0 < len(rest.split()) < 4 and not small
    return names[-1][0].strip() + (f" {rest.strip()}" if own else "")
