"""Every form of question file, read through `load`; what is wrong with a file is said with its line."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from iterative_rag.errors import UsageError
from iterative_rag.evaluation.datasets.dataset_forms import load, select
from iterative_rag.evaluation.questions import Answerability, Dataset, Paragraph, Question

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
@pytest.mark.parametrize("dress", ["plain", "windows", "bom", "gz"])
def test_frames_reads_the_same_from_every_shape(tmp_path: Path, name: str, content: str, dress: str) -> None:
    data = content.encode()
    if dress == "windows":
        data = data.replace(b"\n", b"\r\n")
    elif dress == "bom":
        data = b"\xef\xbb\xbf" + data
    elif dress == "gz":
        data, name = gzip.compress(data), name + ".gz"
    dataset = load(written(tmp_path, name, data))
    assert dataset.questions == (EXPECTED,)
    assert (dataset.form, dataset.name) == ("FRAMES", name.partition(".")[0])
    assert dataset.digest == hashlib.sha256(data).hexdigest()


def test_our_own_fields_beside_those_of_frames(tmp_path: Path) -> None:
    row = {**FIELDS, "wiki_links": [], "id": "a1", "aliases": ["O. Brandt", "Olin Brandt", ""], "kind": "false_premise"}
    [question] = load(written(tmp_path, "own.jsonl", lines(row))).questions
    assert question.answers == ("Olin Brandt", "O. Brandt")
    assert (question.id, question.kind, question.gold_titles) == ("a1", Answerability.FALSE_PREMISE, ())


@pytest.mark.parametrize(
    ("link", "title"),
    [
        ("https://en.wikipedia.org/wiki/Caf%C3%A9_Holm", "Café Holm"),
        ("https://en.wikipedia.org/wiki/Caf%E9_Holm", "Café Holm"),  # Latin-1, as in old links
        ("https://en.wikipedia.org/wiki/Cafe%CC%81_Holm", "Café Holm"),  # a combining accent
        ("http://en.m.wikipedia.org/wiki/AC/DC#History", "AC/DC"),
        ("https://en.wikipedia.org/w/index.php?title=Aldermere_(town)&oldid=12", "Aldermere (town)"),
        ("https://en.wikipedia.org/?title=Aldermere", "Aldermere"),
        ("https://en.wikipedia.org/wiki/Aldermere?action=edit", "Aldermere"),
        ("https://en.wikipedia.org/wiki/Quo_vadis?", "Quo vadis?"),
        ("https://en.wikipedia.org/wiki/Quo_vadis%3F", "Quo vadis?"),
        ("https://en.wikipedia.org/wiki/Holm_&amp;_Sons", "Holm & Sons"),
        ("  https://www.wikipedia.org/wiki/Aldermere/ ,", "Aldermere"),
        ("//en.wikipedia.org/wiki/Aldermere", "Aldermere"),
        ("en.wikipedia.org/wiki/Aldermere", "Aldermere"),
        ("/wiki/Aldermere", "Aldermere"),
        ("Aldermere Castle", "Aldermere Castle"),
        ("https://de.wikipedia.org/wiki/Aldermere", "https://de.wikipedia.org/wiki/Aldermere"),
        ("https://example.org/wiki/Aldermere", "https://example.org/wiki/Aldermere"),
        ("https://en.wikipedia.org/?curid=7", "https://en.wikipedia.org/?curid=7"),
        ("https://[broken/wiki/Aldermere", "https://[broken/wiki/Aldermere"),
    ],
)
def test_links_become_titles(tmp_path: Path, link: str, title: str) -> None:
    [question] = load(written(tmp_path, "one.jsonl", lines({**FIELDS, "wiki_links": [link]}))).questions
    assert question.gold_titles == (title,)


# --- multi-hop, plain, SQuAD -----------------------------------------------------------------


def test_multi_hop_keeps_paragraphs_and_takes_the_steps_of_a_decomposition(tmp_path: Path) -> None:
    row = {
        "id": "2hop__1",
        "question": "Who is the mayor of the town of the bridge?",
        "answer": "Edda Holm",
        "aliases": ["Holm"],
        "type": "2hop",
        "decomposition": [
            {"question": "Where is the bridge?", "answer": "Aldermere", "paragraph": "Sunday bridge"},
            {"question": "Who is the mayor of #1?", "answer": "Edda Holm", "paragraph": "Aldermere"},
        ],
        "paragraphs": [
            {"title": "Aldermere", "text": "Its mayor is Edda Holm.", "supporting": True},
            {"title": "Brenwick", "text": "A town.", "supporting": False},
            {"title": "Aldermere", "text": "The bridge is in Aldermere.", "supporting": True},
            {"title": "Nothing", "text": " ", "supporting": False},
        ],
    }
    dataset = load(written(tmp_path, "hops.jsonl", lines(row)))
    assert dataset.form == "multi-hop"
    assert dataset.questions == (
        Question(
            id="2hop__1",
            text="Who is the mayor of the town of the bridge?",
            answers=("Edda Holm", "Holm"),
            types=("2hop",),
            gold_titles=("Aldermere",),
            paragraphs=(
                Paragraph("Aldermere", "Its mayor is Edda Holm.", True),
                Paragraph("Brenwick", "A town."),
                Paragraph("Aldermere", "The bridge is in Aldermere.", True),
            ),
            expected_steps=("Aldermere", "Edda Holm"),
        ),
    )


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
                "question_decomposition": [{"id": 1, "question": "q", "answer": "Kirkay", "paragraph_support_idx": 0}],
            },
            Question(
                "2hop",
                "Where?",
                ("Kirkay", "Kirkay town"),
                Answerability.NOT_IN_CORPUS,
                gold_titles=("Lee",),
                paragraphs=(LEE,),
                expected_steps=("Kirkay",),
            ),
        ),
        (
            {
                "id": "f",
                "answer": ["Tern", "Auk"],
                "categories": ["Fleet"],
                "necessary_evidence": [{"title": "Fleet (A)"}],
            },
            Question("f", "Where?", ("Tern; Auk",), types=("Fleet",), gold_titles=("Fleet (A)",)),
        ),
        (
            {"id": "f", "answer": {"Tern": 1931, "Auk": [1950, True]}, "necessary_evidence": []},
            Question("f", "Where?", ("Tern: 1931; Auk: 1950, yes",)),
        ),
        ({"id": "t", "answer": {"value": "Kirkay", "aliases": ["K."]}}, Question("t", "Where?", ("Kirkay", "K."))),
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
        {"question": "Which?", "answers": ["a", "b"], "kind": "not_in_corpus", "expected_steps": ["x", "y"]},
        {"question": "Unknown?", "answer": None},
    ]
    jsonl, listed = written(tmp_path, "a.jsonl", lines(*rows)), written(tmp_path, "b.json", json.dumps(rows, indent=1))
    dataset = load(jsonl)
    many, yes_no, several, unknown = dataset.questions
    assert dataset.form == "plain"
    assert load(listed).questions == dataset.questions
    assert (many.text, many.answers, many.gold_titles) == ("How many?", ("42", "forty-two"), ("Aldermere_bridge",))
    assert yes_no.answers == ("no",)
    assert (several.answers, several.kind, several.expected_steps) == (
        ("a", "b"),
        Answerability.NOT_IN_CORPUS,
        ("x", "y"),
    )
    assert unknown.answers == ()


def test_one_plain_question_over_several_lines(tmp_path: Path) -> None:
    row = {"question": "Who?", "answer": "Edda Holm", "aliases": ["Holm"]}
    assert load(written(tmp_path, "one.json", json.dumps(row, indent=0))).questions[0].answers == ("Edda Holm", "Holm")


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


def test_ids_that_are_missing_outlive_a_change_of_order(tmp_path: Path) -> None:
    rows = [{"question": f"Who is {n}?", "answer": "x"} for n in range(3)] + [{"question": "Who is 1?", "answer": "y"}]
    ids = {one.text + one.answers[0]: one.id for one in load(written(tmp_path, "a.jsonl", lines(*rows))).questions}
    assert len(set(ids.values())) == 4
    shuffled = [rows[2], rows[1], rows[3], rows[0]]
    assert ids == {
        one.text + one.answers[0]: one.id for one in load(written(tmp_path, "b.jsonl", lines(*shuffled))).questions
    }


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
        (" \n\n", "it is empty"),
        ("[]", "its list is empty"),
        ('{"data": []}', "it holds no question"),
        (b"\x89PNG\r\n\0\0\0", "it is binary"),
        (b"\x1f\x8b\x08\x00damaged", "cannot be unpacked"),
        ("Who is it? Nobody knows.", "neither JSON nor separated by tabs or commas"),
        ("a,b\n1,2\n", "the nearest form is plain, but line 2 lacks question and answer"),
        ("question\tanswer\n", "no rows"),
        ("question\tanswer\nWho?\tx\nHow?\n", "line 3 has not the 2 columns"),
        ("question\tanswer\nWho?\tx\ty\n", "line 2 has not the 2 columns"),
        ('question\tanswer\n"a\nb"\tx\n"c', "line 4 is not separated values"),
        (lines(GOOD) + '{"question": "Who?", "ans\n', "line 2 is not JSON"),
        ('{"question": "Who?, "answer": "x"}\n' + lines(GOOD), "line 1 is not JSON"),
        ('{"question":\n "Who?",\n "answer" "x"}', "line 3 is not JSON"),
        ('[{"question": "Who?"', "line 1 is not JSON"),
        (lines(GOOD) + "[1]\n", "line 2 is not a JSON object"),
        ('["Who?"]', "entry 1 is not a JSON object"),
        (lines(GOOD, {"question": "Who?"}), r"line 2 lacks answer \(plain\)"),
        (lines({"question": " ", "answer": "x"}), "line 1 has an empty question"),
        (lines({**GOOD, "kind": "odd"}), "line 1 has the unknown kind 'odd'"),
        (lines({**GOOD, "answer": {"text": "x"}}), "line 1 has no text, and no list of texts, for answer"),
        (lines({**GOOD, "aliases": 3}), "line 1 has no list of texts for aliases"),
        (lines({**FIELDS, "wiki_links": "[broken"}), "line 1 has no list for wiki_links"),
        (lines({**GOOD, "paragraphs": [{"title": "A", "text": "B"}]}), "line 1 lacks supporting in its paragraph 1"),
        (lines({**GOOD, "paragraphs": "A"}), "line 1 has paragraphs that are no list"),
        (lines({**GOOD, "paragraphs": [], "decomposition": ["A"]}), "line 1 has a decomposition with a step"),
        ('{"data": [{"title": "A", "paragraphs": [{"qas": [{"id": 1, "question": "Who?"}]}]}]}', "lacks answers"),
        ('{"data": 3}', "not of SQuAD's form"),
        ('{"question": "Who\\ud800?", "answer": "x"}', "line 1 holds characters that are not text"),
        ('{"question": "Who?", "answer": ["x\\u0000"]}', "line 1 holds characters that are not text"),
    ],
)
def test_a_wrong_file_says_what_and_where(tmp_path: Path, content: str | bytes, message: str) -> None:
    path = written(tmp_path, "wrong.jsonl", content)
    with pytest.raises(UsageError, match=message) as raised:
        load(path)
    assert str(path) in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("fields", "form", "lacks"),
    [
        ({"Prompt": "Who?", "Answer": "x"}, "FRAMES", "wiki_links"),
        ({"Prompt": "Who?", "wiki_links": []}, "FRAMES", "Answer"),
        ({"question": "Who?", "paragraphs": []}, "multi-hop", "answer"),
        ({"question": "Who?", "context": "Text."}, "plain", "answer"),
        ({"title": "A", "text": "B"}, "plain", "question and answer"),
    ],
)
def test_a_strange_form_names_the_nearest_and_what_it_lacks(
    tmp_path: Path, fields: dict[str, Any], form: str, lacks: str
) -> None:
    with pytest.raises(UsageError, match=rf"the nearest form is {form}, but line 1 lacks {lacks}\."):
        load(written(tmp_path, "strange.jsonl", lines(fields)))


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


def test_types_come_before_the_sample_and_the_limit_last(hundred: Dataset) -> None:
    assert [one.id for one in select(hundred, limit=3)] == ["q000", "q001", "q002"]
    assert [one.id for one in select(hundred, types=[" odd "], limit=2)] == ["q001", "q003"]
    odd = select(hundred, types=["ODD"], sample=10, seed=4)
    assert len(odd) == 10
    assert all("Odd" in one.types for one in odd)
    assert select(hundred, types=["Odd"], sample=10, seed=4, limit=4) == odd[:4]
    assert select(hundred, types=["odd", "even"]) == hundred.questions


def test_what_cannot_be_selected(hundred: Dataset) -> None:
    with pytest.raises(UsageError, match="no questions of the type 'prime'") as raised:
        select(hundred, types=["odd", "Prime"])
    assert raised.value.hint == "It has All, Even and Odd."
    with pytest.raises(UsageError, match="leaves no question"):
        select(hundred, limit=0)
    with pytest.raises(UsageError, match="leaves no question"):
        select(hundred, sample=-1)
