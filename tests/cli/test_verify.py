"""`iterative-rag verify`: a proof as it was made holds, and one of which any part was changed proves nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.two_article_corpus import QUESTION, TEXTS, indexed_home
from iterative_rag import IterativeRAG, proof_of
from iterative_rag.app.proof.proof_check import document_in
from iterative_rag.app.proof.proof_file import proof_html, proof_json
from tests.cli.conftest import written

OTHER = "Which river does the Sunday bridge cross?"
UNKNOWN = "Who painted the ceiling of the town hall of Aldermere?"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The proof of a question as a page, as data and as a page's JSON, two others as data, and the data folder."""
    home = indexed_home(tmp_path_factory.mktemp("towns"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(home))
        with IterativeRAG.from_settings(llm="builtin", corpus="default") as rag:
            answer = rag.ask(QUESTION)
            files = {name: json.dumps(proof_of(rag.ask(name), rag.corpus)) for name in (OTHER, UNKNOWN)}
            found = document_in(answer, rag.corpus)
            files["json"] = json.dumps(proof_of(answer, rag.corpus), ensure_ascii=False, indent=2)
            files["html"] = proof_html(answer, found, version="1", source=str)
            files["page's json"] = json.dumps(proof_json(answer, found, version="1", source=str))
    return files | {"home": str(home)}


@pytest.fixture
def check(made: dict[str, str], run: Command, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """The exit code of `verify` and what it says, for a file of this text."""
    shutil.copytree(made["home"], tmp_path / "home", dirs_exist_ok=True)

    def checked(text: str, corpus: str = "default") -> tuple[int, str]:
        file = tmp_path / "proof"
        file.write_bytes(text.encode())
        done = run("verify", str(file), "--corpus", corpus)
        return done.code, done.out + done.err

    return checked


def data(text: str, change: Callable[[dict[str, Any]], object]) -> str:
    changed = json.loads(text)
    change(changed)
    return json.dumps(changed)


Check = Callable[..., tuple[int, str]]


@pytest.mark.parametrize("form", ["html", "json", "page's json"])
def test_a_proof_as_it_was_made_holds(made: dict[str, str], check: Check, form: str) -> None:
    code, said = check(made[form])
    assert (code, "2 of 2 quotes" in said) == (0, True), said


ELEMENT = '<script type="application/json" id="proof-data">{}</script>'
PAGE: dict[str, Callable[[str], str]] = {
    "answer": lambda page: page.replace("<strong>Edda Holm</strong>", "<strong>Otto Brask</strong>"),
    "question": lambda page: page.replace(f"<h1>{QUESTION}", "<h1>Who is the queen?"),
    "quote": lambda page: page.replace("<mark>", "<mark>It is false that "),
    "script": lambda page: page.replace("</body>", "<script>document.body.textContent = ''</script></body>"),
    "hidden": lambda page: page.replace("</style>", ".quote { display: none } </style>"),
    "behind the end": lambda page: page + "<h1>Otto Brask</h1>",
    "two elements": lambda page: page.replace("<body>", f"<body>{ELEMENT}"),
    "data": lambda page: page.replace('"short_answer": "Edda Holm"', '"short_answer": "Otto Brask"'),
    "page": lambda page: page.replace('"page": "', '"page": "0'),
}


@pytest.mark.parametrize("part", PAGE)
def test_a_changed_page_is_no_proof(made: dict[str, str], check: Check, part: str) -> None:
    changed = PAGE[part](made["html"])
    assert changed != made["html"]
    code, said = check(changed)
    assert (code, "The file was changed after the proof was made" in said or "holds no proof" in said) == (2, True), (
        said
    )


DATA: dict[str, Callable[[dict[str, Any]], object]] = {
    "answer": lambda proof: proof["answer"].update(answer="The mayor is Otto Brask [1]."),
    "no citations": lambda proof: proof["answer"].update(citations=[]),
    "link of the chain": lambda proof: proof["answer"]["chain"][1].update(builds_on=[]),
    "hash": lambda proof: proof["documents"][0].update(sha256="0" * 64),
    "place": lambda proof: proof["answer"]["citations"][0].update(start=0),
    "corpus": lambda proof: proof.update(corpus="other"),
    "no digest": lambda proof: proof.pop("digest"),
    "a field more": lambda proof: proof.update(note="proved"),
}


@pytest.mark.parametrize("part", DATA)
def test_changed_data_are_no_proof(made: dict[str, str], check: Check, part: str) -> None:
    changed = data(made["json"], DATA[part])
    assert check(changed)[0] == 2
    proof = json.loads(changed)  # the page's JSON: the answer outside, the rest of its proof in a field
    assert check(json.dumps(proof.pop("answer") | {"proof": proof}))[0] == 2


def test_what_belongs_to_another_proof_proves_nothing_here(made: dict[str, str], check: Check) -> None:
    other = json.loads(made[OTHER])["answer"]["citations"]
    assert check(data(made["json"], lambda proof: proof["answer"].update(citations=other)))[0] == 2


@pytest.mark.parametrize("text", ["{0}{0}", '{0} {{"answer": 1}}', '{{"digest": "0", {1}', "[{0}]", "\x00{0}"])
def test_a_file_that_can_be_read_in_two_ways_is_no_proof(made: dict[str, str], check: Check, text: str) -> None:
    code, said = check(text.format(made["json"], made["json"].lstrip()[1:]))
    assert (code, "holds no proof" in said) == (2, True), said


def test_a_quote_that_was_changed_here_and_in_its_document_is_found_out(
    made: dict[str, str], check: Check, run: Command, tmp_path: Path
) -> None:
    forged = {name: text.replace("Edda Holm", "Otto Brask") for name, text in TEXTS.items()}
    assert run("index", str(written(tmp_path / "forged", forged)), "--corpus", "forged").code == 0
    assert check(made["json"].replace("Edda Holm", "Otto Brask"), "forged")[0] == 2
    code, said = check(made["json"], "forged")
    assert (code, "gone" in said) == (1, True), said


def test_nothing_is_proved_without_a_quote(made: dict[str, str], check: Check) -> None:
    code, said = check(made[UNKNOWN])
    assert (code, "The proof holds no quote, so nothing is proved." in said) == (1, True), said


def test_an_answer_is_no_proof_and_a_huge_file_is_not_read(made: dict[str, str], check: Check, tmp_path: Path) -> None:
    code, said = check(json.dumps(json.loads(made["json"])["answer"]))
    assert (code, "holds an answer without its proof" in said) == (2, True), said
    code, said = check("{" * 100_000)
    assert (code, "holds no proof" in said) == (2, True), said
    code, said = check("x" * (64 * 1024 * 1024 + 1))
    assert (code, "too large" in said) == (2, True), said
