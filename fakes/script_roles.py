"""Each role as an honest model plays it that follows a script, from what its prompt shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fakes.script_view import Link, View, filled, key, plain
from iterative_rag.text.languages import month_name

Reply = Mapping[str, Any]


def analyse(view: View) -> Reply:
    if all(map(view.found, view.links)):
        if view.script.premise:
            return {"reason": view.script.premise, "status": "stuck", "needs": []}
        return {"reason": "All is found.", "status": "known", "needs": []}
    needs, left = view.missing()[:4], [link for link in view.links if not view.found(link)]
    asked = [link for link in left if view.need(link) in needs]
    later = [link for link in left if link not in asked] if view.script.foresees else []
    numbers = {str(view.links.index(link)): f"#{n}" for n, link in enumerate([*asked, *later], start=1)}
    values = {str(place): value for place, value in enumerate(view.values()) if value}
    then = [re.sub(r"\{(\d+)\}", lambda at: (values | numbers)[at[1]], link.need) for link in later]
    last = len(asked) + len(later) == len(left)
    return {"reason": "Something is missing.", "status": "needs", "needs": needs, "then": then, "last": last}


def extract(view: View) -> Reply:
    text = plain(view.user)
    single = len(view.links) == 1
    facts = []
    for n, question in enumerate(view.questions(), start=1):
        for link in view.wanted(question):
            # A row of a table is no answer, and a link of a chain does not answer the whole question.
            answers = not link.rows and (single or view.wanted(question) == [link])
            for quoted in link.facts:
                if plain(quoted.quote) in text:
                    named = quoted.quote if quoted.value in quoted.quote else f"{quoted.value}: {quoted.quote}"
                    stated = quoted.states or named
                    value = quoted.value if answers else ""
                    facts.append({"statement": stated, "quote": quoted.quote, "need": n, "value": value})
    return {"facts": facts}


def rephrase(view: View) -> Reply:
    """The question with the values found in brackets."""
    known = [f"{view.need(link)} {view.held(link)[0].value}" for link in view.links if view.found(link)]
    return {"question": f"{view.script.question} ({'; '.join(known)})" if known else view.script.question}


def rephrase_and_analyse(view: View) -> Reply:
    analysis = analyse(view)
    written = answer(view) if analysis["status"] == "known" else {}
    return {**analysis, **rephrase(view), "answer": written if written.get("status") == "answered" else None}


def answer(view: View) -> Reply:
    script, values = view.script, view.values()
    marks = _marks(view, view.links)
    if any(value is None for value in values):
        missing = " ".join(view.missing()[:1]) or script.question
        return _reply("not_in_facts", missing=missing, answer="")
    if script.premise:
        return _reply("false_premise", missing=filled(script.premise, values), answer=f"It is untrue {marks}.")
    computed = ""
    if script.compute:
        expression = _expression(view)
        result = re.search(rf"^{re.escape(_minus(expression))} = (.*?)(?: (?:\[\d+\])+)?$", view.user, re.MULTILINE)
        if result is None:
            numbers = sorted({view.number(quoted) for link in view.links for quoted in view.held(link)})
            return _reply("compute", compute=[{"expression": expression, "facts": numbers}], answer="")
        computed = result[1]
    short = filled(script.answer.replace("{c}", computed), values)
    told = zip(view.links, _told(view), strict=True)
    steps = [f"{link_values} {_marks(view, [link])}" for link, link_values in told]
    if script.cites:
        steps = [f"{short} {_marks(view, [view.links[at] for at in script.cites])}"]
    text = f"{short} {marks}." if script.compute else f"{', '.join(steps)}."
    return _reply("answered", answer=text, short=short)


def write(view: View) -> Reply:
    """A text of what the facts state, each with its marker; what an answer cannot say, a text cannot either."""
    told = answer(view)
    reply = {name: told[name] for name in ("status", "answer", "short_answer", "missing", "confidence")}
    if told["status"] not in ("answered", "compute"):
        return reply
    quotes = [quoted for link in view.links for quoted in view.held(link)]
    text = " ".join(f"{quoted.quote.rstrip('.')} [{view.number(quoted)}]." for quoted in quotes)
    return {**reply, "status": "answered", "answer": text, "short_answer": ""}


def grade(view: View) -> Reply:
    quotes = [plain(quoted.quote) for link in view.wanted() for quoted in link.facts]
    documents = re.findall(r"<document (\d+) (\w+)>\n(.*?)\n</document \1 \2>", view.user, re.DOTALL)
    rows = []
    for n, _, text in documents:
        serves = any(quote in plain(text) for quote in quotes)
        label, reason = ("Perfect", "holds it") if serves else ("Awful", "does not")
        rows.append({"n": int(n), "reason": reason, "label": label})
    return {"grades": rows}


def reword(view: View) -> Reply:
    phrasings = [view.put_in(link, text) for link in view.wanted() for text in link.rewordings]
    return {"phrasings": phrasings or [f"{view.asked()} (article)"], "broader": "", "passage": ""}


def web_query(view: View) -> Reply:
    wanted = next((link for link in view.wanted() if link.web_query), None)
    return {"query": view.put_in(wanted, wanted.web_query) if wanted else view.asked().rstrip(" ?")}


def reflect(view: View) -> Reply:
    """Grounded is what the rule has proved, and an open claim that names a value of the facts."""
    listed = view.user.rpartition("CLAIMS:\n")[2].partition("TRIED ALREADY:")[0]
    values = [quoted.value for link in view.links for quoted in view.held(link) if quoted.value]
    claims = []
    for n, text, standing in re.findall(r"^(\d+)\. (.*) \((proved|failed|open)[^\n]*\)$", listed, re.MULTILINE):
        open_but_held = standing == "open" and any(value in text for value in values)
        verdict = "grounded" if standing == "proved" or open_but_held else "not_grounded"
        numbers = [view.number(quoted) for link in view.links for quoted in view.held(link) if quoted.value in text]
        claims.append({"n": int(n), "verdict": verdict, "facts": numbers, "why": "" if verdict == "grounded" else "?"})
    premise = filled(view.script.premise, view.values()) if all(map(view.found, view.links)) else ""
    return {
        "reason": "Looked at.",
        "claims": claims,
        "useful": all(map(view.found, view.links)),
        "refusal": False,
        "false_premise": premise,
        "gap": "".join(view.missing()[:1]),
    }


def plan(view: View) -> Reply:
    steps = []
    for link in view.links:
        question = view.need(link) or re.sub(r"\{(\d+)\}", lambda at: _described(view, int(at[1])), link.need)
        if not view.found(link) and key(question) not in view.tried():
            steps.append({"question": question, "purpose": ""})
    return {"reason": "These are left.", "done": not steps, "steps": steps}


# --- values, expressions, texts --------------------------------------------------------------


def _reply(
    status: str,
    *,
    answer: str,
    short: str = "",
    missing: str = "",
    compute: Sequence[Reply] = (),
) -> Reply:
    return {
        "working": "",
        "compute": list(compute),
        "status": status,
        "answer": answer,
        "short_answer": short,
        "missing": missing,
        "confidence": 0.95,
    }


def _told(view: View) -> list[str]:
    """Each link's value; of a link that only leads on, the end of its quote."""
    return [view.held(link)[0].value or view.held(link)[0].quote.rstrip(".") for link in view.links]


def _marks(view: View, links: Sequence[Link]) -> str:
    numbers = sorted({view.number(quoted) for link in links for quoted in view.held(link)})
    return "".join(f"[{n}]" for n in numbers)


def _expression(view: View) -> str:
    """The case's expression with the values of the facts, as an English-speaking calculator wants them."""

    def filled(match: re.Match[str]) -> str:
        held = view.held(view.links[int(match[1])])
        if match[2] == "*":
            return ", ".join(_number(quoted.value, view.script.lang) for quoted in held)
        if match[2] == ":labels":
            pairs = (f'"{quoted.label}": {_number(quoted.value, view.script.lang)}' for quoted in held)
            return f"{{{', '.join(pairs)}}}"
        return _number(held[0].value, view.script.lang)

    return re.sub(r"\{(\d+)(\*|:labels)?\}", filled, view.script.compute)


def _number(value: str, lang: str) -> str:
    """ "41.200" in German is 41200, "1 200" in French 1200, "3. Juli 1842" is 1842-07-03; units stay."""
    months = [month_name(lang, number).casefold() for number in range(1, 13)]
    if date := re.fullmatch(r"(\d{1,2})\.? (?:de )?(\w+) (?:de )?(\d{4})", value):
        return f"{date[3]}-{months.index(date[2].casefold()) + 1:02d}-{int(date[1]):02d}"
    grouped, point = {"en": (",", "."), "de": (".", ","), "fr": (" ", ","), "es": (" ", ",")}[lang]
    joined = re.sub(rf"(?<=\d){re.escape(grouped)}(?=\d{{3}}(?!\d))", "", value)
    return re.sub(rf"(?<=\d){re.escape(point)}(?=\d)", ".", joined)


def _described(view: View, place: int) -> str:
    """A link that is not found yet, in words: what a plan writes for it."""
    return view.values()[place] or f"(the answer to: {view.need(view.links[place]) or view.links[place].need})"


def _minus(expression: str) -> str:
    """An expression as it is shown: with a real minus sign, and no brackets around a list."""
    return re.sub(r"(?<=\s)-(?=\s)", "−", " ".join(re.sub(r"[\[\]]", "", expression).split()))


# How each role is played from what its prompt shows.
PLAYED: dict[str, Callable[[View], Reply]] = {
    "analyse": analyse,
    "extract": extract,
    "rephrase": rephrase,
    "rephrase_and_analyse": rephrase_and_analyse,
    "answer": answer,
    "write": write,
    "grade": grade,
    "reword": reword,
    "web_query": web_query,
    "reflect": reflect,
    "plan": plan,
}
