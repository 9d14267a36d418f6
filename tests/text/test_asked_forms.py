"""Which form of answer the words of a question name, and what they overrule."""

from __future__ import annotations

import pytest

from iterative_rag.text.asked_forms import asked_form, sound_form
from iterative_rag.types import AnswerForm

EXPLANATION, SUMMARY, TABLE = AnswerForm.EXPLANATION, AnswerForm.SUMMARY, AnswerForm.TABLE
REPORT, VALUE = AnswerForm.REPORT, AnswerForm.VALUE


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Why was Velm Tower built?", EXPLANATION),
        ("Could you explain how Velm Tower was built?", EXPLANATION),
        ("What was the first summer in Karsa like?", EXPLANATION),
        ("What were the causes of the fire?", EXPLANATION),
        ("¿Por qué ardió el puerto?", EXPLANATION),
        ("Pourquoi le port a-t-il brûlé ?", EXPLANATION),
        ("Liman neden yandı?", EXPLANATION),
        ("为什么港口着火了？", EXPLANATION),
        ("please summarize the life of Oda Brenk", SUMMARY),
        ("Give me an overview of Karsa", SUMMARY),
        ("Fass das Leben von Oda Brenk zusammen", SUMMARY),
        ("Compare the two bridges", TABLE),
        ("How does Velm Tower differ from Orra Tower?", TABLE),
        ("Vergleiche die beiden Brücken", TABLE),
        ("Write a short report on the harbour", REPORT),
        ("Schreib einen Bericht über den Hafen", REPORT),
        ("How many houses burnt?", VALUE),
        ("How old was the architect of Velm Tower when it was finished?", VALUE),
        ("In which year did the harbour burn?", None),
        ("In what year did the harbour burn?", VALUE),
        ("Who explained why the harbour burnt?", VALUE),
        ("Wie viele Häuser brannten?", VALUE),
        ("Wie hieß die Großmutter von Leonhard Quast?", VALUE),
        ("Wie heisst der Fluss?", VALUE),
        ("Comment s’appelle le phare ?", VALUE),
        ("¿Cómo se llama el ferry?", VALUE),
        ("How is the river called that flows through Karsa?", VALUE),
        ("How was the river called in 1904?", None),
        ("How was the meeting called to order?", None),
        ("When and why was Velm Tower built?", None),
        ("What is the difference between a tower and a mast?", TABLE),
        ("What is the difference in height between Velm Tower and Orra Tower?", None),
        ("What was the difference between the heights of the two towers?", None),
        ("Compared with Velm Tower, how tall is Orra Tower?", None),
        ("What is the cause of death of the director of The Harbour?", None),
        ("Karsa yangını hakkında bir rapor yaz", REPORT),
        ("Give the year of the Harbour Report", None),
        ("Which river flows through Karsa?", None),
        ("What is the name of the report that Oda Brenk wrote?", None),
    ],
)
def test_the_form_that_the_words_name(question: str, form: AnswerForm | None) -> None:
    assert asked_form(question) is form


@pytest.mark.parametrize(
    ("said", "question", "form"),
    [
        (VALUE, "Why was it built?", EXPLANATION),
        (AnswerForm.LIST, "Why was it built?", EXPLANATION),
        (SUMMARY, "Why was it built?", SUMMARY),
        (EXPLANATION, "Who built it?", VALUE),
        (VALUE, "How is the river called that flows through Karsa?", VALUE),
        (None, "How was Velm Tower built?", EXPLANATION),
        (None, "Velm Tower's architect", VALUE),
        (TABLE, "Velm Tower and Orra Tower", TABLE),
    ],
)
def test_a_model_is_overruled_only_where_it_is_plainly_wrong(
    said: AnswerForm | None, question: str, form: AnswerForm
) -> None:
    assert sound_form(said, question) is form
