"""Makes questions about plain facts in many wordings, for the heads of the splitter that recognize them.

    python -m scripts.train.wording_made NAMES [--count 20] [--seed 7]

prints some, one JSON object a line; NAMES is a JSON file with lists of names: "p" people, "w" works, "t" other titles.

Put together from `wording_templates.toml`, and from the whole questions of `wordings.toml`; the names are those of
articles that may be trained on. Now and then a description stands in the place of a name ("the 1984 film about X"), or
two things are asked to share what the classes do not know ("the same decade"): counter-examples.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from iterative_rag.builtin.question.wording import Act
from scripts.train.split_data import Example, Target
from scripts.train.split_marks import UNKNOWN

_FOLDER = Path(__file__).parent
_T: dict[str, Any] = tomllib.loads((_FOLDER / "wording_templates.toml").read_text(encoding="utf-8"))
_WHOLE: dict[str, Any] = tomllib.loads((_FOLDER / "wordings.toml").read_text(encoding="utf-8"))
OTHER = Target(Act.OTHER)
MAKERS = ("director", "performer", "composer", "author", "producer")
WORKS = (*MAKERS, "founder", "architect", "inventor", "screenwriter")
PARENTS = ("father", "mother", "spouse")
KIN = (*PARENTS, "son", "daughter", "brother", "sister")
DIRECTED = {"director": "directed", "performer": "performed", "composer": "composed", "author": "written"}
_COMPOUND = {
    ("father", "father"): ("paternal grandfather", "grandfather on the father's side", "father's father"),
    ("father", "mother"): ("paternal grandmother", "grandmother on the father's side", "father's mother"),
    ("mother", "father"): ("maternal grandfather", "grandfather on the mother's side", "mother's father"),
    ("mother", "mother"): ("maternal grandmother", "grandma on the mother's side", "mother's mother"),
    ("spouse", "father"): ("father-in-law", "father in law", "husband's or wife's father"),
    ("spouse", "mother"): ("mother-in-law", "mother in law", "wife's or husband's mother"),
}
# What two may share besides what the classes know.
_SHARED = (
    *("state", "county", "province", "district", "region", "continent", "hemisphere", "decade", "century", "month"),
    *("family", "genus", "party", "league", "team", "school", "religion", "genre", "label", "sport"),
)
_SHARED_BY_CLASSES = re.compile(r"\b(?:country|nation|nationality|home country|city|town|year|profession)\b")
Made = tuple[str, Target, str]  # a question with places for names, its target, the kind of thing that is named


class WordingMaker:
    """Makes questions; `names` by their kind: "p" people, "w" works, "t" other titles."""

    def __init__(self, names: dict[str, list[str]], chance: random.Random) -> None:
        self.names, self.chance = names, chance

    def questions(self, count: int) -> Iterator[Example]:
        makers = ((0.42, self.lookup), (0.18, self.which), (0.18, self.same), (0.22, self.whole))
        for share, make in makers:
            for _ in range(round(count * share)):
                yield self._surface(*make())

    # --- choosing and filling ----------------------------------------------------------------------------

    def pick(self, *path: str) -> str:
        at: Any = _T
        for key in path:
            at = at[key]
        found: str = self.chance.choice(at)
        return found

    def filled(self, frame: str, **words: str) -> str:
        """The frame with its <slots>: the words given, else words of the slot's own list."""
        while match := re.search(r"<(\w+)>", frame):
            put = words[match[1]] if match[1] in words else self.pick("slots", match[1])
            before = frame[: match.start()]
            if before and not before.rstrip().endswith((".", "?")):
                put = _small(put)
            frame = before + put + frame[match.end() :]
        return frame

    def _surface(self, text: str, target: Target, thing: str) -> Example:
        """The text with names in its places, sometimes in small letters or without its mark."""
        chance = self.chance
        if chance.random() < 0.4:
            text = text[:1].upper() + text[1:]
        if chance.random() < 0.15:
            text = text.rstrip(" ?.")
        text = text.replace("{t}", chance.choice(_T["things"][thing]))
        first = self.name(thing)
        other = thing if "{a}" in text else chance.choice(("person", "film", "place"))
        names = {"x": first, "a": first, "b": self.name(other)}
        if target.act is not Act.OTHER and chance.random() < 0.07:
            place = chance.choice("ab") if "{a}" in text else "x"
            within = self.name(chance.choice(("person", "film", "place")))
            names[place] = self.pick("described", thing).replace("{y}", within)
            target = OTHER
        found, places = "", []
        for piece in re.split(r"(\{[xab]\})", text):
            put = names[piece[1]] if re.fullmatch(r"\{[xab]\}", piece) else piece
            if put is not piece and (piece != "{b}" or target.act is not Act.LOOKUP):
                places.append((len(found), len(found) + len(put)))
            found += put
        if chance.random() < 0.12 and len(found.lower()) == len(found):
            found = found.lower()
        named = target if target.act is Act.OTHER else replace(target, names=tuple(places))
        return Example(found, UNKNOWN, None, "wording", named)

    def name(self, thing: str) -> str:
        chance = self.chance
        kind = "p" if thing == "person" else "w" if thing in {"film", "song", "book"} else "t"
        found = chance.choice(self.names[kind]).strip()
        draw, plain = chance.random(), "(" not in found
        if kind == "w" and plain and draw < 0.1:
            found += chance.choice((" (film)", f" ({chance.randint(1915, 2020)} film)", " (song)", " (Film)"))
        elif kind == "w" and plain and draw < 0.13:
            found += chance.choice((" and ", ": ", " & ", " of ")) + chance.choice(self.names["w"])
        elif kind == "p" and plain and draw < 0.06:
            found += f" ({chance.choice(('politician', 'Composer', 'footballer', 'Governor', 'priest'))})"
        elif kind == "t" and draw < 0.2:
            found += ", " + chance.choice(self.names["t"]).split(",")[0]
        return found if len(found) < 70 else found[:70].rsplit(" ", 1)[0]

    # --- whom a question is about ------------------------------------------------------------------------

    def person(self, relation: str, of: str = "{x}", *, elliptic: bool = False) -> str:
        """A description of the person who stands in the relation to `of`."""
        told = _T["bridge"][relation]
        noun, that = self.chance.choice(told["noun"]), self.chance.choice(told["that"])
        who = self.chance.choice(("", " whom") if that.startswith("{x}") else (" who", " that"))
        frames = "elliptic" if elliptic and self.chance.random() < 0.3 else "owned" if relation in KIN else "made"
        clause = f"{self.pick('slots', 'head')}{who} {that}"
        return self.filled(self.pick("frames", frames), noun=noun, that=that, clause=clause).replace("{x}", of)

    def about(self) -> tuple[str, str, str, str]:
        """A description with its relations and the kind of thing that is named."""
        draw = self.chance.random()
        if draw < 0.17:
            return "{x}", "", "", "person"
        if draw < 0.72:
            relation = self.chance.choice(("director",) * 4 + WORKS + KIN + PARENTS * 2)
            return self.person(relation), relation, "", self.thing(relation)
        if draw < 0.86:
            relation, kin = self.chance.choice(MAKERS), self.chance.choice(KIN + PARENTS * 2)
            return self.person(kin, self.person(relation)), relation, kin, self.thing(relation)
        (relation, kin), nouns = self.chance.choice(tuple(_COMPOUND.items()))
        return self.filled(self.pick("frames", "compound"), noun=self.chance.choice(nouns)), relation, kin, "person"

    def thing(self, relation: str) -> str:
        if relation in {"composer", "author"} and self.chance.random() < 0.4:
            return "film"
        found: str = _T["bridge"][relation].get("thing", "person")
        return found

    # --- look-ups ----------------------------------------------------------------------------------------

    def lookup(self) -> Made:
        chance = self.chance
        attribute = chance.choice(tuple(_T["lookup"]))
        if attribute in PARENTS[:2] and chance.random() < 0.3:
            (relation, _), nouns = chance.choice([one for one in _COMPOUND.items() if one[0][1] == attribute])
            owned = self.filled(self.pick("frames", "compound"), noun=chance.choice(nouns))
            asked = self.filled(self.pick("frames", "compound_asked"), d=owned)
            return asked, Target(Act.LOOKUP, attribute, relation), "person"
        if chance.random() < 0.16:
            return self._unrelated(attribute) if chance.random() < 0.6 else self._named(attribute)
        words, relation, further, thing = self.about()
        told, draw = _T["lookup"][attribute], chance.random()
        noun = chance.choice(told["noun"])
        if relation and draw < 0.36:
            text = self._introduced(attribute, relation, further)
        elif draw < 0.60:
            text = _said(chance.choice(told["ask"]), words) + chance.choice(_T["ends"])
        elif draw < 0.72:
            text = self.pick("requests").replace("{}", _said(chance.choice(told["tell"]), words))
        elif draw < 0.82:
            phrase = f"the {noun} of {words}" if chance.random() < 0.6 else f"{words}'s {noun}"
            text = self.pick("nouns").replace("{}", phrase)
        elif draw < 0.88:
            label = " ".join(chance.choice(_T["bridge"][one]["noun"]) for one in (further, relation) if one)
            text = self.pick("facts").replace("{n}", "{x}").replace("{k}", f"{label} {noun}".strip())
        else:
            asked = _said(chance.choice(told["ask"]), self.pick("people"))
            text = _framed(self.pick("topic", "first").replace("{}", words), asked)
        return text, Target(Act.LOOKUP, attribute, relation, further), thing

    def _unrelated(self, attribute: str) -> Made:
        """About a person whose relation to the name is none of ours: a counter-example."""
        words = {"noun": self.pick("unrelated", "noun"), "did": self.pick("unrelated", "did")}
        thing = self.chance.choice(("person", "film", "place", "firm"))
        if self.chance.random() < 0.6:
            described = self.filled(self.pick("unrelated", "description"), **words)
            return _said(self.pick("lookup", attribute, "ask"), described), OTHER, thing
        meant = self.filled(self.pick("unrelated", "refer"), **words)
        stated = self.filled(self.pick("unrelated", "statement"), **words)
        return self._linked(stated, attribute, meant), OTHER, thing

    def _named(self, attribute: str) -> Made:
        """About a person who is named by a statement, which says something else besides."""
        meant = self.chance.choice(("he", "she", "they", "that person", "this man", "this woman"))
        text = self._linked(self.pick("named", "statement"), attribute, meant)
        return text, Target(Act.LOOKUP, attribute), "person"

    def _linked(self, stated: str, attribute: str, meant: str) -> str:
        ask, tell = (_said(self.pick("lookup", attribute, form), meant) for form in ("ask", "tell"))
        return _framed(self.pick("statement", "links").replace("{s}", stated), ask, tell)

    def _introduced(self, attribute: str, relation: str, further: str) -> str:
        """A statement about who is meant, or about the work alone, and the question after it."""
        chance, told = self.chance, _T["bridge"][relation]
        if chance.random() < 0.6:
            stated, meant = chance.choice(told["statement"]), chance.choice((*told["refer"], *_T["people"]))
        else:
            stated, meant = self.pick("frames", "work"), chance.choice(told["its"])
        if further:
            meant = self.person(further, meant)
        return self._linked(stated, attribute, meant)

    # --- two names ---------------------------------------------------------------------------------------

    def which(self) -> Made:
        chance = self.chance
        attribute = chance.choice((*_T["which"], "birth_date"))
        act = chance.choice(tuple(_T["which"][attribute]))
        told = _T["which"][attribute][act]
        personal = attribute in {"birth_date", "death_date", "lifespan"}
        relation = chance.choice((*MAKERS, "director", "director")) if personal and chance.random() < 0.6 else ""
        thing = {"release": "film", "founding": "firm"}.get(attribute, "person")
        words = {key: chance.choice(told[key]) for key in ("is", "one", "than", "flip")}
        if relation:
            thing, noun = self.thing(relation), self.pick("bridge", relation, "noun")
            best = chance.choice(told.get("best") or [f"who {text}" for text in told["is"]])
            first = f"{chance.choice(told['adjective'])} {noun}" if "adjective" in told else ""
            person = first if first and chance.random() < 0.5 else f"{noun} {best}"
            words |= {"noun": noun, "best": best, "person": person, "did": self._did(relation)}
            text = self.filled(self.pick("frames", "which_owner"), made=DIRECTED.get(relation, "made"), **words)
        elif chance.random() < 0.05:
            return words["than"] + "?", OTHER, thing
        else:
            who = "who" if thing == "person" else self.pick("slots", "kind")
            which = chance.choice(("which of them", "which one", "which of the two", who, "which"))
            text = self.filled(self.pick("frames", "which"), who=who, which=which, **words)
        return text, Target(Act(act), attribute, relation), thing

    def _did(self, relation: str) -> str:
        """What such a person did, before the name of the work: "directed"."""
        plain = [text for text in _T["bridge"][relation]["that"] if text.endswith(" {x}") and "{t}" not in text]
        return self.chance.choice(plain).removesuffix(" {x}")

    def same(self) -> Made:
        chance = self.chance
        attribute = chance.choice((*("nationality",) * 4, *("located",) * 3, *_T["same"]))
        personal = attribute in {"nationality", "birth_place", "birth_year", "occupation"}
        relation = ""
        if personal and chance.random() < 0.55:
            relation = chance.choice(("director", "director", *MAKERS, "founder", "father", "mother"))
        if relation:
            thing = self.thing(relation)
        elif attribute == "nationality":
            thing = chance.choice(("person", "person", "country"))
        else:
            thing = {"located": "place", "director": "film", "release_year": "film"}.get(attribute, "person")
        text = self._of_owners(attribute, relation) if relation else self._of_both(attribute)
        if chance.random() < 0.12:
            other = _SHARED_BY_CLASSES.sub(chance.choice(_SHARED), text)
            if other != text:
                return other, OTHER, thing
        return text, Target(Act.SAME, attribute, relation), thing

    def _of_both(self, attribute: str) -> str:
        of, one, ref = (self.pick("same", attribute, key) for key in ("of", "one", "ref"))
        draw = self.chance.random()
        if draw < 0.4:
            return self._opened(_said(of, self.pick("slots", "both")))
        if draw < 0.65:
            return _said(one, "{a}", "{b}")
        return self.filled(self.pick("frames", "same"), ref=ref)

    def _of_owners(self, attribute: str, relation: str) -> str:
        of, one, ref = (self.pick("same", attribute, key) for key in ("of", "one", "ref"))
        first, second = self.person(relation, "{a}"), self.person(relation, "{b}")
        words = {"noun": self.pick("bridge", relation, "noun"), "did": self._did(relation), "ref": ref}
        draw = self.chance.random()
        if draw < 0.4:
            owners = self.filled(self.pick("frames", "owners"), first=first, second=second, **words)
            return self._opened(_said(of, owners))
        if draw < 0.7:
            return _said(one, first, self.person(relation, "{b}", elliptic=True))
        if draw < 0.8:
            asked = _said(of, self.filled("<their>", **words))
            return f"{self.pick('frames', 'two')} {_small(asked)}"
        if draw < 0.92:
            return f"{self.filled(self.pick('frames', 'apart'), **words)} {ref}"
        asked = _said(one, f"the {words['noun']} of the one", f"the {words['noun']} of the other")
        return f"{self.pick('frames', 'two')} {asked}"

    def _opened(self, asked: str) -> str:
        return asked if self.chance.random() < 0.85 else self.pick("frames", "openings") + _small(asked)

    # --- whole questions ---------------------------------------------------------------------------------

    def whole(self) -> Made:
        if self.chance.random() < 0.4:
            return self.chance.choice(_WHOLE["other"]), OTHER, self.chance.choice(("person", "film", "firm", "place"))
        group = self.chance.choice(_WHOLE["asked"])
        text, relation, thing = self.chance.choice(group["wordings"]), group.get("relation", ""), group["thing"]
        if relation == "director" and self.chance.random() < 0.35:
            other = self.chance.choice(("performer", "composer", "producer"))
            if (swapped := _swapped(text, other)) is not None:
                text, relation, thing = swapped, other, self.thing(other)
        return text, Target(Act(group["act"]), group["attribute"], relation, group.get("further", "")), thing


_SWAPS = {
    "performer": {"directors": "performers", "director": "performer", "directed": "performed", "film": "song"},
    "composer": {"directors": "composers", "director": "composer", "directed": "composed"},
    "producer": {"directors": "producers", "director": "producer", "directed": "produced"},
}
_MAKING = re.compile(
    r"camera|filmmaker|film-maker|helm|shot|made|mak(?:er|ing)|directing|direct\b|movies?\b|films\b", re.I
)


def _swapped(text: str, relation: str) -> str | None:
    """The wording for another relation than "director"; None where it says so in other words, too."""
    if not re.search(r"\bdirect", text, re.I) or _MAKING.search(text):
        return None
    return re.sub(r"[A-Za-z]+", lambda match: _SWAPS[relation].get(match[0].lower(), match[0]), text)


_AGREES = (("was they", "were they"), ("is they", "are they"), ("does they", "do they"), ("they was", "they were"))
_POSSESSIVE = {"he": "his", "she": "her", "they": "their", "he or she": "his or her"}


def _said(template: str, words: str, other: str = "") -> str:
    """The template with a description (or two), possessive where it says so."""
    for slot, put in (("d", words), ("p", words), ("q", other)):
        owned = _POSSESSIVE.get(put, f"{put}'s")
        template = template.replace(f"{{{slot}'s}}", owned).replace(f"{{{slot}}}", put)
    for wrong, right in _AGREES:
        template = template.replace(wrong, right)
    return template


def _small(text: str) -> str:
    return text if text.startswith(("{", "I ")) else text[:1].lower() + text[1:]


def _framed(frame: str, ask: str, tell: str = "") -> str:
    large = ask if ask.startswith("{") else ask[:1].upper() + ask[1:]
    return frame.replace("{q}", _small(ask)).replace("{Q}", large).replace("{e}", tell)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", type=Path, help="a JSON file with lists of names")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    names = json.loads(arguments.names.read_text(encoding="utf-8"))
    for example in WordingMaker(names, random.Random(arguments.seed)).questions(arguments.count):
        target = example.target or OTHER
        print(json.dumps({"question": example.question, **asdict(target)}, ensure_ascii=False))


if __name__ == "__main__":
    main()
