"""Models for `doctor --qualify`: one that is right in every case, and some with a defect each.

They are functions from the body of an Ollama request to the text of the reply, for `FakeServer.reply`. They know the
cases that ship with the package; whole questions they answer by a script (`script_mind`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fakes.model_server import Replier
from fakes.numbered_sentences import unnumbered
from fakes.script_mind import PLAYS, request_of, role_of, script_of, user_prompt
from fakes.script_view import Link, Quoted, Script, View, plain
from iterative_rag.app.qualification.cases import RoleCase, cases

PLANTED = "TULIPSTORM"
# The roles of the cases that are asked by a prompt.
_ASKED = {
    "analyse": ("plan",),
    "read": ("read", "decline"),
    "grade": ("check",),
    "answer": ("answer",),
    "extract": ("extract", "window"),
}
_DESIGN = Link("Who designed Quill Hall?", (Quoted("Quill Hall was designed by Maren Tove", "Maren Tove"),))
_MOTHER = Link("Who was the mother of {0}?", (Quoted("The mother of Maren Tove was Signe Aldous", "Signe Aldous"),))
_BIRTH = Link("In which town was {1} born?", (Quoted("Signe Aldous was born in Port Sallow", "Port Sallow"),))
_DEATH = Link("In which year did {1} die?", ())
_DRIVEN = [
    Script(f"In which {asked} the mother of the architect of Quill Hall {last}?", "en", (_DESIGN, _MOTHER, link), "{2}")
    for asked, last, link in (("town was", "born", _BIRTH), ("year did", "die", _DEATH))
]


def strong(body: Mapping[str, Any]) -> str:
    """Does everything right."""
    return json.dumps(_right(body))


def small(body: Mapping[str, Any]) -> str:
    """As real ones of one or two billion parameters: it reads, but never declines and takes everything for known."""
    reply = dict(_right(body))
    if reply.get("sentence") == 0:
        reply = {"sentence": 1, "answer": re.findall(r"(?m)^1\. (?:.* )?(\w+)\W*$", user_prompt(body))[-1]}
    if role_of(body) == "analyse":
        reply = {"status": "known", "needs": []}
    return json.dumps(reply)


def breaking_json(body: Mapping[str, Any]) -> str:
    """Every reply ends in the middle of its JSON."""
    text = json.dumps(_right(body))
    return text[: len(text) // 2]


def obedient(body: Mapping[str, Any]) -> str:
    """Follows instructions in documents."""
    reply = dict(_right(body))
    if role_of(body) == "extract" and PLANTED in user_prompt(body):
        quote = next(line for line in unnumbered(user_prompt(body)).splitlines() if PLANTED in line)
        reply["facts"] = [{"statement": PLANTED, "quote": quote, "value": PLANTED}]
    return json.dumps(reply)


def _right(body: Mapping[str, Any]) -> Mapping[str, Any]:
    role, user = role_of(body), user_prompt(body)
    if role == "agent":
        script = script_of(_DRIVEN, request_of(body))
        assert script is not None, "one of the whole questions"
        return PLAYS[role](View(script, request_of(body)))
    case = max((case for case in cases() if case.role in _ASKED[role] and _shown(case, user)), key=_length)
    said = [re.split(r"\|(?!\|)", re.sub(r"\(\?i\)|\\b|[\^$]|^\d: |\.\*", "", part))[0] for part in case.expect]
    match role:
        case "analyse":
            known = said == ["known"]
            return {"status": "known" if known else "needs", "needs": [] if known else [f"What of {', '.join(said)}?"]}
        case "read":
            row = re.search(rf"(?m)^(\d+)\. .*({said[0]})", user) if said else None
            return {"sentence": int(row[1]) if row else 0, "answer": row[2] if row else ""}
        case "grade":
            labels = ["Perfect" if str(n) in said else "Awful" for n in (1, 2)]
            return {"grades": [{"n": n, "reason": "", "label": label} for n, label in enumerate(labels, start=1)]}
        case "answer" if said:
            short = said[0] if said[0] in user else "No"
            return {"status": "answered", "answer": f"{short} [{len(case.facts)}].", "short_answer": short}
        case "answer":
            return {"status": "not_in_facts", "missing": "It is not stated."}
    quotes = [re.search(rf"[^.\n]*(?<!\w){value}(?!\w)[^.\n]*", unnumbered(user)) for value in said]
    facts = [
        {"statement": quote[0].strip(), "quote": quote[0].strip(), "value": value, "need": n}
        for n, (quote, value) in enumerate(zip(quotes, said, strict=True), start=1)
        if quote
    ]
    return {"facts": facts}


def _texts(case: RoleCase) -> list[str]:
    texts = (*case.sentences, *(said for _, said, _ in case.facts), *(text for _, text in case.documents))
    return [line for text in texts for line in text.splitlines() if any(map(str.isalnum, line))]


def _shown(case: RoleCase, user: str) -> bool:
    """Whether everything of a case stands in a prompt."""
    asked, shown = (case.question, *case.needs), plain(unnumbered(user))
    return all(plain(text.rstrip("?")) in shown for text in (*asked, *_texts(case)))


def _length(case: RoleCase) -> int:
    return sum(map(len, _texts(case)))


MODELS: dict[str, Replier] = {
    "strong": strong,
    "small": small,
    "breaking-json": breaking_json,
    "obedient": obedient,
}
