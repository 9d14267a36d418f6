"""A proof as one file: what it holds, that nothing in it acts, and what a check against a corpus finds."""

from __future__ import annotations

import dataclasses
import json

import pytest

from fakes.sample_answers import ABSTAINED, ANSWERED, CITATION
from iterative_rag.app.proof.proof_check import ProofCheck, ProofFinding, check_proof
from iterative_rag.app.proof.proof_file import content_hash, proof_html, read_proof
from iterative_rag.errors import UsageError
from iterative_rag.types import Answer, Citation, Document

TEXT = "# Bridge\n\n" + CITATION.quote + " It is old."
DOCUMENT = Document("bridge", CITATION.title, TEXT, "/home/someone/corpus/bridge.md")


def document_of(citation: Citation) -> Document | None:
    return DOCUMENT


def made(answer: Answer = ANSWERED) -> str:
    return proof_html(answer, document_of, version="9.9", source=lambda source: source.rsplit("/", 1)[-1])


def checked(*documents: Document, html: str = "") -> ProofCheck:
    return check_proof(read_proof(html or made()), lambda document_id, title: documents)


def finding(text: str, html: str = "") -> ProofFinding:
    return checked(dataclasses.replace(DOCUMENT, text=text), html=html).quotes[0].finding


def test_the_file_holds_quotes_offsets_hashes_and_versions() -> None:
    data = read_proof(made())
    assert data["documents"][0]["sha256"] == content_hash(TEXT)
    assert data["answer"]["citations"][0]["start"] == CITATION.start
    assert data["made_by"] == "iterative-rag 9.9"
    assert "/home/someone" not in made()
    assert f"<mark>{CITATION.quote}</mark> It is old." in made()


def test_a_check_says_what_changed() -> None:
    assert checked(DOCUMENT).holds
    assert finding(TEXT) is ProofFinding.UNCHANGED
    assert finding(TEXT + " Even older.") is ProofFinding.IN_PLACE
    assert finding("New. " + TEXT) is ProofFinding.MOVED
    assert finding("# Bridge\n\nIt is gone.") is ProofFinding.GONE
    assert checked().quotes[0].finding is ProofFinding.NO_DOCUMENT
    assert not checked().holds


def test_a_quote_that_was_never_there_is_found_out() -> None:
    quote = CITATION.quote.replace("oldest crossing", "newest crossing")
    forged = made(dataclasses.replace(ANSWERED, citations=(dataclasses.replace(CITATION, quote=quote),)))
    assert finding(TEXT, forged) is ProofFinding.FALSE
    assert not checked(DOCUMENT, html=made(ABSTAINED)).holds  # it quotes nothing, so nothing is proved


def test_text_that_would_end_the_data_is_read_back() -> None:
    """That no page makes markup of it shows tests/serve/page/test_hostile_texts.py, over this file, too."""
    hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>"
    html = made(dataclasses.replace(ANSWERED, question=hostile))
    assert html.count("<script") == html.count("</script") == 1
    assert read_proof(html)["answer"]["question"] == hostile


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>no proof</html>",
        '<script id="proof-data">{"format": 1}</script>',
        json.dumps({"format": "iterative-rag proof", "version": 99}),
        "{" * 100_000,
        json.dumps([1]),
    ],
)
def test_any_other_file_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as error:
        read_proof(text)
    assert error.value.hint


@pytest.mark.parametrize(
    "damage",
    [
        {"answer": 1},
        {"answer": {"citations": "all"}},
        {"answer": {"citations": [{"n": -1}]}},
        {"answer": {"citations": [{"n": True, "start": 0, "end": 1}]}},
        {"documents": {}},
    ],
)
def test_a_damaged_proof_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="damaged"):
        check_proof(read_proof(made()) | damage, lambda document_id, title: [DOCUMENT])
