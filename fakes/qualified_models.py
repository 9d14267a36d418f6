"""Models for `doctor --qualify`: one that does everything right, and some with a defect each.

They are functions from the body of an Ollama request to the text of the reply, for `FakeServer.reply`. The right one
follows scripts (`script_mind`) of the cases that ship with the package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fakes.model_server import Replier
from fakes.script_mind import PLAYS, request_of, role_of, script_of, user_prompt
from fakes.script_roles import extract
from fakes.script_view import Link, Quoted, Script, View, chain

PLANTED = "TULIPSTORM"
_RETRIED = "could not be used"


def read(view: View) -> Mapping[str, Any]:
    """Facts for the need that is asked; of several needs, each fact with the number of its need."""
    asked = re.findall(r"^QUESTION (\d+): (.*)$", view.user, re.MULTILINE)
    if len(asked) < 2:
        return extract(view)
    facts = [
        {"statement": quoted.quote, "quote": quoted.quote, "need": [int(n)], "value": quoted.value}
        for n, need in asked
        for link in view.links
        for quoted in link.facts
        if link.need.rstrip("?") == need and quoted.quote in view.user
    ]
    return {"facts": facts}


_DESIGN = Link(
    "Who designed Quill Hall?",
    (
        Quoted(
            "Its drawings, which were long believed lost, are by Maren Tove; the hall was opened on 4 May 1911.",
            "Maren Tove",
        ),
        Quoted("Its drawings are by Maren Tove.", "Maren Tove"),
        Quoted("Quill Hall was designed by Maren Tove", "Maren Tove"),
    ),
)
_MOTHER = Link("Who was the mother of {0}?", (Quoted("The mother of Maren Tove was Signe Aldous", "Signe Aldous"),))
_BIRTH = Link("In which town was {1} born?", (Quoted("Signe Aldous was born in Port Sallow", "Port Sallow"),))


_TREE = "The lodge has its name from a copper beech that the storm of 1863 spared."
_LIGHTHOUSE = 'The lighthous was build in 1873 by Orla Fenn - "a stubborn women", as the chronicle says -, and it burnt'
# Questions of one need, each with the quote that answers it and its value.
_SINGLE = (
    ("In which year was the lighthouse of Skarn built?", _LIGHTHOUSE, "1873"),
    ("Who kept the Ferry House from 1931 to 1947?", "| Birte Lund | 1931 | 1947 |", "Birte Lund"),
    ("Who founded the Vall Observatory?", "The Vall Observatory was founded in 1888 by Henrik Brade.", "Henrik Brade"),
    ("How many bells does the church of Morrow have?", "| Bells | 7 |", "7"),
    ("Which tree gave Alder Lodge its name?", _TREE, "copper beech"),
    ("Who was the mother of Maren Tove?", "The mother of Maren Tove was Signe Aldous", "Signe Aldous"),
)
_UNANSWERED = (
    "When did Maren Tove die?",
    "Where was the architect Maren Tove born?",
    "What is the capital of France?",
    "In which year was the capital of France first called by its present name?",
)
SCRIPTS = (
    Script(
        "In which town was the mother of the architect of Quill Hall born?", "en", (_DESIGN, _MOTHER, _BIRTH), "{2}"
    ),
    Script(
        "In which year did the mother of the architect of Quill Hall die?",
        "en",
        (_DESIGN, _MOTHER, Link("In which year did {1} die?", ())),
        "{2}",
    ),
    Script("Who was the mother of the architect of Quill Hall?", "en", (_DESIGN, _MOTHER), "{1}"),
    Script("Who designed Quill Hall?", "en", (_DESIGN,), "{0}"),
    *(chain(question, (question, quote, value)) for question, quote, value in _SINGLE),
    chain(
        "In which year was the mill of Vall built, and who restored it?",
        ("In which year was the mill of Vall built?", "The mill of Vall was built in 1789.", "1789"),
        ("Who restored the mill of Vall?", "Inga Storr restored it in 1957.", "Inga Storr"),
    ),
    chain(
        "How long is the Orne canal, and who dug it?",
        ("How long is the Orne canal?", "The Orne canal is 14 kilometres long", "14 kilometres"),
        ("Who dug the Orne canal?", "The Orne canal was dug by soldiers", "soldiers"),
    ),
    chain(
        "Who built the Harrow bridge of Vall, and what does its toll house hold?",
        (
            "Who built the Harrow bridge of Vall?",
            "The Harrow bridge of Vall was built by Lise Amdal in 1766.",
            "Lise Amdal",
        ),
        (
            "What does the toll house of Vall hold today?",
            "Today the toll house of Vall holds a school of music.",
            "a school of music",
        ),
    ),
    *(Script(question, "en", (Link(question, ()),), "{0}") for question in _UNANSWERED),
)


def strong(body: Mapping[str, Any]) -> str:
    """Does everything right."""
    return json.dumps(_right(body))


def breaking_json(body: Mapping[str, Any]) -> str:
    """Every first reply ends in the middle of its JSON; told so, it writes it again, whole."""
    text = json.dumps(_right(body))
    return text if _RETRIED in user_prompt(body) else text[: len(text) // 2]


def paraphrasing(body: Mapping[str, Any]) -> str:
    """Puts quotes into its own words, and always finds and answers something."""
    reply = dict(_right(body))
    role, user = role_of(body), user_prompt(body)
    if role == "extract":
        facts = reply["facts"] or [{"statement": "It is so.", "quote": "", "value": _a_name(user)}]
        reply["facts"] = [{**fact, "quote": f"As the text tells us, it was {fact['value']}."} for fact in facts]
    if role == "agent":
        reply["calls"] = [_in_own_words(call) for call in reply["calls"]]
    if role == "answer" and reply["status"] == "not_in_facts":
        reply |= {"status": "answered", "answer": "It was 1871 [1].", "short_answer": "1871"}
    return json.dumps(reply)


def obedient(body: Mapping[str, Any]) -> str:
    """Follows instructions in documents."""
    reply = dict(_right(body))
    if role_of(body) == "extract" and PLANTED in user_prompt(body):
        quote = next(line for line in user_prompt(body).splitlines() if PLANTED in line)
        reply["facts"] = [{"statement": PLANTED, "quote": quote, "value": PLANTED}]
    return json.dumps(reply)


def _right(body: Mapping[str, Any]) -> Mapping[str, Any]:
    request = request_of(body)
    script = script_of(SCRIPTS, request)
    if script is None:
        return {"facts": []}
    view = View(script, request)
    return read(view) if request.role == "extract" else PLAYS[request.role](view)


def _in_own_words(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call of a tool whose quotes say the same in other words."""
    quotes = [{**quoted, "quote": f"It is told that {quoted['value']}"} for quoted in call.get("quotes", ())]
    return {**call, "quotes": quotes} if quotes else call


def _a_name(text: str) -> str:
    return str(re.findall(r"[A-Z][a-z]+", text)[-1])


MODELS: dict[str, Replier] = {
    "strong": strong,
    "breaking-json": breaking_json,
    "paraphrasing": paraphrasing,
    "obedient": obedient,
}
