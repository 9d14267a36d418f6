"""The page as a browser without JavaScript sees it: ask, wait, read the proof, edit, keep, explore."""

from __future__ import annotations

import re
import threading
import time
from html import unescape
from pathlib import Path

import httpx
import pytest

from fakes.running_server import CORPUS, PlayingLLM, RunningServer, running_server
from fakes.two_article_corpus import QUESTION
from iterative_rag.cli import main
from iterative_rag.serve.page.rendering import static_file
from tests.serve.page.marked_text import HtmlText, squeezed


def asked(client: httpx.Client, **fields: str) -> str:
    """The address of the run that the form starts."""
    response = client.post("/ask", data={"question": QUESTION, "corpus": CORPUS} | fields)
    assert response.status_code == 303, response.text
    return response.headers["location"]


def ended(client: httpx.Client, address: str, sign: str = "data-proof") -> str:
    """The page of a run once it shows this."""
    for _ in range(2000):
        page = client.get(address).text
        if sign in page:
            return page
        time.sleep(0.01)
    raise AssertionError(page)


def answered(client: httpx.Client) -> tuple[str, str]:
    address = asked(client)
    return address, ended(client, address)


def test_a_question_is_asked_and_proved_without_javascript(served: RunningServer) -> None:
    with served.client() as client:
        address, page = answered(client)
        assert "Edda Holm" in HtmlText(page).text
        assert "How the answer was found" in page
        # Each number leads to the article with its quote marked.
        for n, quote in ((1, "The Sunday bridge is a stone bridge in Aldermere."), (2, "Its mayor is Edda Holm.")):
            shown = HtmlText(client.get(f"{address}?cite={n}").text)
            assert squeezed(shown.marked) == squeezed(quote)


def test_the_form_says_what_cannot_be(served: RunningServer) -> None:
    with served.client() as client:
        for fields in ({"question": " "}, {"corpus": "none"}, {"strategy": "none"}):
            response = client.post("/ask", data={"question": QUESTION, "corpus": CORPUS} | fields)
            assert response.status_code in (400, 404)
            assert 'role="alert"' in response.text
        assert client.post("/ask", content=b"{}", headers={"content-type": "application/json"}).status_code == 400
        assert client.post("/ask", data={str(n): "" for n in range(99)}).status_code == 400


def test_a_form_of_this_server_is_accepted_as_browsers_send_it(served: RunningServer) -> None:
    """With a referrer policy of "no-referrer" a browser would say "Origin: null"."""
    with served.client() as client:
        assert client.get("/").headers["referrer-policy"] == "same-origin"
        headers = {"origin": served.address, "sec-fetch-site": "same-origin"}
        accepted = client.post("/ask", data={"question": QUESTION}, headers=headers)
        assert accepted.status_code == 303
        ended(client, accepted.headers["location"])  # a run that outlives its test loses the data folder
        foreign = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}
        assert client.post("/ask", data={"question": QUESTION}, headers=foreign).status_code == 403


def test_what_can_be_kept(served: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def verified(file: Path, code: int) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(file)])
        assert (ended.value.code or 0) == code
        return capsys.readouterr().out

    with served.client() as client:
        address, _ = answered(client)
        assert client.get(f"{address}/answer.md").text.startswith(f"# {QUESTION}")
        kept = client.get(f"{address}/answer.json")
        assert kept.json()["short_answer"] == "Edda Holm"
        proof = client.get(f"{address}/proof.html")
    assert "attachment" in proof.headers["content-disposition"]
    for text in (proof.text, kept.text):
        assert str(served.home) not in text
        file = tmp_path / "proof"
        file.write_bytes(text.encode())
        assert "2 of 2 quotes" in verified(file, 0)
        file.write_bytes(text.replace("Its mayor is Edda Holm.", "Its mayor is Otto Brask.").encode())
        verified(file, 2)


def test_an_edited_hop_gives_another_version(served: RunningServer) -> None:
    with served.client() as client:
        address, page = answered(client)
        assert f'action="{address}/edit"' in page
        response = client.post(
            f"{address}/edit", data={"hop": "1", "fact": "0", "kind": "pin", "value": "", "quote": ""}
        )
        assert response.status_code == 303, response.text
        second = ended(client, response.headers["location"])
        assert "Another version of" in second
        assert "pinned a fact of hop 1." in HtmlText(second).text
        response = client.post(f"{address}/edit", data={"hop": "2", "need": "0", "kind": "pin", "question": ""})
        third = ended(client, response.headers["location"])
        assert "pinned a need of hop 2." in HtmlText(third).text
        assert client.get(f"{response.headers['location']}/answer.json").json()["hops"][1]["pinned"]
        wrong = client.post(f"{address}/edit", data={"hop": "1", "fact": "0", "kind": "correct", "value": "Nowhere"})
        assert wrong.status_code == 400
        assert "does not say" in unescape(wrong.text)
        for fields in ({}, {"kind": "pin"}, {"kind": "pin", "hop": "1", "fact": "x"}, {"kind": "x", "hop": "1"}):
            assert client.post(f"{address}/edit", data=fields).status_code == 400


def test_a_follow_up_is_understood_from_the_answer_before_it(served: RunningServer) -> None:
    with served.client() as client:
        address, page = answered(client)
        assert f'action="{address}/follow-up"' in page
        response = client.post(f"{address}/follow-up", data={"question": QUESTION})
        assert response.status_code == 303, response.text
        page = ended(client, response.headers["location"])
        assert f'href="{address}"' in page  # the turn before it
        assert "Edda Holm" in HtmlText(page).text
        assert client.post(f"{address}/follow-up", data={"question": " "}).status_code == 400


def test_what_there_is_can_be_explored(served: RunningServer) -> None:
    with served.client() as client:
        answered(client)
        assert CORPUS in client.get("/corpora").text
        found = client.get(f"/corpora/{CORPUS}", params={"q": "stone bridge"}).text
        assert "score" in found
        link = re.search(r'href="(/corpora/[^"]+/documents/[^"]+)#quote"', found)
        assert link
        article = client.get(unescape(link[1])).text
        read = HtmlText(article)
        assert "stone bridge" in read.marked
        listed = client.get("/history", params={"q": "edda"}).text
        assert QUESTION in HtmlText(listed).text
        assert '<span class="badge well-supported">well supported</span>' in listed
        assert "badge answered" not in listed
        assert client.get("/history", params={"q": "nobody"}).text.count("run-line") == 0
        for unknown in ("/corpora/none", f"/corpora/{CORPUS}/documents/none", "/runs/none"):
            assert client.get(unknown).status_code == 404


def test_a_run_under_way_shows_its_hops_and_can_be_stopped(tmp_path: Path) -> None:
    goes_on = threading.Event()

    def waiting(request: object) -> None:
        if getattr(request, "role", "") == "answer":
            goes_on.wait(20)

    with running_server(tmp_path, backends={"slow": PlayingLLM(waiting)}) as running, running.client() as client:
        address = asked(client)
        page = ended(client, address, "Edda Holm")
        assert 'http-equiv="refresh"' in page  # without JavaScript it is loaded again
        assert "Its mayor is Edda Holm." in HtmlText(client.get(f"{address}/hops").text).text
        assert address in client.get("/history").text
        assert client.get(f"{address}/proof.html").status_code == 404
        assert "goes on" in client.post(f"{address}/forget", data={"sure": "yes"}).text
        assert client.post(f"{address}/stop").status_code == 303
        goes_on.set()
        assert "Stopped" in ended(client, address, "Stopped")


def test_a_read_only_server_offers_nothing_that_changes(tmp_path: Path) -> None:
    with running_server(tmp_path, read_only=True) as running, running.client() as client:
        address, page = answered(client)
        assert "/forget" not in page
        assert "/edit" not in page
        assert client.post(f"{address}/forget", data={"sure": "yes"}).status_code == 400
        assert client.post(f"{address}/edit", data={"kind": "pin"}).status_code == 400


def test_the_page_loads_nothing_from_elsewhere_and_is_small(served: RunningServer) -> None:
    with served.client() as client:
        address, _ = answered(client)
        for path in ("/", address):
            page = client.get(path)
            loaded = re.findall(r'<(?:link|script|img)[^>]+(?:href|src)="([^"]+)"', page.text)
            assert loaded
            assert all(one.startswith("/static/") for one in loaded)
            sizes = [len(page.content)]
            for one in loaded:
                file = client.get(one)
                assert "immutable" in file.headers["cache-control"]
                sizes.append(len(file.content))
            assert sum(sizes) < 150_000
        assert client.get("/static/none.js").status_code == 404
        assert client.get("/static/..%2Fdoor.py").status_code == 404


@pytest.mark.parametrize("name", ["page.js", "theme.js"])
def test_scripts_write_html_only_as_the_server_made_it(name: str) -> None:
    """What a script puts into the page is text, but for the parts that the server has escaped."""
    script = static_file(name).decode()
    assert script.count(".innerHTML = ") == script.count(".innerHTML = await response.text()")
    assert not re.search(r"insertAdjacentHTML|document\.write|eval\(|outerHTML\s*=", script)
