"""Long answers at the doors of the server: the length as each door names it, and the text as each shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from fakes.running_server import CORPUS, RunningServer, running_server
from fakes.two_article_corpus import FACTS, QUESTION
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.serve.openai_door.chat_request import chat_requested
from iterative_rag.serve.openai_door.protocol import RequestRefused

WHY = "Why does the Sunday bridge matter to Aldermere?"
NEEDS = ["In which town does the Sunday bridge stand?", "Who is the mayor of Aldermere?"]
TABLE = "| | Town |\n|---|---|\n| Sunday bridge | Aldermere [1] |"


class Author:
    """Finds the two facts, and writes them as a text, a table or two sections."""

    name = "author"

    def complete(self, request: ChatRequest) -> ChatReply:
        return ChatReply(json.dumps(self.reply(request)), 100, 10)

    def reply(self, request: ChatRequest) -> dict[str, Any]:
        if request.role == "analyse":
            return {"form": "explanation", "status": "needs", "needs": NEEDS, "last": True}
        if request.role == "extract":
            quotes = [quote for quote in FACTS if quote in request.user]
            return {"facts": [{"statement": one, "quote": one, "need": [1, 2], "value": ""} for one in quotes]}
        if request.role == "outline":
            return {
                "sections": [
                    {"heading": "Place", "questions": [NEEDS[0]]},
                    {"heading": "Mayor", "questions": [NEEDS[1]]},
                ]
            }
        assert request.role == "write"
        said = "The Sunday bridge is a stone bridge in Aldermere [1]. It cost 900 crowns [1]."
        return {"status": "answered", "answer": f"{said}\n\n{TABLE}", "confidence": 0.8}


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        with running_server(folder, backends={"author": Author()}) as running:
            yield running


@pytest.fixture(autouse=True)
def _home(author: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_HOME", str(author.home))


def test_a_request_names_the_length_and_gets_the_form(author: RunningServer) -> None:
    with author.client() as client:
        short = client.post("/api/ask", json={"question": WHY}).json()
        report = client.post("/api/ask", json={"question": WHY, "length": "report"}).json()
        refused = client.post("/api/ask", json={"question": WHY, "length": "endless"})
    assert (short["form"], report["form"]) == ("explanation", "report")
    assert report["answer"].startswith("## Place\n\nThe Sunday bridge is a stone bridge in Aldermere [1].")
    assert "900" not in report["answer"]
    assert report["settings"]["length"] == "report"
    assert (refused.status_code, "length is not valid" in refused.text) == (400, True)


def test_the_page_asks_for_a_length_and_shows_text_and_table(author: RunningServer) -> None:
    html = {"accept": "text/html"}
    with author.client() as client:
        assert '<select id="length" name="length"><option selected>short</option>' in client.get("/", headers=html).text
        run = client.post("/api/ask", json={"question": WHY, "length": "report"}).json()["run_id"]
        shown = client.get(f"/runs/{run}", headers=html).text
    assert "<h2>Place</h2>" in shown
    assert '<th scope="row">Sunday bridge</th><td>Aldermere <a class="cite"' in shown
    assert "Left out, because no quoted fact proves it: 2 sentences." in shown


def test_a_follow_up_is_as_long_as_the_answer_before_it(author: RunningServer) -> None:
    with author.client() as client:
        run = client.post("/api/ask", json={"question": WHY, "length": "report"}).json()["run_id"]
        going_on = client.post(f"/runs/{run}/follow-up", data={"question": WHY, "meaning": WHY}).headers["location"]
        assert client.get(f"/api{going_on}/events").text.count("event: final") == 1
        answer = client.get(f"/api{going_on}").json()["answer"]
    assert (answer["form"], answer["settings"]["length"]) == ("report", "report")


def test_the_verbosity_of_the_chat_protocol_is_the_length(author: RunningServer) -> None:
    asked = {"model": f"iterative-rag:{CORPUS}", "messages": [{"role": "user", "content": WHY}], "verbosity": "high"}
    with author.client() as client:
        content = client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
    assert content.startswith("## Place\n\nThe Sunday bridge is a stone bridge in Aldermere [1].")
    assert "|  | Town |\n| --- | --- |\n| Sunday bridge | Aldermere [1] |" in content


@pytest.mark.parametrize(
    ("given", "length"), [(None, ""), ("low", "short"), ("medium", "paragraph"), ("high", "report")]
)
def test_each_verbosity_has_its_length(given: str | None, length: str) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": QUESTION}], "verbosity": given}
    assert chat_requested(asked).length == length


@pytest.mark.parametrize("given", ["endless", 3, ["low"], {}])
def test_any_other_verbosity_is_refused(given: object) -> None:
    with pytest.raises(RequestRefused, match="verbosity is not valid: it must be 'low', 'medium' or 'high'"):
        chat_requested({"model": "m", "messages": [{"role": "user", "content": QUESTION}], "verbosity": given})


def test_the_tool_takes_a_length() -> None:
    from iterative_rag.serve.mcp_door.tools import TOOLS

    taken = TOOLS["ask"].arguments
    assert taken.model_json_schema()["properties"]["length"]["enum"] == ["", "short", "paragraph", "report"]
    assert dict(taken.model_validate({"question": WHY, "length": "report"}))["length"] == "report"
