"""The strategy `agent`, played by a model that follows a script: it sees what its prompt shows.

It searches for what is missing, in other words where the first ones brought nothing, notes the quotes that the results
hold, has a computation carried out, and submits when every link of the chain is found or nothing is left to try.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fakes.script_roles import answer
from fakes.script_view import Link, Quoted, View, filled, key, plain

MOST_QUERIES = 4


def drive(view: View) -> Mapping[str, Any]:
    """The calls of one turn."""
    log, _, results = view.user.partition("EARLIER CALLS:")[2].partition("RESULTS:")
    fresh = list(_fresh(view, results))
    for _, quoted in fresh:  # markers count the facts first and then the quotes of the submission
        view.lines.append((len(view.lines) + 1, plain(quoted.quote)))
    quotes = [
        {
            "title": _title(results, quoted.quote),
            "quote": quoted.quote,
            "question": view.need(link),
            "value": "" if link.rows else quoted.value,
        }
        for link, quoted in fresh
    ]
    note: list[Mapping[str, Any]] = [{"tool": "note", "quotes": quotes}] if quotes else []
    if all(map(view.found, view.links)):
        told = answer(view)
        if told["status"] == "compute":
            asked = told["compute"][0]
            return _turn(*note, {"tool": "calculate", "expression": asked["expression"], "facts": asked["facts"]})
        return _turn(_submission(told, quotes))
    queries = list(_queries(view, key(log + results)))[:MOST_QUERIES]
    if queries:
        return _turn(*note, {"tool": "search", "queries": queries})
    return _turn(_submission({"missing": " ".join(view.missing()) or view.script.question}, quotes))


def _fresh(view: View, results: str) -> Iterator[tuple[Link, Quoted]]:
    """What the results show and no fact holds yet."""
    shown = plain(results)
    for link in view.links:
        for quoted in link.facts:
            if not view.number(quoted) and plain(quoted.quote) in shown:
                yield link, quoted


def _queries(view: View, searched: str) -> Iterator[str]:
    """For each missing link the first of its wordings that was not searched for yet."""
    for link in view.links:
        if view.found(link) or not (need := view.need(link)):
            continue
        wordings = [need, *(filled(text, view.values()) for text in link.rewordings)]
        if (query := next((one for one in wordings if key(one) not in searched), None)) is not None:
            yield query


def _title(results: str, quote: str) -> str:
    """The title above a quote in the results."""
    before = results.partition(quote)[0]
    titles = re.findall(r"^# (.+)$", before, re.MULTILINE)
    return titles[-1] if titles else ""


def _submission(told: Mapping[str, Any], quotes: list[dict[str, str]]) -> Mapping[str, Any]:
    answered = told.get("status") == "answered"
    return {
        "tool": "submit",
        "answer": told["answer"] if answered else "",
        "short_answer": told["short_answer"] if answered else "",
        "quotes": quotes,
        "missing": told["missing"],
        "confidence": told.get("confidence", 0.0),
    }


def _turn(*calls: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"thought": "So far, so good.", "calls": list(calls)}
