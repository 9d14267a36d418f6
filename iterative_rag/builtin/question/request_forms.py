"""Restates a request as a plain question: "Could you tell me where X was born" -> "Where was X born"."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import AUXILIARIES, DETERMINERS, PREPOSITIONS, QUESTION_WORDS
from iterative_rag.builtin.language.lexicon import MEASURES
from iterative_rag.builtin.language.nouns import is_plural, names_person
from iterative_rag.builtin.language.tokens import Token, acts, group_end, head_noun, tokenize
from iterative_rag.builtin.question.plan import templates
from iterative_rag.builtin.question.span_decoding import Asks
from iterative_rag.builtin.question.substitution import capitalize, invert, phrase_question
from iterative_rag.text.patterns import lazy_pattern

_POLITE = lazy_pattern(
    r"^(?:(?:hi|hello|hey|please|ok|okay|so|well)\b(?: there)?[,!. ]+)+(?=\w)"
    r"|[, ]+(?:please|thanks|thank you|or not)(?=[.!? ]*$)|(?<= )(?-i:please),? ",
    re.I,
)
# What stands before a question, and the verb of a request as far as what follows shows that it is one: "State Street"
# and "Say Anything" are names.
_REQUEST = lazy_pattern(
    r"^(?:(?:can|could|would|will) you (?:kindly |also )?(?=(?:tell|give|show|say|name|list|find|explain|describe)\b)"
    r"|(?:do|would|might) you (?:happen to )?know |(?:may|might|can|could) i (?:ask|know) |let (?:me|us) know "
    r"|any idea |i(?: would|['’]d) (?:like|love) to know[,]? |i (?:want|need|wish) to know "
    r"|i(?:['’]m| am| was) (?:(?:just )?(?:wondering|curious)[,:]? (?:about )?"
    r"|looking for |trying to find(?: out)? )"
    r"|(?:(?:tell|give|show|name|list|find) (?:me|us)|(?:say|name|list|enumerate|identify|give|show|find|find out|"
    r"state|specify|mention|provide|determine|explain)"
    r"(?= (?:the|all|an?|both|any|every|who|whom|what|which|where|when|how|why|(?-i:[A-Z])[^?]*?['’]s)\b))"
    r"(?! (?:all |everything |more |something )?about\b)[:,]? (?=\S))",
    re.I,
)
_ABOUT = lazy_pattern(
    r"^(?:tell (?:me|us) (?:all |everything |more |something )?about|describe) (?!wh)(?P<what>.{2,300})$", re.I
)
# "Who is Ann Lee?", "What is radium?": a name alone, of which everything is asked and no one value tells.
_ALONE = lazy_pattern(
    r"^(?:(?:who|what) (?:is|was|are|were) (?=(?:the )?(?-i:[A-ZÀ-Þ\d]))|what (?:is|was) (?=(?-i:[a-z]{4,}$))"
    r"(?!(?:that|this|these|those|there|they|here)$))"
    r"(?P<what>(?:the )?[\w.'’-]+(?:,? (?:(?-i:[A-ZÀ-Þ\d])[\w.'’-]*|of|the|and|de|von|van|in|on|for))*)$",
    re.I,
)
# What somebody does is an occupation; what the bridge does is none.
_DOES = lazy_pattern(
    r"^what (?P<verb>did|does|do) (?P<who>(?!(?:an?|he|i|it|she|that|the|these|they|this|those|we|you)\b).{2,200}?) do"
    r"(?: for (?:a living|work)|(?: as)? (?:a|his|her) job)?$",
    re.I,
)
_RESTATED = tuple((lazy_pattern(pattern, re.I), plain) for pattern, plain in templates("other_words").items())
# Of what a list or all is asked for, the plural is enough: "list all the films of Ann Lee".
_LIST = lazy_pattern(
    r"(?i)^(?!.*[:?] )(?:(?:(?:an?|the|full) )*list of (?:all )?|all (?!about\b)(?=(?-i:[a-z])))(?:of )?(?:the )?"
)
_PASSED = lazy_pattern(r"\bpass(?:e(d))? away\b")
_IN_LAW = lazy_pattern(r"(?i)\b((?:father|mother|brother|sister|son|daughter)s?) in law\b")
# "whos the director", "what's"; not "Who's Who"
_SHORT = lazy_pattern(r"^((?i:who|what|where|when|how))['’]?s (?=[a-z])")
# One thing that is asked of another, without a word that asks: "architect of the Elm Tower?"
_NO_PHRASE = "|".join((*PREPOSITIONS, *QUESTION_WORDS, *AUXILIARIES, "one", "if", "while"))
_PHRASE = lazy_pattern(
    rf"^(?!(?:{_NO_PHRASE})\b)(?:(?!of )[\w'’-]+ ){{0,3}}[\w'’-]*(?:[^\Ws]|ss|us|is) of "
    r"(?!.*\b(?:how|which|what|born)\b|.*[.;:] )",
    re.I,
)
# A second question: "and when did it open"; "and who was" may still belong to the first.
_SECOND = lazy_pattern(
    r"^(?P<first>(?i:(?:in |on )?(?:who|what|which|when|where|how|is|was|did))\b(?!.* between ).{6,300}?),? and "
    r"(?:(?:(?:in which|in what|what|when|where|why|how)(?: [a-z]+){0,2} (?:is|was|are|were|did|does|has|had)"
    r"|who (?:is|was) (?:his|her|its|their)) .+|who [a-z]+(?: [a-z]+)? (?:it|him|her|them)|when|where|why|how)$"
)


def first_question(text: str) -> str:
    """The first of two questions in one; the whole of any other."""
    match = _SECOND.match(text.rstrip(" ?.!"))
    return match["first"] if match else text


def restated(question: str) -> str:
    """The question of a request, without its mark; any other question only loses greetings, "please" and contractions
    ("whos")."""
    text = _IN_LAW.sub(r"\1-in-law", _POLITE.sub("", " ".join(question.split())))
    text = asked = _PASSED.sub(r"die\1", _SHORT.sub(r"\1 is ", text))
    while match := _REQUEST.match(asked):
        asked = asked[match.end() :]
    asked = _LIST.sub("", asked)
    if does := _DOES.match(asked.rstrip(" ?.!")):
        return f"What {'was' if does['verb'].lower() == 'did' else 'is'} the occupation of {does['who']}"
    for pattern, plain in _RESTATED:
        if match := pattern.match(asked.rstrip(" ?.!")):
            return match.expand(plain)
    if about := _ABOUT.match(asked) or _ALONE.match(asked.rstrip(" ?.!")):
        return f"What is known about {about['what'].rstrip(' ?.!')}"
    is_phrase = _is_phrase(asked)
    if is_phrase and re.match(r"\w+ [a-z]", asked):
        asked = asked[:1].lower() + asked[1:]
    return capitalize(_plain(asked.rstrip(" ?.!")) if is_phrase or asked != text else text)


def _is_phrase(asked: str) -> bool:
    """Whether a noun phrase is all that is asked: no verb but that of a clause within it."""
    if not _PHRASE.match(asked):
        return False
    words = (token.low for token in tokenize(asked))
    first = next((word for word in words if word in AUXILIARIES or word in QUESTION_WORDS or word == "that"), "that")
    return first not in AUXILIARIES


def _plain(asked: str) -> str:
    """A question of its own for an embedded question ("where X was born") or a noun phrase ("the mayor of X")."""
    tokens = tokenize(asked)
    if not tokens:  # "list of ?"
        return asked
    at = int(tokens[0].low in PREPOSITIONS and len(tokens) > 1)
    if tokens[at].low in QUESTION_WORDS:
        return _inverted(asked, tokens, at)
    if tokens[0].low in AUXILIARIES:
        return asked
    begin = int(tokens[0].low in DETERMINERS)
    noun = head_noun(tokens[begin : max(group_end(tokens, begin, len(tokens)), begin + 1)])
    question = phrase_question(asked, Asks.WHO if names_person(noun) else Asks.WHAT).rstrip("?")
    return question.replace(" is ", " are ", 1) if is_plural(noun) else question


def _inverted(asked: str, tokens: list[Token], at: int) -> str:
    """ "when the tower opened" -> "When did the tower open"; a question in the right order stays as it is."""
    after = tokens[at + 1].low if at + 1 < len(tokens) else ""
    counts = tokens[at].low in {"which", "what", "whose"} or after in {"many", "much"}
    end = at + 1 + (tokens[at].low == "how" and (after in {"many", "much", "often", "fast"} or after in MEASURES))
    while counts and end < len(tokens) and tokens[end].small and not acts(tokens[end]):
        if tokens[end].small in DETERMINERS:
            break
        end += 1
    if end >= len(tokens) or acts(tokens[end]) or tokens[end].low == "to":
        return asked
    front = asked[: tokens[end - 1].end]
    question = invert(front, asked[tokens[end].start :])
    return question.rstrip("?") if question.startswith(capitalize(front)) else asked
