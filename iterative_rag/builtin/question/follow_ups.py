"""Rewrites a follow-up into a question that stands alone, by rules: pronouns, "and X?", corrections, a bare "why?".

What no rule understands is Unclear: a wrong guess would answer another question.
"""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import AUXILIARIES, PREPOSITIONS, QUESTION_WORDS, word_set
from iterative_rag.builtin.language.nouns import FEMALE, MALE, names_person, possessive
from iterative_rag.builtin.language.tokens import base_form
from iterative_rag.builtin.question.conversation_names import Kind, Referent, names_in, referents
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Earlier, FollowUpReading, StandAlone, Unclear

_LEAD = lazy_pattern(r"^(?:(?:and|but|so|then|also|ok|okay|well|now)\b,? *)+", re.I)
_ABOUT = lazy_pattern(r"^(?:what|how) about +", re.I)
_CORRECTION = lazy_pattern(r"^(?:(?:no|nope|sorry|actually)\b[,.]? *)?(?:i (?:meant?|was asking about)|rather) +", re.I)
_PRONOUN = lazy_pattern(r"\b(?P<word>he|him|his|she|hers|her|it|its|they|them|their|theirs)\b(?!['’-])", re.I)
_THERE = lazy_pattern(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b")
_POINTED = lazy_pattern(r"\b(?:the|this|that) (?P<noun>[a-z]+)\b(?! (?:of|that|who|which|where|in|on|[A-Z]))")
_OWNED = lazy_pattern(r"^(?P<word>his|her|its|their) (?P<noun>[a-z][\w -]*)$", re.I)
_RELATIVE = lazy_pattern(r"^the (?P<noun>[a-z]+(?:-in-law)?)$")
# What a shorter one may take the place of: "and in 1956?", "and the 23rd?"
_NUMBERED = (
    lazy_pattern(r"\b\d{4}\b"),
    lazy_pattern(r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b", re.I),
)
_BARE = lazy_pattern(r"^(?:why|when|where|how)$", re.I)
_WHO_DID = lazy_pattern(r"^(?:who|(?:which|what) [a-z][a-z ]*?) (?P<verb>[a-z]+) (?P<rest>.+)$", re.I)
_HAPPENED = lazy_pattern(
    r"^(?:when|where|why|how|(?:in|on|at) (?:which|what) [a-z]+) (?P<rest>(?:did|was|were|is|are|does|do|has) .+)$",
    re.I,
)
_IDENTITY = lazy_pattern(r"^(?:who|what) (?:is|was|are|were) ", re.I)
_GENDERS = {"he": MALE, "him": MALE, "his": MALE, "she": FEMALE, "her": FEMALE, "hers": FEMALE}
_OWNING = word_set("his her its their")
_PARENTS = word_set("mother father parents")
_VAGUE = word_set("a an some any more this that those these other")
_LONGEST_NAME = 3  # words, of a name in small letters
_SHORTEST, _SHORTEST_THAT_GOES_ON = 4, 7  # words of a question without a name


class _NotUnderstood(Exception):
    """Why a follow-up cannot be rewritten, in one sentence."""


class RuleFollowUps:
    """Implements protocols.FollowUpReader without a call."""

    def understand(self, follow_up: str, earlier: Earlier) -> FollowUpReading:
        """The question that stands alone; it is never answered here."""
        try:
            text = re.sub(r"\s+", " ", _Reading(earlier).of(follow_up)).strip(" ,.?!")
        except _NotUnderstood as error:
            return Unclear(str(error))
        return StandAlone(f"{text[:1].upper()}{text[1:]}?")


class _Reading:
    """The rules, over what was spoken of before."""

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier
        self._asked = earlier.exchanges[-1].question.strip().rstrip("?.! ")
        self._answer = earlier.exchanges[-1].short_answer.strip(" .")
        self._referents = referents(earlier)

    def of(self, follow_up: str) -> str:
        """The question that stands alone. Raises _NotUnderstood."""
        text = follow_up.strip().rstrip("?.! ")
        bare = _ABOUT.sub("", _LEAD.sub("", text)).strip()
        if corrected := _CORRECTION.match(bare):
            return self._corrected(bare[corrected.end() :])
        if re.match(r"^(?:who|what) else$", bare, re.I):
            return self._else()
        if _BARE.match(bare):
            return self._bare(bare)
        led = bare != text
        if _is_question(bare):
            return self._whole(bare, led=led)
        if bare and (led or follow_up.rstrip().endswith("?")):
            return self._ellipsis(bare)
        raise _NotUnderstood("It is not a question")

    # --- whole questions ---------------------------------------------------------------------

    def _whole(self, text: str, *, led: bool = False) -> str:
        """The question with what its pronouns stand for; unchanged where it has none: a change of topic."""
        if there := _THERE.search(text):
            text = f"{text[: there.start()]}in {self._meant('there').text}{text[there.end() :]}"
        if (resolved := self._pronouns(text)) != text:
            return resolved
        if names_in(text):
            return text
        if (pointed := _POINTED.search(text)) and (meant := self._of_noun(pointed["noun"])):
            return f"{text[: pointed.start()]}{meant.text}{text[pointed.end() :]}"
        goes_on = led or text.split()[0].casefold() in PREPOSITIONS  # "and who played the drums?", "by how much?"
        if len(text.split()) < (_SHORTEST_THAT_GOES_ON if goes_on else _SHORTEST):
            raise _NotUnderstood("It is too short to stand alone, and nothing in it points to an earlier answer")
        return text

    def _pronouns(self, text: str) -> str:
        resolved: dict[str, Referent] = {}

        def replaced(match: re.Match[str]) -> str:
            word = match["word"].casefold()
            after = re.match(r" ([\w-]+)", text[match.end() :])
            verbal = after is None or after[1].casefold() in PREPOSITIONS | AUXILIARIES
            owns = word in _OWNING and (word != "her" or not verbal)
            if owns and names_in(f"- {text[: match.start()]}"):
                return match[0]  # "Ann Lee and her brother": spoken of in the follow-up itself
            group = _GENDERS.get(word, "they" if word.startswith("the") else "it")
            meant = resolved.setdefault(group, self._meant(word))
            return possessive(meant.text) if owns or word in ("hers", "theirs") else meant.text

        return _PRONOUN.sub(replaced, text)

    # --- what words mean ---------------------------------------------------------------------

    def _meant(self, word: str) -> Referent:
        """What a pronoun stands for. Raises _NotUnderstood."""
        word = word.casefold()
        nameless = [referent for referent in self._referents if referent.kind is Kind.OPEN and not referent.gender]
        if word in _GENDERS:
            hits = [referent for referent in self._referents if referent.kind is Kind.PERSON]
            hits = [referent for referent in hits if referent.gender in (_GENDERS[word], "")]
            hits = [referent for referent in hits if referent.age == hits[0].age]
            hits = sorted(hits, key=lambda referent: referent.gender == "") or nameless
        elif word.startswith("the") and word != "there":
            hits = self._several()
        else:
            hits = [referent for referent in self._referents if referent.kind is Kind.THING] or nameless
            newest = next((referent for referent in self._referents if referent.kind is Kind.OPEN), None)
            if hits and newest and newest.age < hits[0].age:
                hits = [newest]
        if not hits:
            raise _NotUnderstood(f"It is not clear who or what “{word}” is")
        return hits[0]

    def _several(self) -> list[Referent]:
        """Two persons of one question and its answer, else a band and its like."""
        for age, exchange in enumerate(reversed(self._earlier.exchanges)):
            here = [referent for referent in self._referents if referent.age == age]
            persons = [referent for referent in here if referent.kind is Kind.PERSON and "’" not in referent.text]
            persons = [person for person in persons if not re.search(r"['’]s? [a-z]", person.text)]
            if len(persons) > 1:
                persons.sort(key=lambda person: (person.answered, exchange.question.find(person.text)))
                return [Referent(" and ".join(person.text for person in persons), Kind.PERSON, age=age)]
            if group := [referent for referent in here if referent.kind in (Kind.THING, Kind.OPEN)]:
                return group
        return []

    def _of_noun(self, noun: str) -> Referent | None:
        """What "the novel" or "the director" stands for: what was asked for by that noun or by its verb, or a thing."""
        stem = re.sub(r"(?:or|er|ist|ress)$", "", noun)
        for referent in self._referents:
            if referent.noun == noun or noun.capitalize() in referent.text.split():
                return referent
            asked = self._earlier.exchanges[-1 - referent.age].question
            if referent.answered and names_person(noun) and re.search(rf"\b{re.escape(stem)}\w*", asked, re.I):
                return referent
        return None if names_person(noun) else next((one for one in self._referents if one.kind is Kind.THING), None)

    def _named(self, name: str) -> str:
        """The whole of a name of which a part is given ("Niels"); the name itself where none was spoken of."""
        wanted = rf"(?<!\w){re.escape(name.casefold().removeprefix('the '))}(?!\w)"
        whole = (referent.text for referent in self._referents if re.search(wanted, referent.text.casefold()))
        return next((text for text in whole if not re.search(r"['’]s? [a-z]", text)), name)

    # --- ellipses ----------------------------------------------------------------------------

    def _corrected(self, meant: str) -> str:
        if _is_question(meant) and len(meant.split()) > 2:
            return self._whole(meant)
        if (relative := _RELATIVE.match(meant)) and (referent := self._of_noun(relative["noun"])):
            return self._put(referent.text)
        return self._ellipsis(self._named(meant))

    def _ellipsis(self, said: str) -> str:
        """The last question with `said` in the place of what it replaces."""
        if owned := _OWNED.match(said):
            return self._of_owner(self._meant(owned["word"]), owned["noun"])
        if pronoun := _PRONOUN.fullmatch(said):
            return self._put(self._meant(pronoun["word"]).text)
        if relative := _RELATIVE.match(said):
            return f"{_asking(relative['noun'], self._asked)} {said} of {self._focus('')}"
        first, _, rest = said.partition(" ")
        for pattern in _NUMBERED:
            new, old = pattern.search(said), pattern.search(self._asked)
            if new and old and (len(said.split()) < 4 or first.casefold() in PREPOSITIONS):
                return f"{self._asked[: old.start()]}{new[0]}{self._asked[old.end() :]}"
        if first.casefold() in PREPOSITIONS and rest:
            return self._with_preposition(first.casefold(), self._named(rest))
        if owner := re.match(r"^(?P<name>.+?)['’]s?$", said):
            return self._possessor(self._named(owner["name"]))
        if names_in(f"- {said}"):
            return self._put(self._named(said))
        if {first.casefold(), said.split()[-1]} & (_VAGUE | {"one"}) or len(said.split()) > _LONGEST_NAME:
            raise _NotUnderstood("It is not clear what it asks about the last question")
        return self._put(said if any(letter.isdigit() for letter in said) else said.title())

    def _with_preposition(self, preposition: str, name: str) -> str:
        for old in reversed(names_in(self._asked)):
            if re.search(rf"\b{preposition} {re.escape(old)}(?!\w)", self._asked):
                return self._asked.replace(f"{preposition} {old}", f"{preposition} {name}")
        return f"{self._asked} {preposition} {name}"

    def _possessor(self, name: str) -> str:
        """ "and Ann Lee's?": the last question about what is hers."""
        for old in names_in(self._asked):
            if possessive(old) in self._asked:
                return self._asked.replace(possessive(old), possessive(name))
        raise _NotUnderstood(f"It is not clear what of {name} is meant")

    def _put(self, name: str) -> str:
        """The last question about `name`. Raises _NotUnderstood."""
        focus = self._focus(name)
        if focus == name:
            raise _NotUnderstood("The last question was about that already")
        return self._asked.replace(focus, name)

    def _focus(self, name: str) -> str:
        """The part of the last question that `name` takes the place of: what it is about."""
        here = [referent for referent in self._referents if referent.age == 0 and referent.text in self._asked]
        held = {referent.text: referent.kind for referent in here if not referent.answered}
        held = held or dict.fromkeys(names_in(self._asked), Kind.OPEN)
        outer = [text for text in held if not any(text != other and text in other for other in held)]
        if len(outer) > 1:
            kinds = {referent.kind for referent in self._referents if referent.text == name}
            outer = [text for text in outer if held[text] in kinds]
        if len(outer) != 1:
            raise _NotUnderstood("It is not clear what it takes the place of in the last question")
        return outer[0]

    def _of_owner(self, owner: Referent, noun: str) -> str:
        """ "and her husband?": the last question about him, where it was about her; else who he is. Who the parents are
        belongs to a birth, and is asked for after it."""
        held = f"{possessive(owner.text)} {noun}"
        spoken_of = owner.text in self._asked and possessive(owner.text) not in self._asked
        born = noun in _PARENTS and self._asked.endswith(" born")
        if spoken_of and not born and not _IDENTITY.match(self._asked):
            return self._asked.replace(owner.text, held, 1)
        return f"{_asking(noun, self._asked)} {held}"

    # --- questions of one or two words -------------------------------------------------------

    def _else(self) -> str:
        match = re.match(r"^(?P<word>who|what)\b(?P<rest> .+)$", self._asked, re.I)
        if match is None or not self._answer:
            raise _NotUnderstood("The last question did not ask who or what")
        return f"{match['word']} else{match['rest']} besides {self._answer}"

    def _bare(self, word: str) -> str:
        """ "why?", "when?": about what the last question and its answer say together."""
        if happened := _HAPPENED.match(self._asked):
            return f"{word} {happened['rest']}"
        done = _WHO_DID.match(self._asked)
        base = base_form(done["verb"]) if done else ""
        if done and base and self._answer:
            return f"{word} did {self._answer} {base} {done['rest']}"
        raise _NotUnderstood(f"It is not clear what “{word}” asks about")


def _is_question(text: str) -> bool:
    first, _, rest = text.partition(" ")
    low = first.casefold()
    if low in PREPOSITIONS:
        return rest.partition(" ")[0].casefold() in QUESTION_WORDS
    return bool(rest) and (low in QUESTION_WORDS or low in AUXILIARIES or low in ("tell", "name", "give", "list"))


def _asking(noun: str, last: str) -> str:
    """ "Who was" or "What is", in the time of the last question."""
    person = noun.split()[-1]
    if not names_person(person):
        return "What is" if set(last.casefold().split()) & {"is", "are", "does", "do"} else "What was"
    return "Who were" if person.endswith("s") and names_person(person[:-1]) else "Who was"
