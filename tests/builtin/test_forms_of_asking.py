"""Questions as people type them, asked of the built-in backend over a small corpus, through the public API."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pytest

from iterative_rag import IterativeRAG
from iterative_rag.app.factory import index_paths
from iterative_rag.app.proof.answer_export import as_markdown
from iterative_rag.app.proof.proof_graph import NodeKind, proof_graph
from iterative_rag.builtin.question.need_query import wants_extract
from iterative_rag.cli.answer_view import show_answer
from iterative_rag.cli.console import Printer
from iterative_rag.settings import load_settings
from iterative_rag.storage.output import answer_to_json
from iterative_rag.storage.past_runs import run_of_id
from iterative_rag.types import AnswerForm, NameReading, ReasonCode, Status

TEXTS = {
    "Velm Tower": (
        "| Velm Tower | |\n|---|---|\n| Opened | 1931 |\n| Height | 201 m |\n\n"
        "The Velm Tower is a tower in Aldermere. The Velm Tower was designed by Oda Brenk. "
        "The Velm Tower was closed in 1990 because its lift had broken. Its roof is green."
    ),
    "Oda Brenk": (
        "| Oda Brenk | |\n|---|---|\n| Born | March 3, 1874, Tellby |\n| Mother | Tilda Brenk |\n\n"
        "Oda Brenk was an architect. Oda Brenk spent a lonely childhood among sheep. She liked chess."
    ),
    "Tilda Brenk": "Tilda Brenk was a weaver of Tellby. Tilda Brenk had five children, of whom one drew towers.",
    "Bo Lind": "Bo Lind was a smith. His father was the painter Rolf Lind. His brother Aksel Lind was a poet.",
    "Hall Building": "Hall Building is an office tower of 102 floors in New York City.",
    "Long Pier": "The Long Pier is a pier in Tellby. The Long Pier is 20.5 metres long.",
    "Hall Building (list)": (
        "| Building | City | Year |\n|---|---|---|\n| Hall Building | New York City | 1931 |\n"
        "| Grey Mill | Tellby | 1928 |\n| Low Mill | Karsa | 1929 |"
    ),
    "Orm": "| Orm | |\n|---|---|\n| Capital | Tellby |\n\nOrm is a country on the Grey Sea.",
    "Sheep": "Sheep are kept by Rolf Telby and others.",
    "List of presidents": (
        "| No. | President of the United States | Term |\n|---|---|---|\n| 1 | Ina Holm | 1901–1905 |\n"
        "| 2 | Rolf Vey | 1905–1909 |\n| 3 | Edda Ruud | 1909–1913 |"
    ),
    "Rolf Vey": "| Rolf Vey | |\n|---|---|\n| First lady | Mia Vey |\n\nRolf Vey was the second US president.",
    "Tilde Ruud": "Tilde Ruud was the head of the United Nations in 1950.",
    "Grey Column": (
        "The Grey Column in Tellby was put up as a memorial to the drowned of 1870.\n\n"
        "An aerial that was added in 1957 brought the column above the church again. The Tall Mill outdid both in 1961."
    ),
    "Tellby": "| Tellby | |\n|---|---|\n| Population | 41,000 |\n\nTellby is a city in Orm.",
}


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IterativeRAG]:
    base = tmp_path_factory.mktemp("asked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(base / "home"))
        pages = base / "pages"
        pages.mkdir()
        for title, text in TEXTS.items():
            (pages / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        settings = load_settings({"llm": "builtin", "corpus": "asked", "cache": False})
        index_paths([pages], settings=settings, corpus="asked")
        opened = IterativeRAG.from_settings(settings)
        yield opened
        opened.close()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Tell me who designed the Velm Tower.", "Oda Brenk"),
        ("Could you tell me when the Velm Tower opened?", "1931"),
        ("Give me the name of the mother of the designer of the Velm Tower.", "Tilda Brenk"),
        ("I'd like to know how tall the Velm Tower is, please.", "201 m"),
    ],
)
def test_a_request_is_answered_as_its_question(rag: IterativeRAG, question: str, value: str) -> None:
    answer = rag.ask(question)
    assert answer.status is Status.ANSWERED
    assert answer.short_answer == value
    assert answer.question == question


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the name of the first lady of the 2nd president of the USA ?", "Mia Vey"),
        ("Who was the first lady of the 2nd POTUS?", "Mia Vey"),
        ("who was the first lady of the 2nd president of the us?", "Mia Vey"),
        ("Who was the 3rd president of the U.S.?", "Edda Ruud"),
        ("Who was the head of the UN in 1950?", "Tilde Ruud"),
    ],
)
def test_a_name_may_be_asked_for_by_another_form(rag: IterativeRAG, question: str, value: str) -> None:
    """Each of them was "not in the corpus", whose texts say "United States" and "United Nations"."""
    answer = rag.ask(question)
    assert answer.status is Status.ANSWERED
    assert answer.short_answer == value


@pytest.mark.parametrize(
    ("question", "value", "taken"),
    [
        ("Who designed the Velmm Tower?", "Oda Brenk", NameReading("Velmm", "Velm")),
        ("When was Oda Bernk born?", "March 3, 1874", NameReading("Bernk", "Brenk")),
        ("who was the mother of oda brenck", "Tilda Brenk", NameReading("brenck", "Brenk")),
        ("Who desinged the Velm Tower?", "Oda Brenk", NameReading("desinged", "designed")),
        ("wich architect designed the velm tower", "Oda Brenk", NameReading("Wich", "Which")),
    ],
)
def test_a_misspelt_word_is_taken_as_the_nearest_one(
    rag: IterativeRAG, question: str, value: str, taken: NameReading
) -> None:
    answer = rag.ask(question)
    assert answer.short_answer == value
    assert answer.taken_as == (taken,)
    screen = io.StringIO()
    show_answer(answer, Printer(screen))
    for shown in (screen.getvalue(), as_markdown(answer)):
        assert f"“{taken.written}” taken as “{taken.taken_as}”" in shown
    assert answer_to_json(answer, version="1")["taken_as"] == [
        {"written": taken.written, "taken_as": taken.taken_as},
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Telby?",  # the corpus writes it so elsewhere
        "Who designed the Helm Tower?",  # another word
        "Who designed the Velm Tower?",
        "what is the capital of orm",
    ],
)
def test_a_name_that_may_be_right_stays_as_it_is(rag: IterativeRAG, question: str) -> None:
    assert rag.ask(question).taken_as == ()


@pytest.mark.parametrize(
    ("question", "need"),
    [
        ("what does rolf telby keep?", "What does Rolf Telby keep?"),  # no title of the corpus has it
        ("what does telby keep?", "What does Telby keep?"),
        ("which brenk was born in tellby?", "Which Brenk was born in Tellby?"),
        ("where is the united nations head from?", "Where is the United Nations head from?"),
        ("how lonely was oda brenks childhood?", "How lonely was Oda Brenk's childhood?"),
        ("what do tellbys people keep?", "What do Tellby's people keep?"),
        ("what roof does the tower have?", "What roof does the tower have?"),  # a word that is written small, too
        ("who likes chess?", "Who likes chess?"),
    ],
)
def test_names_without_capitals_are_read_as_passages_write_them(rag: IterativeRAG, question: str, need: str) -> None:
    """A question with its names in small letters had 75 of 200 HotpotQA questions right instead of 73, and 33 instead
    of 36 wrong; with capitals 79 and 34."""
    assert rag.ask(question).hops[0].needs[0] == need


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Did the Velm Tower open before 1930?", "No"),
        ("Was the Velm Tower opened after 1931?", "No"),
        ("Is the Velm Tower taller than 600 feet?", "Yes"),
        ("Was the designer of the Velm Tower born before April 1874?", "Yes"),
        ("Does the capital of Orm have more than 50,000 inhabitants?", "No"),
    ],
)
def test_a_date_or_an_amount_of_the_question_is_compared(rag: IterativeRAG, question: str, value: str) -> None:
    """The reader says no to most of them: of a text with another year."""
    answer = rag.ask(question)
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, value)


@pytest.mark.parametrize("question", ["Velm Tower", "velm tower?", "Orm", "oda brenk"])
def test_of_a_title_alone_what_is_known_is_quoted(rag: IterativeRAG, question: str) -> None:
    """ "Vltava" was answered "Prague", likely."""
    assert rag.ask(question).status is Status.EXTRACT


def test_a_number_of_children_is_none_of_siblings(rag: IterativeRAG) -> None:
    """ "How many siblings had she?" was answered "eleven" of "the second of eleven children"."""
    assert rag.ask("How many children did Tilda Brenk have?").short_answer == "five"
    assert rag.ask("How many sisters did Tilda Brenk have?").status is Status.ABSTAINED


def test_a_number_of_things_is_no_length_and_no_price(rag: IterativeRAG) -> None:
    """ "How tall is it?" was answered "102" of "102 floors", "How much did it cost?" with the number of its rows."""
    assert rag.ask("How many floors has Hall Building?").short_answer == "102"
    assert rag.ask("How many metres long is the Long Pier?").short_answer == "20.5 metres"
    assert rag.ask("How tall is Hall Building?").status is Status.ABSTAINED
    assert rag.ask("How much did Hall Building cost?").status is Status.ABSTAINED


def test_a_relative_of_one_degree_is_none_of_another(rag: IterativeRAG) -> None:
    assert rag.ask("Who was Bo Lind's father?").short_answer == "Rolf Lind"
    assert rag.ask("Who was Bo Lind's grandfather?").status is Status.ABSTAINED


@pytest.mark.parametrize("question", ["Is Oda Brenk older than 50?", "Is the Velm Tower younger than 120 years?"])
def test_an_age_of_today_is_declined(rag: IterativeRAG, question: str) -> None:
    assert rag.ask(question).status is Status.ABSTAINED


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Is Tellby a city or a river?", "city"),
        ("Was Oda Brenk an architect or a painter?", "architect"),
        ("Was the Velm Tower closed in 1980 or in 1990?", "1990"),
        ("Did Oda Brenk or Rolf Telby design the Velm Tower?", "Oda Brenk"),
        ("Is the roof of the Velm Tower green or red?", "green"),
        ("Did Oda Brenk study in Karsa or in Tarn?", ""),
        ("Was the Velm Tower designed by Oda Brenk or not?", "yes"),
    ],
)
def test_a_choice_is_answered_by_what_it_offers(rag: IterativeRAG, question: str, value: str) -> None:
    """They were taken for questions that ask for a yes, and answered with a no."""
    assert rag.ask(question).short_answer.casefold().removeprefix("the ") == value.casefold()


@pytest.mark.parametrize(
    ("question", "value", "is_one_of_two"),
    [
        ("Who designed the Velm Tower and when did it open?", "Oda Brenk", True),
        ("When did the Velm Tower open and who designed it?", "1931", True),
        ("Could you tell me when Oda Brenk was born, and who was her mother?", "March 3, 1874", True),
        ("When did the Velm Tower open and how tall is it?", "1931", True),
        ("How many people live in the capital of Orm?", "41,000", False),
    ],
)
def test_the_answer_to_one_of_two_questions_says_so(
    rag: IterativeRAG, question: str, value: str, is_one_of_two: bool
) -> None:
    answer = rag.ask(question)
    assert answer.short_answer == value
    assert any("ask the rest by itself" in caveat for caveat in answer.caveats) is is_one_of_two


EXTRACTS = {
    "Why was the Velm Tower closed?": "The Velm Tower was closed in 1990 because its lift had broken.",
    "Tell me why the Velm Tower was closed.": "The Velm Tower was closed in 1990 because its lift had broken.",
    "Why was the Grey Column built?": "The Grey Column in Tellby was put up as a memorial to the drowned of 1870.",
    "What was the childhood of Oda Brenk like?": "Oda Brenk spent a lonely childhood among sheep.",
    "What is known about Orm?": "Orm is a country on the Grey Sea.",
}


@pytest.mark.parametrize(("question", "quote"), EXTRACTS.items())
def test_a_question_without_a_value_gets_an_extract(rag: IterativeRAG, question: str, quote: str) -> None:
    answer = rag.ask(question)
    assert answer.status is Status.EXTRACT
    assert answer.form is AnswerForm.EXTRACT
    assert answer.short_answer == quote
    assert answer.citations[0].quote == quote
    assert answer.text.startswith(f"“{quote}” [1]")
    assert answer.confidence_word is None
    assert not answer.conflicts
    assert rag.ask("Who designed the Velm Tower?").form is AnswerForm.VALUE


@pytest.mark.parametrize(
    "question",
    [
        "How did Oda Brenk spend her childhood?",
        "How was the Velm Tower designed?",
        "Summarise what is known about the Velm Tower.",
        "Tell me about Oda Brenk.",
        "Compare the Velm Tower and the Oda Brenk.",
    ],
)
def test_a_question_for_a_text_gets_no_bare_value(rag: IterativeRAG, question: str) -> None:
    """Five of the 30 questions of evaluation/long_questions.jsonl got one, as “1889” or “a fishing boat”."""
    answer = rag.ask(question)
    assert answer.form is AnswerForm.EXTRACT
    assert all(len(citation.quote.split()) > 3 for citation in answer.citations)
    assert all(len(quote.split()) > 3 for quote in re.findall("“(.*?)”", answer.text))


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How did Oda Brenk die?", False),
        ("How do you spell the name of the architect?", False),
        ("How is Oda Brenk related to Tilda Brenk?", False),
        ("How old was Oda Brenk?", False),
        ("Compared with Orm, how tall is the Velm Tower?", False),
        ("What is the difference in height between the towers?", False),
        ("How was the tower built?", True),
        ("What are the differences between the two towers?", True),
        ("Write a report about the towers of Orm.", True),
        ("Describe the Velm Tower.", True),
    ],
)
def test_only_questions_for_a_text_are_answered_by_passages(question: str, wanted: bool) -> None:
    assert wants_extract(question) is wanted


def test_an_extract_is_marked_wherever_it_is_shown(rag: IterativeRAG) -> None:
    answer = rag.ask("Why was the Velm Tower closed?")
    quote = "The Velm Tower was closed in 1990 because its lift had broken."
    screen = io.StringIO()
    show_answer(answer, Printer(screen))
    for shown in (screen.getvalue(), as_markdown(answer)):
        assert shown.count(quote) == 1
        assert "Extract: the passages nearest to the question, quoted; nothing is concluded from them." in shown
    assert {answer_to_json(answer, version="1")[key] for key in ("form", "status")} == {"extract"}
    (end,) = (node for node in proof_graph(answer).nodes if node.id == "answer")
    assert (end.kind, "nothing is concluded" in end.text) == (NodeKind.NO_ANSWER, True)
    assert run_of_id(answer.run_id).status == "extract"


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("Who designed it?", "what “it”"),
        ("Who designed it and when?", "what “it”"),
        ("When was she born?", "whom “she”"),
        ("What is its population?", "what “its”"),
        ("Could you tell me who was her mother?", "whom “her”"),
        ("Did she live in Tellby?", "whom “she”"),
        ("Who designed that tower?", "what “that”"),
    ],
)
@pytest.mark.parametrize("strategy", ["iterative", "naive", "plan"])
def test_a_question_that_names_nothing_asks_for_the_name(
    rag: IterativeRAG, strategy: str, question: str, unsaid: str
) -> None:
    answer = rag.ask(question, strategy=strategy)
    assert answer.status is Status.ABSTAINED
    assert f"The question does not say {unsaid} means: ask it again with the name." in answer.reason
    if strategy == "iterative":
        assert (answer.hops, answer.reason_code) == ((), ReasonCode.NOT_WORKED_OUT)
        screen = io.StringIO()
        show_answer(answer, Printer(screen))
        assert "To try" not in screen.getvalue()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("When was Oda Brenk born, and who was her mother?", "March 3, 1874"),
        ("The Velm Tower is in Aldermere. Who designed it?", "Oda Brenk"),
        ("What year is it in which the Velm Tower opened?", "1931"),
        ("Which country is on the Grey Sea?", "Orm"),
        ("Is it true that the Velm Tower was designed by Oda Brenk?", "yes"),
        ("How many people live in the capital of Orm?", "41,000"),
    ],
)
def test_a_pronoun_that_needs_no_other_name_is_no_obstacle(rag: IterativeRAG, question: str, value: str) -> None:
    assert rag.ask(question).short_answer == value
