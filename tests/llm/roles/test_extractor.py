"""The extractor: facts with their quotes, from one document for one need."""

from __future__ import annotations

from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import Extract, Need
from tests.llm.inquiries import TRIED, WINDOW, roles


def test_extracts_are_typed_and_at_most_five() -> None:
    row = {"statement": "Oda Brenk designed it.", "quote": "designed by Oda Brenk", "value": "Oda Brenk"}
    with ScriptedLLM({"extract": [{"facts": [row] * 7}]}) as llm:
        extracts = roles(llm).extractor.extract(TRIED, WINDOW)
    assert extracts == (Extract("Oda Brenk designed it.", "designed by Oda Brenk", "Oda Brenk"),) * 5


def test_nothing_found_is_no_fact() -> None:
    with ScriptedLLM({"extract": [{"facts": []}]}) as llm:
        assert roles(llm).extractor.extract(TRIED, WINDOW) == ()


def test_the_document_is_fenced_and_the_need_comes_last_and_normalised() -> None:
    with ScriptedLLM({"extract": [{"facts": []}, {"facts": []}]}) as llm:
        extractor = roles(llm).extractor
        extractor.extract(Need("Who designed  it ?"), WINDOW)
        extractor.extract(Need("Who designed it"), WINDOW)
    first, second = (request.user for request in llm.requests)
    assert first == second
    lines = first.splitlines()
    assert lines[0].startswith("<document ")
    assert lines[-2] == lines[0].replace("<document", "</document")
    assert lines[-1] == "QUESTION: Who designed it"
    assert "Title: Velm Tower" in first


def test_facts_without_a_quote_are_complained_about_then_left_out() -> None:
    with_quote = {"statement": "", "quote": "designed by Oda Brenk"}
    without = {"statement": "It is said to be tall.", "quote": ""}
    with ScriptedLLM({"extract": [{"facts": [without, with_quote]}] * 2}) as llm:
        extracts = roles(llm).extractor.extract(TRIED, WINDOW)
    assert extracts == (Extract("designed by Oda Brenk", "designed by Oda Brenk"),)
    assert '"quote"' in llm.requests[1].user


def test_the_fingerprint_names_model_prompt_and_schema() -> None:
    one, two = ScriptedLLM({}, name="one"), ScriptedLLM({}, name="two")
    assert roles(one).extractor.fingerprint == roles(one).extractor.fingerprint
    assert roles(one).extractor.fingerprint != roles(two).extractor.fingerprint
    assert roles(one).extractor.fingerprint != roles(one, reply_tokens=99).extractor.fingerprint
