"""What a scripted mind knows of one question, and what it can see of it in one prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from fakes.numbered_sentences import unnumbered
from iterative_rag.protocols import ChatRequest


@dataclass(frozen=True)
class Quoted:
    """A passage that proves a link: its quote, the value in it, the label of a row, and what it states where the quote
    does not say so by itself."""

    quote: str
    value: str
    label: str = ""
    states: str = ""


@dataclass(frozen=True)
class Link:
    """One link of the chain. `need` may hold `{0}`: the value of an earlier link. `rows`: all passages are needed."""

    need: str
    facts: tuple[Quoted, ...]
    rewordings: tuple[str, ...] = ()
    web_query: str = ""
    rows: bool = False


@dataclass(frozen=True)
class Script:
    """What an honest model would do with a question; see `evaluation/corrections/README.md`. `cites` are the links
    that its answer cites (all of them where it is empty). `foresees`: it says at once which needs will follow."""

    question: str
    lang: str
    links: tuple[Link, ...]
    answer: str = ""
    compute: str = ""
    premise: str = ""
    cites: tuple[int, ...] = ()
    foresees: bool = False


def chain(question: str, *links: tuple[str, str, str], cites: tuple[int, ...] = ()) -> Script:
    """An English question whose answer is the value of its last link; each link is a need, its quote and the value."""
    made = tuple(Link(need, (Quoted(quote, value),)) for need, quote, value in links)
    return Script(question, "en", made, f"{{{len(links) - 1}}}", cites=cites)


def script(case: Mapping[str, Any]) -> Script:
    """The script of a line of cases.jsonl."""
    return TypeAdapter(Script).validate_python({"question": case["question"], "lang": case["lang"], **case["script"]})


class View:
    """What can be seen in one prompt with the eyes of one script."""

    def __init__(self, script: Script, request: ChatRequest) -> None:
        self.script, self.links, self.system = script, script.links, request.system
        self.user = unnumbered(request.user) if request.role == "extract" else request.user
        fenced = re.findall(r"<facts (\w+)>\n(.*?)\n</facts \1>", self.user, re.DOTALL)
        lines = re.findall(r"^\[(\d+)\] (.*)$", "\n".join(text for _, text in fenced), re.MULTILINE)
        self.lines = [(int(n), plain(line)) for n, line in lines]

    # --- the facts of the prompt -------------------------------------------------------------

    def number(self, quoted: Quoted) -> int:
        """The number of the first fact that holds a quote; 0 where none does."""
        return next((n for n, line in self.lines if plain(quoted.quote) in line), 0)

    def held(self, link: Link) -> list[Quoted]:
        return [quoted for quoted in link.facts if self.number(quoted)]

    def found(self, link: Link) -> bool:
        held = self.held(link)
        return bool(held) and (len(held) == len(link.facts) or not link.rows)

    def values(self) -> list[str | None]:
        """The value of each link as the facts have it; None where it was not found."""
        return [self.held(link)[0].value if self.found(link) else None for link in self.links]

    def need(self, link: Link) -> str:
        """The link's question with what was found put in; "" where that is still missing."""
        values = self.values()
        wanted = [int(place) for place in re.findall(r"\{(\d+)\}", link.need)]
        if any(values[place] is None for place in wanted):
            return ""
        return filled(link.need, values)

    def missing(self) -> list[str]:
        """What has to be looked up, as far as it can be asked now."""
        return [need for link in self.links if not self.found(link) and (need := self.need(link))]

    def tried(self) -> set[str]:
        listed = self.user.partition("TRIED ALREADY:\n")[2]
        return {key(line.rpartition(" -> ")[0] or line) for line in re.findall(r"^- (.*)$", listed, re.MULTILINE)}

    def questions(self) -> list[str]:
        """What the prompt asks for, in its order: an extraction may ask for several things at once."""
        return re.findall(r"^QUESTION(?: \d+)?: (.*)$", self.user, re.MULTILINE)

    def asked(self) -> str:
        return self.questions()[-1]

    def wanted(self, question: str = "") -> list[Link]:
        """The links that a question of the prompt asks for; all of them where it is the whole question, or none's."""
        asked = key(question or self.asked())
        if asked == key(self.script.question):
            return list(self.links)
        named = [link for link in self.links if re.fullmatch(pattern(link.need), asked)]
        return named or list(self.links)

    def put_in(self, link: Link, template: str) -> str:
        """A text about a link with the values that stand in the prompt's question: there are no facts to see."""
        match = re.fullmatch(pattern(link.need), key(self.asked()))
        places = re.findall(r"\{(\d+)\}", link.need)
        known = dict(zip(places, match.groups() if match else (), strict=False))
        return re.sub(r"\{(\d+)\}", lambda at: known.get(at[1], ""), template)


def filled(template: str, values: Sequence[str | None]) -> str:
    return re.sub(r"\{(\d+)\}", lambda at: values[int(at[1])] or "", template)


def key(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?.")


def plain(text: str) -> str:
    return " ".join(text.split())


def pattern(need: str) -> str:
    """A need whose placeholders match whatever was put in."""
    return re.sub(r"\\{\d+\\}", "(.+)", re.escape(key(need)))
