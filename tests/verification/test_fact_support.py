"""Values that their quote does not bear out: a number, an opposite, a relation, a kind that it gives otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fakes.case_corpus import CaseCorpus
from fakes.model_server import FakeServer
from iterative_rag import IterativeRAG
from iterative_rag.types import ConfidenceWord, Status, Support
from iterative_rag.verification.fact_support import by_rules
from tests.tables import table

ARTICLES = {
    "Nils Aldo": """# Nils Aldo

| Nils Aldo | |
|---|---|
| Born | June 25, 1903, Tellby |
| Died | January 21, 1950, Varn |
| Spouses | Ida Brun (1936–1945), Una Falk (1949–1950) |
| Education | Karsa College |

**Nils Aldo** was a writer of novels and reports. He was nominated for the Karsa Prize three times but never won it.

## Books

| Book | Year |
|---|---|
| Down in Tellby | 1933 |
| Grey Days | 1934 |
| The Road to Varn | 1937 |
""",
    "Orm Tower": """# Orm Tower

| Orm Tower | |
|---|---|
| Height | 330 m |
| Built | 1887–1889 |
| Builder | company of Bo Ruud |

The Orm Tower stands on the Field of Mars in Varn.
""",
    "Dawn (musical)": """# Dawn (musical)

| Dawn | |
|---|---|
| Music | Ada Thorne |
| Closed in Varn | September 7, 2008 |

**Dawn** is a musical by Ada Thorne about painters without money.
""",
    "Ships of Orm": """# Ships of Orm

| Ship | Number | Built |
|---|---|---|
| Gull | 0 | 1901 |
| Heron | 3 | 1907 |
""",
}


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CaseCorpus]:
    folder = tmp_path_factory.mktemp("support")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        (folder / "articles").mkdir()
        for title, text in ARTICLES.items():
            (folder / "articles" / f"{title}.md").write_text(text, encoding="utf-8")
        yield CaseCorpus(folder / "articles", "support")


@pytest.fixture(scope="module")
def rag(articles: CaseCorpus) -> Iterator[IterativeRAG]:
    with articles.opened("builtin", cache=False) as opened:
        yield opened


@pytest.mark.parametrize(("question", "right"), table(__file__, "declined"))
def test_what_no_quote_bears_out_is_declined_or_a_weak_guess(rag: IterativeRAG, question: str, right: str) -> None:
    answer = rag.ask(question)
    declined = answer.status is Status.ABSTAINED
    assert declined or answer.confidence_word is ConfidenceWord.WEAK_GUESS or answer.short_answer == right


@pytest.mark.parametrize(("question", "right"), table(__file__, "answered"))
def test_what_a_quote_bears_out_is_still_answered(rag: IterativeRAG, question: str, right: str) -> None:
    answer = rag.ask(question)
    assert answer.short_answer == right
    assert answer.hops[0].facts[0].support is Support.AGREES


WIFE = "Who was the wife of Nils Aldo?"


def reply(body: Mapping[str, Any]) -> str:
    """Takes a book for the wife."""
    fields, user = body["format"]["properties"], body["messages"][-1]["content"]
    if "facts" in fields:
        row = "| Grey Days | 1934 |"
        fact = {"statement": "Nils Aldo's wife was Grey Days.", "quote": row, "need": [1], "value": "Grey Days"}
        return json.dumps({"facts": [fact] if row in user else []})
    if "working" in fields:
        told = {"answer": "The wife of Nils Aldo was Grey Days [1].", "short_answer": "Grey Days", "confidence": 0.95}
        return json.dumps({"status": "answered", **told})
    known = "wife was Grey Days" in user
    return json.dumps({"status": "known" if known else "needs", "needs": [] if known else [WIFE]})


@pytest.mark.parametrize(
    ("model", "word", "support"),
    [
        ("tiny:8b", ConfidenceWord.WEAK_GUESS, Support.DISAGREES),
        ("large:70b", ConfidenceWord.LIKELY, Support.SILENT),  # reads better than the built-in reader that doubts it
    ],
)
def test_what_an_llm_reads_into_a_quote_is_never_well_supported(
    articles: CaseCorpus, monkeypatch: pytest.MonkeyPatch, model: str, word: ConfidenceWord, support: Support
) -> None:
    with FakeServer(reply=reply, models=[model]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        with articles.opened(f"ollama/{model}", cache=False) as rag:
            answer = rag.ask(WIFE)
    assert answer.short_answer in {"", "Grey Days"}
    assert answer.confidence_word in {None, word}
    supports = {fact.support for hop in answer.hops for fact in hop.facts if fact.value}
    assert supports == {support}


@pytest.mark.parametrize(("need", "value", "title", "quote", "support"), table(__file__, "rules"))
def test_the_rules_say_what_they_have_understood(need: str, value: str, title: str, quote: str, support: str) -> None:
    assert by_rules(need, value, title, quote) == support
