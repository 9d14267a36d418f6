"""Every form of question file, read through `load`; what is wrong with a file is said with its line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.dataset_forms import load, select
from iterative_rag.evaluation.frames import digest_of, ids_of
from iterative_rag.evaluation.records import Answerability, Dataset, Paragraph, Question

LINKS = ["https://en.wikipedia.org/wiki/Sunday_bridge", "https://en.wikipedia.org/wiki/Edda_Holm%27s_mill"]
PROMPT = 'Who keeps the mill\nthat the "old" bridge leads to?'
TYPES = "Multiple constraints | Tabular reasoning"


def written(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(*rows: dict[str, Any]) -> str:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"


def tsv(*rows: dict[str, Any], separator: str = "\t") -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), delimiter=separator, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


# --- FRAMES ----------------------------------------------------------------------------------

EXPECTED = Question(
    id="3",
    text=PROMPT,
    answers=("Olin Brandt",),
    types=("Multiple constraints", "Tabular reasoning"),
    gold_titles=("Sunday bridge", "Edda Holm's mill"),
)
FIELDS = {"Prompt": PROMPT, "Answer": "Olin Brandt", "reasoning_types": TYPES}
COLUMNS = {"wikipedia_link_1": LINKS[0], "wikipedia_link_2": "", "wikipedia_link_11+": f"{LINKS[1]}, {LINKS[0]}#Top"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("printed.tsv", tsv({"": 3, **FIELDS, **COLUMNS, "wiki_links": str(LINKS)})),
        ("json.tsv", tsv({"Unnamed: 0": 3, **FIELDS, "wiki_links": json.dumps(LINKS)})),
        ("joined.tsv", tsv({"id": 3, **FIELDS, "wiki_links": f"{LINKS[0]} , {LINKS[1]},"})),
        ("columns.tsv", tsv({"": 3, **FIELDS, **COLUMNS})),
        ("commas.csv", tsv({"": 3, **FIELDS, "wiki_links": str(LINKS)}, separator=",")),
        ("rows.jsonl", lines({"id": 3, **FIELDS, "wiki_links": [*LINKS, LINKS[0]]})),
        ("nested.jsonl", lines({"id": 3, **FIELDS, "wiki_links": [", ".join(LINKS)]})),
        ("list.json", json.dumps([{"id": 3, **FIELDS, "wiki_links": LINKS}], indent=2)),
    ],
)
def test_frames_reads_the_same_from_every_shape(tmp_path: Path, name: str, content: str) -> None:
    windows = b"\xef\xbb\xbf" + content.encode().replace(b"\n", b"\r\n")
    assert load(written(tmp_path, f"{name}.gz", gzip.compress(windows))).questions == (EXPECTED,)
    data = content.encode()
    dataset = load(written(tmp_path, name, data))
    assert dataset.questions == (EXPECTED,)
    assert (dataset.form, dataset.name) == ("FRAMES", name.partition(".")[0])
    assert dataset.digest == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("link", "title"),
    [
        ("https://en.wikipedia.org/wiki/Caf%C3%A9_Holm", "Café Holm"),
        ("https://en.wikipedia.org/wiki/Cafe%CC%81_Holm", "Café Holm"),  # a combining accent
        ("http://en.m.wikipedia.org/wiki/AC/DC#History", "AC/DC"),
        ("https://en.wikipedia.org/w/index.php?title=Aldermere_(town)&oldid=12", "Aldermere (town)"),
        ("https://en.wikipedia.org/wiki/Aldermere?action=edit", "Aldermere"),
        ("https://en.wikipedia.org/wiki/Quo_vadis%3F", "Quo vadis?"),
        ("  https://www.wikipedia.org/wiki/Aldermere/ ,", "Aldermere"),
        ("/wiki/Aldermere", "Aldermere"),
        ("Aldermere Castle", "Aldermere Castle"),
        ("https://de.wikipedia.org/wiki/Aldermere", "https://de.wikipedia.org/wiki/Aldermere"),
        ("https://example.org/wiki/Aldermere", "https://example.org/wiki/Aldermere"),
        ("https://[broken/wiki/Aldermere", "https://[broken/wiki/Aldermere"),
    ],
)
def test_links_become_titles(tmp_path: Path, link: str, title: str) -> None:
    [question] = load(written(tmp_path, "one.jsonl", lines({**FIELDS, "wiki_links": [link]}))).questions
    assert question.gold_titles == (title,)


# --- multi-hop, plain, SQuAD -----------------------------------------------------------------


LEE = Paragraph("Lee", "Lee is a captain. She was born in Kirkay.", True)


@pytest.mark.parametrize(
    ("row", "question"),
    [
        (
            {
                "_id": "5a8b",
                "supporting_facts": [["Lee", 1]],
                "context": [["Lee", ["Lee is a captain. ", "She was born in Kirkay."]], ["Auk", ["A tug."]]],
            },
            Question("5a8b", "Where?", ("Kirkay",), gold_titles=("Lee",), paragraphs=(LEE, Paragraph("Auk", "A tug."))),
        ),
        (
            {
                "id": "5a8c",
                "type": "bridge",
                "supporting_facts": {"title": ["Lee"], "sent_id": [1]},
                "context": {"title": ["Lee"], "sentences": [["Lee is a captain.", "She was born in Kirkay."]]},
            },
            Question("5a8c", "Where?", ("Kirkay",), types=("bridge",), gold_titles=("Lee",), paragraphs=(LEE,)),
        ),
        (
            {
                "id": "2hop",
                "answer_aliases": ["Kirkay town"],
                "answerable": False,
                "paragraphs": [{"idx": 0, "title": "Lee", "paragraph_text": LEE.text, "is_supporting": True}],
            },
            Question(
                "2hop",
                "Where?",
                ("Kirkay", "Kirkay town"),
                Answerability.NOT_IN_CORPUS,
                gold_titles=("Lee",),
                paragraphs=(LEE,),
            ),
        ),
    ],
)
def test_the_published_forms_keep_ids_paragraphs_and_gold(
    tmp_path: Path, row: dict[str, Any], question: Question
) -> None:
    row = {"question": "Where?", "answer": "Kirkay", **row}
    assert load(written(tmp_path, "rows.json", json.dumps([row]))).questions == (question,)


def test_plain_questions(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"question": " How many? ", "answer": 42, "aliases": ["forty-two"], "gold_titles": ["Aldermere_bridge"]},
        {"question": "Is it?", "answer": False},
        {"question": "Which?", "answers": ["a", "b"], "kind": "not_in_corpus"},
        {"question": "Unknown?", "answer": None},
    ]
    jsonl, listed = written(tmp_path, "a.jsonl", lines(*rows)), written(tmp_path, "b.json", json.dumps(rows, indent=1))
    dataset = load(jsonl)
    many, yes_no, several, unknown = dataset.questions
    assert dataset.form == "plain"
    assert load(listed).questions == dataset.questions
    assert (many.text, many.answers, many.gold_titles) == ("How many?", ("42", "forty-two"), ("Aldermere_bridge",))
    assert yes_no.answers == ("no",)
    assert (several.answers, several.kind) == (("a", "b"), Answerability.NOT_IN_CORPUS)
    assert unknown.answers == ()


def test_squad_of_both_versions(tmp_path: Path) -> None:
    answers = [{"text": "Edda Holm", "answer_start": 0}, {"text": "Holm", "answer_start": 5}]
    asked = [
        {"id": "s1", "question": "Who is the mayor?", "answers": [*answers, answers[0]]},
        {
            "id": "s2",
            "question": "Who is the king?",
            "answers": [],
            "is_impossible": True,
            "plausible_answers": answers,
        },
    ]
    data = {"version": "v2.0", "data": [{"title": "Aldermere", "paragraphs": [{"context": "Text.", "qas": asked}]}]}
    for name, content in (("line.json", json.dumps(data)), ("pretty.json", json.dumps(data, indent=2))):
        dataset = load(written(tmp_path, name, content))
        assert dataset.form == "SQuAD"
        mayor, king = dataset.questions
        assert (mayor.id, mayor.answers, mayor.kind) == ("s1", ("Edda Holm", "Holm"), Answerability.ANSWERABLE)
        assert (mayor.gold_titles, mayor.paragraphs) == (("Aldermere",), (Paragraph("Aldermere", "Text.", True),))
        assert (king.answers, king.kind, king.gold_titles) == ((), Answerability.NOT_IN_CORPUS, ())
        assert king.paragraphs == (Paragraph("Aldermere", "Text.", False),)


# --- ids -------------------------------------------------------------------------------------


def test_doubled_ids_are_named(tmp_path: Path) -> None:
    rows = [{"id": identity, "question": "Who?", "answer": "x"} for identity in (0, 1, "0", "7b", "7b")]
    with pytest.raises(UsageError, match="the id 0 and 7b"):
        load(written(tmp_path, "doubled.jsonl", lines(*rows)))


# --- wrong files -----------------------------------------------------------------------------

GOOD = {"question": "Who?", "answer": "Edda Holm"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty"),
        (b"\x89PNG\r\n\0\0\0", "it is binary"),
        (b"\x1f\x8b\x08\x00damaged", "cannot be unpacked"),
        ("Who is it? Nobody knows.", "neither JSON nor separated by tabs or commas"),
        ("a,b\n1,2\n", r"the fields of line 2 make no question \(a, b\)"),
        ("question\tanswer\n", "it holds no rows"),
        ("question\tanswer\nWho?\tx\nHow?\n", "line 3 has not the 2 columns"),
        (lines(GOOD) + '{"question": "Who?", "ans\n', "line 2 is not JSON"),
        (lines(GOOD) + "[1]\n", "line 2 is not a JSON object"),
        (lines(GOOD, {"question": "Who?"}), "line 2 is no question of the form plain: answer: Field required"),
        (lines({"question": " ", "answer": "x"}), "line 1 is no question of the form plain: question: "),
        (lines({**GOOD, "kind": "odd"}), "kind: Input should be 'answerable'"),
        (lines({**FIELDS, "wiki_links": "[broken"}), "wiki_links: it is no list"),
        (lines({**GOOD, "paragraphs": [{"title": "A", "text": "B"}]}), r"paragraphs\.0\.supporting: Field required"),
        (
            '{"data": [{"title": "A", "paragraphs": [{"qas": [{"id": 1, "question": "Who?"}]}]}]}',
            r"form SQuAD: data\.0\.",
        ),
        ('{"question": "Who\\ud800?", "answer": "x"}', "line 1 holds characters that are not text"),
        (lines({**GOOD, "answer": {"a": 1}}), "answer: it is no text, and no number"),
        (lines({**GOOD, "answer": ["x", math.nan]}), "answer: it is no text, and no number"),
        ('{"question": "Who?", "answer": "x", "id": 1e999}', "id: it is no text, and no number"),
        (lines({**FIELDS, "wiki_links": [math.nan]}), "wiki_links: it is no text, and no number"),
    ],
)
def test_a_wrong_file_says_what_and_where(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = written(tmp_path, "wrong.jsonl", content)
    with pytest.raises(UsageError, match=message) as raised:
        load(path)
    assert str(path) in str(raised.value)
    assert raised.value.hint


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it is a folder"):
        load(tmp_path)
    with pytest.raises(UsageError, match="There is no file"):
        load(tmp_path / "missing.jsonl")


# --- selecting -------------------------------------------------------------------------------


@pytest.fixture
def hundred() -> Dataset:
    made = [Question(f"q{n:03}", f"Who is {n}?", ("x",), types=("Odd" if n % 2 else "Even", "All")) for n in range(100)]
    return Dataset("hundred", "plain", "0" * 64, tuple(made))


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order(hundred: Dataset) -> None:
    first, again, other = (select(hundred, sample=20, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({*first}) == 20
    assert list(first) == sorted(first, key=lambda one: one.id)
    assert select(hundred, sample=100, seed=3) == select(hundred, sample=500) == hundred.questions


def test_what_cannot_be_selected(hundred: Dataset) -> None:
    with pytest.raises(UsageError, match="leaves no question"):
        select(hundred, limit=0)
    with pytest.raises(UsageError, match="leaves no question"):
        select(hundred, sample=-1)


# --- subsets of FRAMES -------------------------------------------------------------------------------


def dataset(*questions: tuple[str, str]) -> Dataset:
    return Dataset("made", "FRAMES", "0", tuple(Question(name, text, ("x",)) for name, text in questions))


def test_the_list_that_ships_holds_sixty_numbers_and_no_text() -> None:
    text = resources.files("iterative_rag.evaluation").joinpath("frames_60.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert len({number for number, _ in rows}) == len({digest for _, digest in rows}) == 60
    assert all(0 <= int(number) < 824 for number, _ in rows)
    assert all(len(digest) == 12 and int(digest, 16) >= 0 for _, digest in rows)


def test_a_question_is_known_by_its_words_whatever_its_number(tmp_path: Path) -> None:
    place = tmp_path / "ids.tsv"
    place.write_text(f"7\t{digest_of('Who lit the lamp?')}\n", encoding="utf-8")
    made = dataset(("7", "Another question?"), ("q-1", "Who  lit the lamp"), ("8", "A third?"))
    assert ids_of(made, str(place)) == ("q-1",)
    place.write_text("8\n", encoding="utf-8")
    assert ids_of(made, str(place)) == ("8",)
    assert ids_of(made, "all") == ("7", "q-1", "8")


def test_what_is_no_subset_says_so(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes(b"7\n\xff\n")
    with pytest.raises(UsageError, match="no subset"):
        ids_of(dataset(("7", "Who?")), str(tmp_path / "ids.txt"))
    with pytest.raises(UsageError, match="no subset 'sixty'") as raised:
        ids_of(dataset(("1", "Who?")), "sixty")
    assert "60, all" in raised.value.hint
    with pytest.raises(UsageError, match="holds no question of the subset 60"):
        ids_of(dataset(("1", "Who?")), "60")
