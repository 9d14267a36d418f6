"""A Kiwix file asked, searched, shown, listed and verified from the command line, without an index of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.command_line import Command
from iterative_rag import IterativeRAG
from iterative_rag.app.proof.proof_check import proof_of
from iterative_rag.errors import CorpusError
from iterative_rag.index.zim import file_indexes
from tests.zim_archives import Entry, archive

QUESTION = "Who was the mother of the mayor of Aldermere?"
PAGES = {
    "Aldermere": "The mayor of Aldermere is Osric Vane. It is a market town on the river Tarn, known for its mill.",
    "Osric_Vane": "Osric Vane is a politician and a baker. The mother of Osric Vane was Edda Holm.",
    "Edda_Holm": "Edda Holm built bridges of stone over the river Tarn.",
}


def page(path: str, text: str) -> Entry:
    return Entry(path, f"<html><head><title>{path.replace('_', ' ')}</title></head><body><p>{text}</p></body></html>")


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    pages = [page(path, text) for path, text in PAGES.items()]
    redirects = {"The_Mayor": "Osric_Vane"}
    told = {"Name": "towns", "Date": "2026-01-15", "Language": "eng", "Source": "https://en.wiki.example"}
    return archive(tmp_path / "files" / "towns_en.zim", *pages, redirects=redirects, language="eng", **told)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()


def test_a_file_that_nobody_indexed_answers_with_quotes(run: Command, wiki: Path) -> None:
    done = run("ask", QUESTION, "--corpus", str(wiki), "--llm", "builtin", "--json")
    answer = json.loads(done.out)
    assert answer["short_answer"] == "Edda Holm", done.err
    assert {citation["source"] for citation in answer["citations"]} == {f"{wiki}:Aldermere", f"{wiki}:Osric_Vane"}
    assert answer["settings"]["corpus"] == "towns_en.zim"
    assert {citation["date"] for citation in answer["citations"]} == {"2026-01-15"}
    assert [path.name for path in wiki.parent.iterdir()] == [wiki.name]


def test_it_is_known_by_its_name_from_then_on(run: Command, wiki: Path) -> None:
    hits = json.loads(run("search", "bridges of stone", "--corpus", str(wiki), "--json").out)
    assert (hits[0]["title"], hits[0]["document_id"]) == ("Edda Holm", "Edda_Holm")
    assert "towns_en.zim  4 articles, en, 2026-01-15," in run("corpus").out
    assert "mother of Osric Vane" in run("show", "the mayor", "--corpus", "towns_en.zim").out  # a redirect
    assert "'Osric Vane'" in run("show", "Osric Van", "--corpus", "towns_en.zim").err
    status = run("corpus", "status", "towns_en.zim").out
    assert str(wiki) in status
    assert "state      ready" in status
    doctor = run("doctor", "--llm", "builtin", ITERATIVE_RAG_CORPUS="towns_en.zim").out
    assert "towns_en.zim (the one that is asked): 4 documents, ready" in doctor
    refused = run("index", str(wiki), "--corpus", "towns_en.zim")
    assert (refused.code, "is a ZIM file" in refused.err) == (2, True)
    assert run("corpus", "remove", "towns_en.zim", "--yes").code == 0
    assert wiki.is_file()
    assert run("search", "bridges", "--corpus", "towns_en.zim").code == 4


def test_a_part_of_it_can_be_asked_and_another_corpus_beside_it(run: Command, wiki: Path, tmp_path: Path) -> None:
    def titles(*options: str) -> set[str]:
        done = run("search", "river Tarn", "--corpus", str(wiki), "--json", *options)
        return {hit["title"] for hit in json.loads(done.out)} if not done.code else {done.err}

    assert titles("--title", "edda") == {"Edda Holm"}
    assert titles("--since", "2026") == {"Aldermere", "Edda Holm"}
    for nothing in (("--title", "Zeppelin"), ("--document-language", "de"), ("--since", "2027")):
        (missed,) = titles(*nothing)
        assert "nothing was searched" in missed
        assert "The corpus 'towns_en.zim' has 4 documents." in missed
    (tmp_path / "Tarn.md").write_text("# Tarn\n\nThe river Tarn is nine miles long.\n", encoding="utf-8")
    assert run("index", str(tmp_path / "Tarn.md"), "--corpus", "mine", "--quiet").code == 0
    hits = json.loads(run("search", "river Tarn", "--corpus", f"{wiki},mine", "--json").out)
    assert {"mine", "towns_en.zim"} == {hit["document_id"].partition("/")[0] for hit in hits}


def test_a_proof_is_verified_against_the_file_moved_and_renewed(run: Command, wiki: Path, tmp_path: Path) -> None:
    with IterativeRAG.from_settings(corpus=str(wiki), llm="builtin") as rag:
        proof = proof_of(rag.ask(QUESTION), rag.corpus)
    Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
    assert run("verify", "proof.json").code == 0
    moved = wiki.rename(tmp_path / "moved_en.zim")
    gone = run("verify", "proof.json")
    assert (gone.code, "There is no file" in gone.err) == (4, True)
    assert "missing" in run("corpus", "status", "towns_en.zim").out
    assert run("verify", "proof.json", "--corpus", str(moved)).code == 0
    changed = {**PAGES, "Osric_Vane": f"He is old. {PAGES['Osric_Vane']}", "Aldermere": "A town without a mayor."}
    renewed = archive(tmp_path / "new_en.zim", *(page(*entry) for entry in changed.items()), language="eng")
    checked = run("verify", "proof.json", "--corpus", str(renewed))
    assert checked.code == 1
    assert "the quote is gone" in checked.out
    assert "the quote is now at characters" in checked.out


def test_a_damaged_file_is_found_out_by_its_checksum(run: Command, wiki: Path) -> None:
    data = bytearray(wiki.read_bytes())
    data[-1] ^= 1
    wiki.write_bytes(data)
    assert "ready" in run("corpus", "status", str(wiki), "--no-check").out
    assert "its checksum is wrong" in run("corpus", "status", str(wiki)).out


def test_a_second_file_of_the_same_name_is_not_taken_for_the_first(run: Command, wiki: Path, tmp_path: Path) -> None:
    assert run("search", "bridges", "--corpus", str(wiki)).code == 0
    (tmp_path / "other").mkdir()
    second = archive(tmp_path / "other" / wiki.name, *(page(*entry) for entry in PAGES.items()), language="eng")
    refused = run("search", "bridges", "--corpus", str(second))
    assert (refused.code, f"is known as another file, {wiki}" in refused.err) == (2, True)
    wiki.unlink()
    assert run("search", "bridges", "--corpus", str(second)).code == 0


def test_links_lead_to_the_page_that_names_nothing_of_the_question(run: Command, tmp_path: Path) -> None:
    pages = {f"Ferry_{n}": f"The ferry number {n} crosses the river Tarn." for n in range(70)}
    pages["Osric_Vane"] = 'Osric Vane gave his house to <a href="./E._H.">his niece</a>, a builder.'
    pages["E._H."] = "She was born in a mill and learnt her trade in Brennick."
    path = archive(tmp_path / "links.zim", *(page(*entry) for entry in pages.items()), language="eng")
    hits = json.loads(run("search", "Where did the niece of Osric Vane learn?", "--corpus", str(path), "--json").out)
    assert "E. H." in {hit["title"] for hit in hits}


@pytest.mark.parametrize(
    ("language", "bridges", "ferries", "question"),
    [
        ("deu", "Die Brücken baute Edda Holm.", "Am Wend gibt es nur Fähren.", "Wer hat die Brücke gebaut?"),
        ("fra", "Les ponts de pierre sont d’Edda Holm.", "Au Wend il n’y a que des bacs.", "Qui a construit ce pont ?"),
    ],
)
def test_the_words_of_another_language_are_stemmed_as_the_file_does(
    run: Command, tmp_path: Path, language: str, bridges: str, ferries: str, question: str
) -> None:
    pages = page("Tarn", bridges), page("Wend", ferries)
    path = archive(tmp_path / "other.zim", *pages, language=language, Language=language)
    hits = json.loads(run("search", question, "--corpus", str(path), "--json").out)
    assert [hit["title"] for hit in hits] == ["Tarn"]
    assert f"2 articles, {language[:2]}," in run("corpus").out


def test_questions_are_measured_on_it(run: Command, wiki: Path) -> None:
    asked = {"id": 1, "Prompt": QUESTION, "Answer": "Edda Holm", "wiki_links": ["Aldermere", "The Mayor", "Nowhere"]}
    Path("asked.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    measuring = "evaluate", "run", "--dataset", "asked.jsonl", "--corpus", str(wiki), "--llm", "builtin"
    report = json.loads(run(*measuring, "--json").out)
    assert (report["right"], report["retrieval"]["missing"], report["retrieval"]["read"]["recall"]) == (1, 1, 1)
    oracle = json.loads(run(*measuring, "--mode", "oracle", "--json").out)
    assert (oracle["right"], oracle["retrieval"]["read"]["recall"]) == (1, 1)


def test_a_file_without_an_index_of_words_is_searched_by_its_titles(run: Command, tmp_path: Path) -> None:
    bare = archive(tmp_path / "bare.zim", *(page(*entry) for entry in PAGES.items()))
    done = run("search", "bridges of Edda Holm", "--corpus", str(bare), "--json")
    assert "no full-text index" in done.err
    assert json.loads(done.out)[0]["title"] == "Edda Holm"


def test_what_is_no_such_file_is_told_in_a_sentence(run: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.zim").write_bytes(b"ZIM\x04" + bytes(200))
    (tmp_path / "wiki.xml.bz2").write_bytes(b"BZh9")
    for name, told in {
        "broken.zim": "is not a readable ZIM archive",
        "files/none.zim": "There is no file files/none.zim.",
        "none.zim": "There is no file none.zim.",
        "wiki.xml.bz2": "Index it: iterative-rag index wiki.xml.bz2 --corpus wiki",
    }.items():
        done = run("search", "bridges", "--corpus", name)
        assert (done.code, told in done.err) == (4, True), done.err


def test_misspelt_names_are_read_as_its_titles_write_them(run: Command, wiki: Path) -> None:
    for question in ("Who was the mother of Osrik Vane?", "who was the mother of osrik vane"):
        answer = json.loads(run("ask", question, "--corpus", str(wiki), "--llm", "builtin", "--json").out)
        assert answer["short_answer"] == "Edda Holm", answer


def test_a_question_that_it_cannot_answer_leads_on_into_the_same_file(run: Command, wiki: Path) -> None:
    asked = wiki.rename(wiki.with_name("towns, all.zim"))
    declined = run("ask", "Who was the dentist of Zorbulon Quex?", "--corpus", str(asked), "--llm", "builtin")
    assert "search 'Who was the dentist of Zorbulon Quex?' --corpus 'towns, all.zim'" in declined.out + declined.err
    assert run("search", "bridges", "--corpus", "towns, all.zim").code == 0


def test_odd_pages_are_searched_and_shown(run: Command, tmp_path: Path) -> None:
    pages = {
        'The_"Best"_Inn': "The best inn of Wend is kept by Olla Brand.",
        "🍕_Palace": "The pizza palace of Wend was opened by Ugo Lark.",
        "A/B_test": "An A/B test compares two versions of a page.",
        "100%_Wool": "The wool shop of Wend sells no silk.",
    }
    odd = Entry("Blank", "<html><body></body></html>"), Entry("style.css", "inn {}", mime="text/css")
    path = archive(tmp_path / "odd.zim", *(page(*entry) for entry in pages.items()), *odd, language="eng")
    for title, text in pages.items():
        shown = run("show", title.replace("_", " "), "--corpus", str(path))
        assert text in shown.out, shown.err
        hits = json.loads(run("search", f"{title} AND (Wend", "--corpus", "odd.zim", "--json").out)
        assert hits[0]["document_id"] == title
    assert "It holds no text" in run("show", "Blank", "--corpus", "odd.zim").err
    assert "no document titled 'style.css'" in run("show", "style.css", "--corpus", "odd.zim").err


def test_two_files_and_a_corpus_are_asked_and_one_moves_meanwhile(run: Command, tmp_path: Path) -> None:
    entries = [page(*entry) for entry in PAGES.items()]
    town = archive(tmp_path / "a.zim", entries[0], language="eng")
    people = archive(tmp_path / "b.zim", entries[1], language="eng")
    (tmp_path / "Holm.md").write_text("# Edda Holm\n\nEdda Holm was born in Brennick.\n", encoding="utf-8")
    assert run("index", str(tmp_path / "Holm.md"), "--corpus", "mine", "--quiet").code == 0
    with IterativeRAG.from_settings(corpus=f"{town},{people},mine", llm="builtin") as rag:
        assert rag.ask("Where was the mother of the mayor of Aldermere born?").short_answer == "Brennick"
        people.rename(tmp_path / "c.zim")
        assert rag.ask("Who was the mother of Osric Vane?").short_answer == "Edda Holm"


@pytest.mark.parametrize("path", ["./nope.zim", "~nobody-of-that-name/nope.zim"])
def test_a_path_that_leads_nowhere_is_told_as_one(run: Command, path: str) -> None:
    missed = run("search", "bridges", "--corpus", path)
    assert (missed.code, f"There is no file {path}" in missed.err) == (4, True), missed.err


def test_an_index_that_keeps_libzim_busy_ends_in_a_sentence(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with IterativeRAG.from_settings(corpus=str(wiki), llm="builtin") as rag:
        monkeypatch.setattr(file_indexes, "REPLY_SECONDS", 0)
        for _ in range(2):  # nobody waits a second time in a run
            with pytest.raises(CorpusError, match="its index keeps libzim busy for ever"):
                rag.corpus.search(["bridges"], 3)
        monkeypatch.undo()
        assert rag.search("bridges of stone")[0][1].title == "Edda Holm"


def test_a_file_renewed_between_two_questions_is_read_anew(wiki: Path, tmp_path: Path) -> None:
    with IterativeRAG.from_settings(corpus=str(wiki), llm="builtin") as rag:
        assert rag.ask(QUESTION).short_answer == "Edda Holm"
        renewed = {**PAGES, "Osric_Vane": "The mother of Osric Vane was Runa Dell. He was once the mayor."}
        archive(tmp_path / "new.zim", *(page(*entry) for entry in renewed.items()), language="eng").replace(wiki)
        assert rag.ask(QUESTION).short_answer == "Runa Dell"
