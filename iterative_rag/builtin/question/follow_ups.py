"""Rewrites a follow-up into a question that stands alone, by rules: pronouns, ellipses, corrections, bare "why?".

What no rule understands is Unclear: a wrong guess would answer another question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from iterative_rag.builtin.language.function_words import AUXILIARIES, PREPOSITIONS, QUESTION_WORDS, word_set
from iterative_rag.builtin.language.nouns import names_person, possessive
from iterative_rag.builtin.language.tokens import base_form
from iterative_rag.builtin.question.conversation_names import (
    GENDERS,
    Kind,
    Mention,
    NotUnderstood,
    References,
    names_in,
)
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Earlier, FollowUpReading, StandAlone, Unclear

_LEAD = lazy_pattern(r"^(?:(?:and|but|so|then|also|ok|okay|well|now)\b,? *)+", re.I)
_ABOUT = lazy_pattern(r"^(?:what|how) about +(?P<rest>.+)", re.I)
_CORRECTION = lazy_pattern(
    r"^(?:(?:no|nope|sorry|actually)\b[,.]? *)?(?:i (?:meant?|was (?:asking|talking) about)|not that one,?|rather) +"
    r"(?P<rest>.+)|^(?:no|sorry)\b[,.]? +(?P<only>.+)",
    re.I,
)
_PRONOUN = lazy_pattern(r"\b(?P<word>he|him|his|she|hers|her|it|its|they|them|their|theirs)\b(?!['’-])", re.I)
_POINTED = lazy_pattern(r"\b(?:the|this|that) (?P<noun>[a-z]+)\b(?! (?:of|that|who|which|where|in|on|[A-Z]))")
_GENERIC = word_set(
    "novel book film movie album song opera musical play painting river city town country island mountain bridge "
    "building tower band team university ship museum man woman person president director author writer composer "
    "singer actor actress architect couple"
)
_BARE = lazy_pattern(r"^(?P<word>why|when|where|how)$", re.I)
_ELSE = lazy_pattern(r"^(?:who|what|anyone|anybody|anything) else$", re.I)
_YEAR = lazy_pattern(r"\b\d{4}\b")
_ORDINAL = lazy_pattern(
    r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b", re.I
)
_ONES = lazy_pattern(r"^(?:the )?(?P<what>\S+)(?: (?:ones?|games?))?$", re.I)
_OWNED = lazy_pattern(r"^(?P<word>his|her|its|their) (?P<noun>[a-z][\w -]*)$", re.I)
_RELATIVE = lazy_pattern(r"^the (?P<noun>[a-z]+(?:-in-law)?)$")
_COMPARED = lazy_pattern(r"^(?:is|was|are|were) (?P<name>.+?) (?P<more>(?:more|less) [a-z]+|[a-z]+er|better|worse)$")
_MEASURED = lazy_pattern(r"^how (?P<what>[a-z]+)$", re.I)
_WHO_DID = lazy_pattern(r"^(?:who|(?:which|what) [a-z][a-z ]*?) (?P<verb>[a-z]+) (?P<rest>.+)$", re.I)
_WHO_IS = lazy_pattern(r"^who (?P<be>is|was) (?P<rest>.+)$", re.I)
_HAPPENED = lazy_pattern(
    r"^(?:when|where|why|how|(?:in|on|at) (?:which|what) [a-z]+) (?P<rest>(?:did|was|were|is|are|does|do|has) .+)$",
    re.I,
)
_IDENTITY = lazy_pattern(r"^(?P<ask>(?:who|what) (?:is|was|are|were)) ", re.I)
_ADJECTIVES = word_set("elder younger older great first second third fourth fifth last")
_VAGUE = word_set("a an some any more this that those these")
_LONGEST_NAME = 3  # words, of a name in small letters
_OWNING = word_set("his her its their")
_MOST_WORDS_WITHOUT_NAME, _MOST_WORDS_THAT_GO_ON = 4, 7
_PARENTS = word_set("mother father parents mom mum dad")
_PAIRS = (("mother", "father"), ("brother", "sister"), ("son", "daughter"), ("grandmother", "grandfather"))


class RuleFollowUps:
    """Implements protocols.FollowUpReader without a call."""

    def understand(self, follow_up: str, earlier: Earlier) -> FollowUpReading:
        """The question that stands alone; it is never answered here."""
        try:
            return StandAlone(_question(_Reading(earlier).of(follow_up)))
        except NotUnderstood as error:
            return Unclear(str(error))


class _Reading(References):
    """The rules, over what was spoken of before."""

    def of(self, follow_up: str) -> str:
        text = follow_up.strip().rstrip("?.! ")
        bare = _LEAD.sub("", text).strip()
        led = bare != text
        if not bare:
            raise NotUnderstood("It is not a question")
        if corrected := _CORRECTION.match(bare):
            return self._corrected((corrected["rest"] or corrected["only"]).strip())
        if about := _ABOUT.match(bare):
            return self._ellipsis(about["rest"].strip())
        rules: tuple[Callable[[str], str], ...] = (self._else, self._bare, self._comparison, self._measure)
        for rule in rules:
            if said := rule(bare):
                return said
        if _is_question(bare):
            return self._whole(bare, led=led)
        if led or follow_up.rstrip().endswith("?"):
            return self._ellipsis(bare)
        if names_in(f"- {bare}") and len(bare.split()) > _MOST_WORDS_WITHOUT_NAME:
            return bare
        raise NotUnderstood("It is not a question")

    # --- whole questions ---------------------------------------------------------------------

    def _whole(self, text: str, *, led: bool = False) -> str:
        """The question with what its pronouns stand for; unchanged where it has none: a change of topic."""
        text = self._then(self._there(text))
        resolved = self._pronouns(text)
        if resolved != text:
            return resolved
        if names_in(text):
            return text
        if pointed := _POINTED.search(text):
            noun = pointed["noun"]
            if noun in _GENERIC:
                meant = self._of_noun(noun)
                return f"{text[: pointed.start()]}{meant.text}{text[pointed.end() :]}"
        goes_on = led or text.split()[0].casefold() in PREPOSITIONS  # "and who played the drums?", "by how much?"
        if len(text.split()) < (_MOST_WORDS_THAT_GO_ON if goes_on else _MOST_WORDS_WITHOUT_NAME):
            raise NotUnderstood("It is too short to stand alone, and nothing in it points to an earlier answer")
        return text

    def _pronouns(self, text: str) -> str:
        resolved: dict[str, Mention] = {}

        def replaced(match: re.Match[str]) -> str:
            word = match["word"].casefold()
            if word == "it" and re.match(r" (?:is|was)? ?(?:true|possible|known|raining)\b", text[match.end() :]):
                return match[0]
            after = re.match(r" ([\w-]+)", text[match.end() :])
            owns = word in _OWNING and (
                word != "her" or (after is not None and after[1].casefold() not in PREPOSITIONS | AUXILIARIES)
            )
            before = names_in(f"- {text[: match.start()]}")
            if before and owns and not _LEAD.match(text):
                return match[0]  # "Ann Lee and her brother": spoken of in the follow-up itself
            group = GENDERS.get(word, "they" if word.startswith("the") else "it")
            meant = resolved.setdefault(group, self._meant(word))
            return possessive(meant.text) if owns or word in ("hers", "theirs") else meant.text

        return _PRONOUN.sub(replaced, text)

    def _there(self, text: str) -> str:
        match = re.search(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b", text)
        if match is None:
            return text
        places = (mention for mention in self._mentions if mention.kind in (Kind.THING, Kind.OPEN))
        place = next(places, None)
        if place is None:
            raise NotUnderstood("It is not clear which place “there” means")
        return f"{text[: match.start()]}in {place.text}{text[match.end() :]}"

    def _then(self, text: str) -> str:
        if not text.endswith((" then", " at the time", " at that time")):
            return text
        time = next((mention for mention in self._mentions if mention.kind is Kind.TIME and mention.answered), None)
        if time is None:
            raise NotUnderstood("It is not clear which time is meant")
        bare = re.sub(r" (?:then|at (?:the|that) time)$", "", text)
        return f"{bare} {'in' if re.fullmatch(r'(?:[A-Z][a-z]+ )?[0-9]{4}', time.text) else 'on'} {time.text}"

    # --- ellipses ----------------------------------------------------------------------------

    def _corrected(self, meant: str) -> str:
        if _is_question(meant) and len(meant.split()) > 2:
            return self._whole(meant)
        words = meant.casefold().removeprefix("the ").split()
        if len(words) == 1 and words[0] in _ADJECTIVES and meant.casefold().startswith("the "):
            focus = self._focus("")
            return self._asked.replace(focus, f"{focus} the {words[0].capitalize()}")
        if relative := _RELATIVE.match(meant):
            return self._put(self._of_noun(relative["noun"]).text)
        return self._ellipsis(self._named(meant))

    def _ellipsis(self, said: str) -> str:
        """The last question with `said` in the place of what it replaces."""
        if _is_question(said) and len(said.split()) > 2:
            return self._whole(said)
        if owned := _OWNED.match(said):
            if same := self._same_owner(owned["word"], owned["noun"]):
                return same
            return self._of_owner(self._meant(owned["word"]), owned["noun"])
        if pronoun := _PRONOUN.fullmatch(said):
            return self._put(self._meant(pronoun["word"]).text)
        if relative := _RELATIVE.match(said):
            return self._related(relative["noun"])
        for pattern in (_YEAR, _ORDINAL):
            new, old = pattern.search(said), pattern.search(self._asked)
            if new and old and (_ONES.match(said) or said.split()[0].casefold() in PREPOSITIONS):
                return f"{self._asked[: old.start()]}{new[0]}{self._asked[old.end() :]}"
        first, _, rest = said.partition(" ")
        if first.casefold() in PREPOSITIONS and rest:
            return self._with_preposition(first.casefold(), self._named(rest))
        if owner := re.match(r"^(?P<name>.+?)['’]s?$", said):
            return self._possessor(self._named(owner["name"]))
        if names_in(f"- {said}"):
            return self._put(self._named(said))
        if first.casefold() in _VAGUE or len(said.split()) > _LONGEST_NAME:
            raise NotUnderstood("It is not clear what it asks about the last question")
        return self._put(_titled(said))

    def _same_owner(self, pronoun: str, noun: str) -> str:
        """ "and her father?" after "Who was X's mother?": of X, and not of the mother; "" for other pairs."""
        for name in names_in(self._asked):
            held = re.search(rf"{re.escape(possessive(name))} (?P<noun>[a-z]+)$", self._asked)
            owner = next((mention for mention in self._mentions if mention.text == name), None)
            if held is None or owner is None or owner.gender not in (GENDERS.get(pronoun.casefold(), ""), ""):
                continue
            if any({held["noun"], noun} == set(pair) for pair in _PAIRS):
                return f"{self._asked[: held.start('noun')]}{noun}"
        return ""

    def _possessor(self, name: str) -> str:
        """ "and Ann Lee's?": the last question about what is hers. Raises NotUnderstood."""
        for old in names_in(self._asked):
            if possessive(old) in self._asked:
                return self._asked.replace(possessive(old), possessive(name))
            if re.search(rf"\bof {re.escape(old)}(?!\w)", self._asked):
                return self._asked.replace(f"of {old}", f"of {name}")
        raise NotUnderstood(f"It is not clear what of {name} is meant")

    def _with_preposition(self, preposition: str, name: str) -> str:
        for old in reversed(names_in(self._asked)):
            if re.search(rf"\b{preposition} {re.escape(old)}(?!\w)", self._asked):
                return self._asked.replace(f"{preposition} {old}", f"{preposition} {name}")
        if dated := re.search(rf"\b{preposition} \d{{4}}\b", self._asked):
            return f"{self._asked[: dated.start()]}{preposition} {name}{self._asked[dated.end() :]}"
        return f"{self._asked} {preposition} {name}"

    def _put(self, name: str) -> str:
        """The last question about `name`. Raises NotUnderstood."""
        focus = self._focus(name)
        if focus == name:
            raise NotUnderstood("The last question was about that already")
        return self._asked.replace(focus, name)

    def _focus(self, name: str) -> str:
        """The part of the last question that `name` takes the place of: what it is about."""
        here = [
            mention
            for mention in self._mentions
            if mention.age == 0 and not mention.answered and mention.text in self._asked
        ]
        held = [mention.text for mention in here] or names_in(self._asked)
        outer = [text for text in held if not any(text != other and text in other for other in held)]
        if len(outer) == 1:
            return outer[0]
        words = set(name.casefold().split())
        alike = [text for text in outer if words & set(text.casefold().split()) - {"the", "of"}]
        named = next((mention for mention in self._mentions if mention.text == name), None)
        if not alike and named:
            alike = [mention.text for mention in here if mention.kind is named.kind and mention.text in outer]
        if len(alike) == 1:
            return alike[0]
        raise NotUnderstood("It is not clear what it takes the place of in the last question")

    def _of_owner(self, owner: Mention, noun: str) -> str:
        """ "and her husband?": the last question about him, where it was about her; else who he is. Who the parents are
        belongs to a birth, and is asked for after it."""
        held = f"{possessive(owner.text)} {noun}"
        spoken_of = owner.text in self._asked and possessive(owner.text) not in self._asked
        born = noun in _PARENTS and self._asked.endswith(" born")
        if spoken_of and not born and not _IDENTITY.match(self._asked):
            return self._asked.replace(owner.text, held, 1)
        return f"{_asking(noun, self._asked)} {held}"

    def _related(self, noun: str) -> str:
        """ "and the architect?": of what the last question was about."""
        if names_person(noun) or _IDENTITY.match(self._asked):
            owner = self._focus("")
            return f"{_asking(noun, self._asked)} the {noun} of {owner}"
        return self._put(self._of_noun(noun).text)

    # --- questions of one or two words -------------------------------------------------------

    def _else(self, text: str) -> str:
        match = re.match(r"^(?P<word>who|what)\b(?P<rest> .+)$", self._asked, re.I)
        if not _ELSE.match(text):
            return ""
        if match is None or not self._last.short_answer:
            raise NotUnderstood("The last question did not ask who or what")
        return f"{match['word']} else{match['rest']} besides {self._last.short_answer}"

    def _bare(self, text: str) -> str:
        """ "why?", "when?": about what the last question and its answer say together."""
        match = _BARE.match(text)
        if match is None:
            return ""
        word, answer = match["word"], self._last.short_answer.strip(" .")
        if happened := _HAPPENED.match(self._asked):
            return f"{word} {happened['rest']}"
        if (who := _WHO_IS.match(self._asked)) and answer and not re.match(r"\w+ed\b", who["rest"]):
            return f"{word} {who['be']} {answer} {who['rest']}"
        done = _WHO_DID.match(self._asked)
        base = base_form(done["verb"]) if done else ""
        if done and base and answer:
            return f"{word} did {answer} {base} {done['rest']}"
        raise NotUnderstood(f"It is not clear what “{word}” asks about")

    def _comparison(self, text: str) -> str:
        match = _COMPARED.match(text)
        if match is None or not names_in(f"- {match['name']}"):
            return ""
        others = [mention for mention in self._mentions if mention.text.casefold() != match["name"].casefold()]
        things = [mention for mention in others if mention.kind in (Kind.THING, Kind.OPEN)]
        persons = [mention for mention in others if mention.kind is Kind.PERSON]
        about_persons = match["more"] in ("older", "younger") and persons
        chosen: Sequence[Mention] = persons if about_persons else things or persons
        if not chosen:
            raise NotUnderstood("It is not clear what it compares with")
        return f"{text} than {chosen[0].text}"

    def _measure(self, text: str) -> str:
        """ "how long?": of what the last question was about."""
        match = _MEASURED.match(text)
        if match is None or match["what"] in ("so", "come"):
            return ""
        about = next(
            (mention for mention in self._mentions if mention.kind in (Kind.THING, Kind.OPEN, Kind.PERSON)), None
        )
        if about is None:
            raise NotUnderstood(f"It is not clear of what it asks “{text}”")
        return f"{text} is {about.text}"


def _is_question(text: str) -> bool:
    first, _, rest = text.partition(" ")
    low = first.casefold()
    if low in PREPOSITIONS:
        return rest.partition(" ")[0].casefold() in QUESTION_WORDS
    return bool(rest) and (low in QUESTION_WORDS or low in AUXILIARIES or low in ("tell", "name", "give", "list"))


def _asking(noun: str, last: str) -> str:
    """ "Who was" or "What is", in the time of the last question."""
    words = set(last.casefold().split())
    tense = "is" if words & {"is", "are", "does", "do"} and not names_person(noun.split()[-1]) else "was"
    if noun.endswith("s") and names_person(noun.split()[-1][:-1]):  # "his parents"
        tense = "were"
    return f"{'Who' if names_person(noun.split()[-1]) else 'What'} {tense}"


def _titled(said: str) -> str:
    """A name that was typed in small letters."""
    return said if any(letter.isdigit() for letter in said) else said.title()


def _question(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" ,.?!")
    return f"{text[:1].upper()}{text[1:]}?"
