"""Requests restated as questions."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.request_forms import first_question, restated

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
    "the Orm, is it the longest river of the north?": "Is the Orm the longest river of the north",
    "Ada Orr - did she ever paint?": "Did Ada Orr ever paint",
    "Orm Hall: was it built of stone?": "Was Orm Hall built of stone",
    "architect of the tower that Ada Orr sold?": "Who is the architect of the tower that Ada Orr sold",
    "Height of the Velm Tower": "What is the height of the Velm Tower",
    "What did Ada Orr's father do for a living?": "What was the occupation of Ada Orr's father",
    "what does Bo Lind do": "What is the occupation of Bo Lind",
    "How did Ada Orr die?": "What was the cause of death of Ada Orr",
    "Who came before Ada Orr?": "Who was the predecessor of Ada Orr",
    "Who was in office after Bo Lind?": "Who was the successor of Bo Lind",
    "Who is Ada Orr?": "What is known about Ada Orr",
    "What was the Hall of the Orms in Orneby, Karsa?": "What is known about the Hall of the Orms in Orneby, Karsa",
    "What is radium?": "What is known about radium",
    # These are not requests.
    "What is Orm Hall made of?": "What is Orm Hall made of?",
    "Who was Ada Orr's son?": "Who was Ada Orr's son?",
    "What is that?": "What is that?",
    "Who was first lady before Ada Orr?": "Who was first lady before Ada Orr?",
    "Who was in office before the war?": "Who was in office before the war?",
    "What did Bo Lind do in Orm?": "What did Bo Lind do in Orm?",
    "What does the Sunday bridge do?": "What does the Sunday bridge do?",
    "Towers of the coast of Orm?": "Towers of the coast of Orm?",
    "The capital of Orm is where?": "The capital of Orm is where?",
    "Director of the hall born?": "Director of the hall born?",
    "One of Ada Orr's sons is a poet. Which of them?": "One of Ada Orr's sons is a poet. Which of them?",
    "Of the towers of Orm, the oldest?": "Of the towers of Orm, the oldest?",
    "When it opened, was it the tallest?": "When it opened, was it the tallest?",
    "In 1930, was it sold?": "In 1930, was it sold?",
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


@pytest.mark.parametrize(
    "question",
    [
        "Which actor starred in Dawn and who was born in Orm?",
        "Where and when was Ann Orley born?",
        "Which film was written by Bo Li and in which Ann Orley plays?",
        "How many years passed between when Dawn came out and when was Dusk released?",
        "What band recorded When and Where?",
    ],
)
def test_what_may_belong_to_one_question_is_left_whole(question: str) -> None:
    assert first_question(question) == question
