"""What is taken out of the texts that a client is told, and what is left as it is."""

from __future__ import annotations

import pytest

from iterative_rag.serve.runs.events import public, public_message, public_source
from iterative_rag.serve.step_notes import step_words
from iterative_rag.types import DegradedStep


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/home/ann/corpus/documents.sqlite cannot be written.", "documents.sqlite cannot be written."),
        ("Set it in ~/.config/iterative-rag.toml.", "Set it in iterative-rag.toml."),
        (r"C:\Users\Ann\corpus is gone", "corpus is gone"),
        ("Ollama at http://10.0.0.7:11434 cannot be reached.", "Ollama at its server cannot be reached."),
        ("keys set gpu.lan:8000 --allow-http", "keys set its server --allow-http"),
        ("ITERATIVE_RAG_API_KEY_HOST=127.0.0.1:35343.", "ITERATIVE_RAG_API_KEY_HOST=its server."),
        ("at 14:30 the ratio was 3:2 and the speed 90 km/h", "at 14:30 the ratio was 3:2 and the speed 90 km/h"),
        ("and/or, 1/2, TCP/IP/UDP", "and/or, 1/2, TCP/IP/UDP"),
    ],
)
def test_messages_name_no_folder_and_no_server(text: str, told: str) -> None:
    assert public_message(text) == told


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("/home/ann/articles/Harriet_Lane.md", "Harriet_Lane.md"),
        (r"D:\articles\Harriet Lane.pdf", "Harriet Lane.pdf"),
        ("https://en.wikipedia.org/wiki/Harriet_Lane", "https://en.wikipedia.org/wiki/Harriet_Lane"),
        ("javascript:alert(1)//x", "x"),
    ],
)
def test_a_source_is_an_address_or_the_name_of_a_file(source: str, told: str) -> None:
    assert public_source(source) == told


def test_texts_of_documents_are_left_alone() -> None:
    quote = {"quote": "It lies at /usr/share/doc, see http://example.org:8080/x", "source": "/a/b/c.md"}
    assert public({"facts": [quote]}) == {"facts": [{**quote, "source": "c.md"}]}


def test_of_the_settings_only_harmless_ones_are_told() -> None:
    settings = {"llm": "openai-like/x@http://gpu.lan:8000/v1", "index": "qdrant://db.lan", "max_hops": 6}
    assert public({"settings": settings}) == {"settings": {"max_hops": 6}}


# --- steps -------------------------------------------------------------------------------------------


def test_what_a_server_said_in_an_error_is_not_told() -> None:
    said = "http://10.1.2.3:11434 answered 500: no credit left for ada@example.org."
    told = step_words(DegradedStep(2, "reflect", "LLMServerError", said))
    assert told == "Hop 2: without reflect: its call failed: LLMServerError"
