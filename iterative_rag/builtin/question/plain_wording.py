"""Says a question in the words and the order that the rules and the trained splitter know: "passed away" -> "died", and
"Dawn or Dusk - whose director is older?" -> "Whose director is older, Dawn or Dusk?"."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.tokens import tokenize
from iterative_rag.builtin.language.verbs import acts
from iterative_rag.builtin.question.comparison_sides import asked_of
from iterative_rag.builtin.question.substitution import capitalize
from iterative_rag.text.patterns import lazy_pattern

# Other words for what the rules and the trained splitter know by one.
_PLAINER = (
    (lazy_pattern(r"\bpass away\b", re.I), "die"),
    (lazy_pattern(r"\bpass(?:ed|es) away\b", re.I), "died"),
    (lazy_pattern(r"\bone and the same\b", re.I), "the same"),
    (lazy_pattern(r"\bshare (?:a|the same|the|one) (?=[a-z]+\b)", re.I), "have the same "),
    (lazy_pattern(r"\b(?:hails?|hailed|stems?|stemmed|originates?|originated) from\b", re.I), "come from"),
    (lazy_pattern(r"\blaid to rest\b", re.I), "buried"),
    (lazy_pattern(r"\b(?:mum|mom)\b"), "mother"),
    (lazy_pattern(r"\bdad\b"), "father"),
    (lazy_pattern(r"\bgrand(?:ad|dad|pa)\b"), "grandfather"),
    (lazy_pattern(r"\bgrand(?:ma|mum|mom)\b"), "grandmother"),
    (lazy_pattern(r"\b(?:a|one) single (?=country\b|city\b|town\b|state\b)", re.I), "the same "),
    (lazy_pattern(r"\bof one (?=nationality\b|age\b|kind\b)", re.I), "of the same "),
    (
        lazy_pattern(r"^what (town|city|village|country|state|year) (was|is|were|did) (.+) in(?=\W*$)", re.I),
        r"In which \1 \2 \3",
    ),
    (lazy_pattern(r"\b(?:hold|held|possess|possessed) the same\b", re.I), "have the same"),
    (lazy_pattern(r"\bin one (?=(?:country|city|town|state|county|continent)\b)", re.I), "in the same "),
    (lazy_pattern(r"^what did (.+) die (?:of|from)(?=\W*$)", re.I), r"What is the cause of death of \1"),
    (lazy_pattern(r"(?<=[a-z] )whoever\b"), "the person who"),
    (lazy_pattern(r"\bthe (?:guy|bloke)\b", re.I), "the person"),
    (
        lazy_pattern(
            r"^(?:what|which) (?=(?:country|nation|city|town|state)\b)(.{4,9}) (is|was) (.+) from(?=\W*$)", re.I
        ),
        r"From which \1 \2 \3",
    ),
)
# "Dawn was sung by someone; when was that singer born?"
_BREAK = lazy_pattern(r"(?<=\w)(?: [-–—] |; )(?=(?:(?:in|at|on|from) )?(?:who|what|which|where|when|how)\b)(\w)")
# "Dawn or Dusk - whose director is older?", "Orm and Tell are towns. Do they lie in the same country?"
_NAMES_FIRST = lazy_pattern(
    r"^(?i:(?P<of>out of|of|between|comparing|compare|take|consider) )?"
    r"(?P<one>(?:[Tt]he )?(?:[a-z]+ ){0,3}[^\W\d_a-z].{1,90}?),? (?:and|or|vs\.?|versus|&) "
    r"(?P<other>(?:the )?(?:[a-z]+ )?[^\W\d_a-z].{1,90}?)"
    r"(?: (?:are|were) (?:both |two )?(?:[a-z]+ )?[a-z]+| both ha(?:d|ve) an? [a-z]+)?"
    r"(?P<mark>[:.;,]| [-–—]) (?:tell me )?"
    r"(?P<ask>(?:(?:[Ww]hich|[Ww]hose|[Ww]ho)(?: one| of (?:them|these|the two))?\b|"
    r"(?P<aux>[Dd]o|[Dd]id|[Aa]re|[Ww]ere|[Hh]ave|[Hh]ad) (?:they|these(?: two)?|the two|both)(?: [a-z]+s(?= ))? )"
    r"(?P<rest>.{3,150}?))(?P<end>\W*)$",
)
# "The person who directed Dawn, in what city did they die?"
_TOPIC = lazy_pattern(
    r"^(?P<topic>(?i:the) (?:person|man|woman|wife|husband|architect|[a-z]+(?:er|or))\b[^,?]{3,120}), "
    r"(?P<before>(?:(?:in|at|on|from) )?(?:what|which|where|when|who|how)\b.{1,80}?)"
    r"\b(?P<word>they|he|she|their|his|her)\b(?P<after>.{0,100})$"
)


def _topic_within(text: str) -> str:
    """The question with its topic in the place of the pronoun: "In what city did the person who directed Dawn die?"."""
    match = _TOPIC.match(text)
    if match is None:
        return text
    topic = match["topic"][:1].lower() + match["topic"][1:]
    owned = "" if match["word"] in {"they", "he", "she"} else "'s"
    return f"{capitalize(match['before'])}{topic}{owned}{match['after']}"


def _says_more(name: str) -> bool:
    """Whether what should be a name says something: "Bo Orm won a prize"."""
    return any(not token.capital and acts(token) for token in tokenize(name))


def _names_last(text: str) -> str:
    """The two names of a comparison where the rules look for them: "Dawn or Dusk - whose director is older?" becomes
    "Whose director is older, Dawn or Dusk?"."""
    match = _NAMES_FIRST.match(text)
    if match is None or _says_more(match["one"]) or _says_more(match["other"]):
        return text
    if not match["aux"] and (asked_of(match["ask"]) is None or (match["mark"] == "," and not match["of"])):
        return text  # "Ann Lee and Bo Orm, who wrote Dawn, ..."
    if match["aux"]:
        one = re.sub(r"^The\b", "the", match["one"])
        return f"{capitalize(match['aux'])} {one} and {match['other']} {match['rest']}{match['end']}"
    return f"{capitalize(match['ask'])}, {match['one']} or {match['other']}{match['end']}"


def plainer(text: str) -> str:
    """The question in the words and the order that the rules and the splitter know; most questions are unchanged."""
    for pattern, said in _PLAINER:
        text = pattern.sub(said, text)
    text = _topic_within(_names_last(text))
    return _BREAK.sub(lambda match: f". {match[1].upper()}", text)
