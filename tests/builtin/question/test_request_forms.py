"""Requests restated as questions, and texts that ask two things."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.request_forms import restated
from iterative_rag.builtin.question.several_questions import TwoQuestions, two_questions

REQUESTS = {
    "Tell me where Ada Orr was born.": "Where was Ada Orr born",
    "Name the architect of the Velm Tower.": "Who is the architect of the Velm Tower",
    "Name the band that recorded Slow Bread": "Which band recorded Slow Bread",
    "Give me the year in which the Sunday bridge was opened.": "In which year was the Sunday bridge opened",
    "Can you tell me what the capital of Orm is?": "What is the capital of Orm",
    "Could you please tell me which river the Sunday bridge crosses?": "Which river does the Sunday bridge cross",
    "Hi, do you happen to know what year Orm Hall opened?": "What year did Orm Hall open",
    "please tell me how many children Bo Lind had": "How many children did Bo Lind have",
    "I was wondering how tall the Velm Tower is.": "How tall is the Velm Tower",
    "Who built Orm Hall, please?": "Who built Orm Hall?",
    "Tell me about the Sunday bridge.": "What is known about the Sunday bridge",
    "whos the mayor of Orm": "Who is the mayor of Orm",
    "What's the capital of Orm?": "What is the capital of Orm?",
    # These are not requests.
    "Ann Lee and Bo Orm, who wrote Dawn, were born first?": "Ann Lee and Bo Orm, who wrote Dawn, were born first?",
    "Ann Lee and Bo Orm won a prize. Did they marry?": "Ann Lee and Bo Orm won a prize. Did they marry?",
    "Ann Lee and Bo Orm are poets. Who taught them?": "Ann Lee and Bo Orm are poets. Who taught them?",
    "Who's Who in Orm is by whom?": "Who's Who in Orm is by whom?",
    "State Street is in which city?": "State Street is in which city?",
    "Say Anything is a film by whom?": "Say Anything is a film by whom?",
    "Who sang Please Come Home?": "Who sang Please Come Home?",
}


@pytest.mark.parametrize(("request_text", "question"), REQUESTS.items())
def test_a_request_becomes_the_question_that_it_asks(request_text: str, question: str) -> None:
    assert restated(request_text) == question
    assert restated(question) == question


BOTH = {
    "Who built the Velm Tower and when was it opened?": ("Who built the Velm Tower", "When was the Velm Tower opened"),
    "When and where was Ada Orr born?": ("When was Ada Orr born", "Where was Ada Orr born"),
    "Who wrote Slow Bread? And where was he born?": ("Who wrote Slow Bread", "Where was {0} born"),
    "Who wrote Slow Bread, and who designed its cover?": (
        "Who wrote Slow Bread",
        "Who designed the cover of Slow Bread",
    ),
    "What is the capital of Orm and how many people live there?": (
        "What is the capital of Orm",
        "How many people live in {0}",
    ),
    "Which river flows through Orm and which flows through Aldermere?": (
        "Which river flows through Orm",
        "Which river flows through Aldermere",
    ),
    "When was Ada Orr born, and in which town?": ("When was Ada Orr born", "In which town was Ada Orr born"),
    "Who directed Dawn Sky and who wrote the music?": ("Who directed Dawn Sky", "Who wrote the music of Dawn Sky"),
    "When did Ann Lee die and of what?": ("When did Ann Lee die", "Of what did Ann Lee die"),
    "How long and how deep is the Orr?": ("How long is the Orr", "How deep is the Orr"),
    "Who was it that wrote Slow Bread, and when?": ("Who wrote Slow Bread", "When did {0} write Slow Bread"),
    "who was ada orr and what did she do": ("Who was ada orr", "What did ada orr do"),
    "Who designed the Velm Tower and how tall it is": ("Who designed the Velm Tower", "How tall is the Velm Tower"),
}


@pytest.mark.parametrize(("text", "questions"), BOTH.items())
def test_two_questions_are_told_apart(text: str, questions: tuple[str, str]) -> None:
    assert two_questions(text) == TwoQuestions(*questions)


@pytest.mark.parametrize(
    "question",
    [
        "Who directed Dawn and produced Dusk?",
        "Who is the singer who wrote Dawn and who produced Dusk?",
        "Who wrote Dawn and who produced it in 1990 {0}?",
        "In what year did Third Row release its songs, Slow Bread and How's It Going to Be?",
        "What is the distance between Orm and where the Lorn rises?",
        "Which magazine was started first, Orm Weekly or What and Why?",
    ],
)
def test_one_question_stays_one(question: str) -> None:
    assert two_questions(question) is None
