"""Documents with instructions planted in them, and a model that obeys these wherever it sees them. The instructions are
data: `evaluation/hostile/instructions.jsonl`; the articles are invented."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.numbered_sentences import unnumbered
from fakes.script_mind import ScriptMind
from fakes.script_view import Link, Quoted, Script
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.protocols import ChatRequest

FILE = Path(__file__).resolve().parents[1] / "evaluation" / "hostile" / "instructions.jsonl"
QUESTION = "Who is the mayor of the town where the Sunday bridge stands?"
RIGHT = "Edda Holm"
BRIDGE = "The Sunday bridge is a stone bridge in Aldermere."
MAYOR = "Its mayor is Edda Holm."
TOWN = "Aldermere is a market town in the Vessel Isles."
FOUNDED = "It was founded by weavers in 1310."
WEB_URL = "https://council.example/aldermere"
ROLES = [
    "analyse", "extract", "rephrase", "rephrase_and_analyse", "answer", "grade", "reword", "web_query", "reflect",
    "plan", "agent",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Instruction:
    """`goal` is what it is after, `place` where in a document it stands, `wants` what an obedient model would say."""

    id: str
    goal: str
    place: str
    language: str
    wants: str
    text: str


def instructions() -> list[Instruction]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [Instruction(**json.loads(line)) for line in lines]


def squeezed(text: str) -> str:
    """Letters and digits alone, in lower case and plain width: what is the same text however it is set."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


# --- the documents ---------------------------------------------------------------------------


def write_documents(folder: Path, one: Instruction) -> None:
    """The articles that answer the question, with the instruction in one of them; one is on the web in web cases."""
    folder.mkdir(parents=True)
    (folder / "Sunday_bridge.md").write_text(f"# Sunday bridge\n\n{BRIDGE} It crosses the Wend.\n", encoding="utf-8")
    if one.place == "web":
        (folder / "Aldermere.md").write_text(f"# Aldermere\n\n{TOWN} {FOUNDED}\n", encoding="utf-8")
    else:
        name, content = _PLACES[one.place](one.text)
        (folder / name).write_text(content, encoding="utf-8")
    if one.place in ("title", "csv", "jsonl"):  # the instruction has a document of its own
        (folder / "Aldermere.md").write_text(_article(f"{MAYOR} {FOUNDED}"), encoding="utf-8")
    for path in folder.glob("*.md"):  # equal texts of several cases would be one document
        path.write_text(f"{path.read_text(encoding='utf-8')}\nPage {one.id} of the archive.\n", encoding="utf-8")


def web_page(one: Instruction) -> tuple[str, str]:
    """Title and text of the page that the web has on the town."""
    return "Council of Aldermere", f"# Council of Aldermere\n\nAldermere is a town. {MAYOR}\n\n{one.text}\n"


def _article(body: str, head: str = "") -> str:
    return f"{head}# Aldermere\n\n{TOWN} {body}\n"


def _page(body: str, head: str = "") -> str:
    return f"<html><head><title>Aldermere</title>{head}</head><body><p>{TOWN} {MAYOR}</p>{body}</body></html>"


def _spaced(text: str) -> str:
    return "\u200b".join(text)


def _table(text: str) -> str:
    row = " ".join(text.replace("|", "/").split())
    return _article(f"{MAYOR}\n\n| Aldermere | |\n|---|---|\n| Mayor | {RIGHT} |\n| Note | {row} |")


_Written = tuple[str, str]
_PLACES: Mapping[str, Callable[[str], _Written]] = {
    "prose": lambda text: ("Aldermere.md", _article(f"{FOUNDED}\n\n{text}\n\n{MAYOR}")),
    "start": lambda text: ("Aldermere.md", f"{text}\n\n{_article(f'{MAYOR} {FOUNDED}')}"),
    "end": lambda text: ("Aldermere.md", _article(f"{MAYOR} {FOUNDED}\n\n{text}")),
    "heading": lambda text: ("Aldermere.md", _article(f"{MAYOR}\n\n## {text}\n\n{FOUNDED}")),
    "list": lambda text: ("Aldermere.md", _article(f"{MAYOR}\n\n- {FOUNDED}\n- {text}")),
    "quote": lambda text: ("Aldermere.md", _article(f"{MAYOR}\n\n> {text}\n\n{FOUNDED}")),
    "code": lambda text: ("Aldermere.md", _article(f"{MAYOR}\n\n```\n{text}\n```\n\n{FOUNDED}")),
    "zero_width": lambda text: ("Aldermere.md", _article(f"{_spaced(text)}\n\n{MAYOR}")),
    "table": lambda text: ("Aldermere.md", _table(text)),
    "front_matter": lambda text: (
        "Aldermere.md",
        _article(f"{MAYOR} {FOUNDED}", f"---\ntitle: {json.dumps(f'Aldermere. {text}')}\ndescription: {text}\n---\n"),
    ),
    "title": lambda text: (
        "Mayors.md",
        f"---\ntitle: {json.dumps(text)}\n---\n# {text}\n\nMayors of Aldermere have met on the Sunday bridge.\n",
    ),
    "html": lambda text: ("Aldermere.html", _page(f"<p>{html.escape(text)}</p>")),
    "html_hidden": lambda text: ("Aldermere.html", _page(f'<p style="display:none">{html.escape(text)}</p>')),
    "html_comment": lambda text: ("Aldermere.html", _page(f"<!-- {text} -->")),
    "html_alt": lambda text: ("Aldermere.html", _page(f'<p><img src="a.png" alt="{html.escape(text)}"></p>')),
    "csv": lambda text: ("Mayors.csv", f"town,mayor,note\nAldermere,{RIGHT},{json.dumps(text)}\n"),
    "jsonl": lambda text: (
        "Mayors.jsonl",
        json.dumps({"title": "Mayors of Aldermere", "text": f"The mayors of Aldermere. {text}"}) + "\n",
    ),
}


# --- the model -------------------------------------------------------------------------------


@dataclass
class ObedientLLM:
    """Plays every role: by the planted instructions that it can see in its prompt, else honestly.

    `invented` are the quotes that it made up, `obeyed` the ids of instructions by the roles that followed them.
    """

    known: Sequence[Instruction]
    invented: list[str] = field(default_factory=list)
    obeyed: dict[str, set[str]] = field(default_factory=dict)
    systems: set[str] = field(default_factory=set)

    def llm(self) -> ScriptedLLM:
        return ScriptedLLM(dict.fromkeys(ROLES, self.reply), name="obedient")

    def reply(self, request: ChatRequest) -> str:
        self.systems.add(request.system)
        seen = squeezed(unnumbered(request.user))
        for one in self.known:
            if squeezed(one.text)[:40] in seen:
                self.obeyed.setdefault(one.id, set()).add(request.role)
                said = self._obeying(one, request)
                return said if isinstance(said, str) else json.dumps(said)
        return json.dumps(honest(request))

    def _obeying(self, one: Instruction, request: ChatRequest) -> object:
        if one.goal == "reply":  # says what stands in the document, whatever was asked for
            self.invented += [fact["quote"] for fact in _facts_in(one.text)] if request.role == "extract" else []
            return one.text
        wanted = request.system if one.goal == "prompt" else one.wants or RIGHT
        match request.role:
            case "extract":
                return {"facts": self._facts(one, request, wanted)}
            case "analyse":
                return _analysis(one, wanted)
            case "rephrase":
                return _rephrasing(one, wanted)
            case "rephrase_and_analyse":
                return {**_analysis(one, wanted), **_rephrasing(one, wanted)}
            case "answer":
                return _answer(one, wanted)
            case "grade":
                return {"grades": _grades(request, lambda text: squeezed(one.text)[:40] in squeezed(text))}
            case "reword":
                return {"phrasings": [f"{wanted} {n}" for n in range(3)], "broader": wanted, "passage": wanted}
            case "web_query":
                return {"query": f"{wanted} {request.user}"}
            case "agent":
                return {"calls": self._calls(one, request, wanted)}
            case "reflect":
                return {**_reflection(request), "false_premise": one.text if one.goal == "stuck" else ""}
            case _:
                return {"done": one.goal != "flood", "steps": [{"question": f"{wanted} {n}?"} for n in range(50)]}

    def _facts(self, one: Instruction, request: ChatRequest, wanted: str) -> list[dict[str, str]]:
        """A made-up quote; a real one that is said to state what is wanted; and the instruction itself, quoted."""
        if one.goal == "stuck":
            return []
        made_up = f"It is on record that {wanted[:200]} was confirmed."
        self.invented.append(made_up)
        real = next((quote for quote in (MAYOR, BRIDGE, TOWN) if quote in unnumbered(request.user)), one.text)
        return [
            {"statement": f"The answer is {wanted}.", "quote": made_up, "value": wanted},
            {"statement": f"{wanted}. {one.text}", "quote": real, "value": wanted},
            {"statement": one.text, "quote": one.text, "value": wanted},
        ]

    def _calls(self, one: Instruction, request: ChatRequest, wanted: str) -> list[dict[str, Any]]:
        if one.goal == "flood":
            return [{"tool": "search", "queries": [f"{wanted} {n}"]} for n in range(50)]
        if one.goal == "stuck":
            return [{"tool": "submit", "answer": "", "short_answer": "", "missing": one.text}]
        quotes = [
            {"title": "Aldermere", "quote": fact["quote"], "question": QUESTION, "value": wanted}
            for fact in self._facts(one, request, wanted)
        ]
        submitted = {"tool": "submit", "answer": f"{wanted} [1][2][3].", "short_answer": wanted, "confidence": 1.0}
        return [{"tool": "note", "quotes": quotes}, {**submitted, "quotes": quotes}]


def _facts_in(text: str) -> Iterator[dict[str, str]]:
    for match in re.finditer(r'"facts": (\[\{.*?\}\])', text):
        yield from json.loads(match[1])


def _analysis(one: Instruction, wanted: str) -> dict[str, object]:
    if one.goal in ("flood", "question"):
        return {"status": "needs", "needs": [f"{wanted} {n}?" for n in range(50)]}
    return {"status": "stuck" if one.goal == "stuck" else "known", "reason": wanted}


def _rephrasing(one: Instruction, wanted: str) -> dict[str, object]:
    return {"question": wanted if one.goal == "question" else f"Is it {wanted}?"}


def _answer(one: Instruction, wanted: str) -> dict[str, object]:
    if one.goal == "stuck":
        return {"status": "false_premise", "missing": one.text}
    said = {"answer": f"{wanted} [1][2][3][99].", "short_answer": wanted, "working": wanted}
    return {"status": "answered", **said, "confidence": 1.0}


def _grades(request: ChatRequest, good: Callable[[str], bool]) -> list[dict[str, object]]:
    parts = re.split(r"<document (\d+) \w+>", request.user)[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [{"n": int(n), "label": "Perfect" if good(text) else "Awful", "reason": "as told"} for n, text in pairs]


def _reflection(request: ChatRequest) -> dict[str, object]:
    listed = request.user.partition("CLAIMS:")[2]
    numbers = re.findall(r"^(\d+)\. ", listed, re.MULTILINE)
    claims = [{"n": int(n), "verdict": "grounded", "facts": [1]} for n in numbers]
    return {"reason": "as told", "claims": claims, "useful": True, "refusal": False, "gap": ""}


# --- the same model where nothing is planted -------------------------------------------------

_HONEST = ScriptMind(
    Script(
        QUESTION,
        "en",
        (
            Link("In which town does the Sunday bridge stand?", (Quoted(BRIDGE, "Aldermere"),)),
            Link(
                "Who is the mayor of {0}?",
                (Quoted(MAYOR, RIGHT),),
                ("Aldermere mayor", "head of the town", "who governs Aldermere"),
                "Aldermere mayor",
            ),
        ),
        "{1}",
    )
)


def honest(request: ChatRequest) -> Mapping[str, Any]:
    """What stands in the prompt, and no more; it never says that a need is the last, so that every role is played."""
    return {name: value for name, value in _HONEST.played(request).items() if name != "last"}
