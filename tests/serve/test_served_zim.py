"""A ZIM file behind every door of the server: known by its name, its path never told, and no other file opened."""

from __future__ import annotations

from pathlib import Path

from fakes.running_server import running_server
from fakes.two_article_corpus import QUESTION
from iterative_rag.serve.mcp_door.tools import Tools
from tests.zim_archives import Entry, archive

NAME = "towns_en.zim"
PAGES = {
    "A/Sunday_bridge": "The Sunday bridge is a stone bridge in Aldermere. It is the oldest crossing of the river Wend.",
    "A/Aldermere": "Aldermere is a market town in the Vessel Isles. Its mayor is Edda Holm.",
}


def test_every_door_searches_reads_and_asks_it(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    entries = [Entry(path, f"<p>{text}</p>", title=path[2:].replace("_", " ")) for path, text in PAGES.items()]
    wiki = archive(tmp_path / "files" / NAME, *entries, language="eng", Date="2026-01-15")
    other = archive(tmp_path / "files" / "other.zim", *entries, language="eng")
    with running_server(tmp_path, corpora=(str(wiki),)) as server, server.client() as client:
        (told,) = client.get("/api/corpora").json()["corpora"]
        assert (told["name"], told["documents"], told["updated"]) == (NAME, 2, "2026-01-15")
        hit = client.get("/api/search", params={"q": "stone bridge"}).json()["hits"][0]
        assert (hit["title"], hit["document_id"]) == ("Sunday bridge", "A/Sunday_bridge")
        model = client.get("/v1/models").json()["data"][0]["id"]
        asked = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
        said = [
            client.get("/corpora").text,
            client.get(f"/corpora/{NAME}", params={"q": "stone bridge"}).text,
            client.get(f"/corpora/{NAME}/documents/A/Sunday_bridge").text,
            client.get("/api/documents", params={"title": "Alder"}).text,
            client.get("/api/documents/A/Sunday_bridge").text,
            client.post("/v1/chat/completions", json=asked).text,
        ]
        assert all("Aldermere" in text for text in said[1:])
        assert "Edda Holm" in said[-1]
        assert NAME in said[0]
        assert not any(str(tmp_path) in text for text in said)
        refused = client.get("/api/search", params={"q": "stone bridge", "corpus": str(other)})
        assert (refused.status_code, "There is no corpus" in refused.text) == (404, True)
        tools = Tools(server.services.runs)
        assert [corpus["name"] for corpus in tools.list_corpora()["corpora"]] == [NAME]
        assert tools.search("stone bridge").passages[0].document_id == "A/Sunday_bridge"
        assert PAGES["A/Aldermere"] in tools.read_document("Aldermere").text
        assert tools.read_document("A/Sunday_bridge").title == tools.outline("sunday bridge").title
