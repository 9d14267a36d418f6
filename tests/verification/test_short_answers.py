"""What a sentence says of a short answer beside it: the same in other words, or something else."""

from __future__ import annotations

import pytest

from iterative_rag.verification.short_answers import says


@pytest.mark.parametrize(
    ("question", "text", "short"),
    [
        ("Who designed Velm Tower?", "Oda Brenk designed Velm Tower.", "Oda Brenk"),
        ("Did Oda Brenk design Velm Tower?", "Oda Brenk designed Velm Tower.", "yes"),
        ("Did Oda Brenk design Velm Tower?", "Oda Brenk did not design Velm Tower.", "no"),
        ("Are Velm and Orm in the same country?", "Velm is in Karsa and Orm is in Orra.", "no"),
        ("Is Velm Tower taller than Orm Tower?", "Velm Tower is 300 m tall and Orm Tower 310 m.", "no"),
        ("Did Oda Brenk design Velm Tower?", "Yes, Oda Brenk designed it.", "yes"),
        ("Did Oda Brenk design Velm Tower?", "No, it was Lena Fisk.", "no"),
        ("When was Oda Brenk born?", "She was born on March 3, 1874.", "3 March 1874"),
        ("When was Oda Brenk born?", "She was born on March 3, 1874.", "1874"),
        ("When?", "She was born on March 3, 1874.", "March 1874"),
        ("How many children?", "She had seven children.", "7"),
        ("How many children?", "She had 7 children.", "seven"),
        ("How tall?", "It is 661 ft tall.", "661 feet"),
        ("How tall?", "It is 661 ft tall.", "661"),
        ("How tall?", "It is 661 ft tall.", "201 m"),
        ("Which body was founded in 1945?", "The United Nations was founded in 1945.", "UN"),
        ("Which body was founded in 1945?", "The UN was founded in 1945.", "United Nations"),
        ("Which?", "The UN was founded in 1945.", "the United Nations"),
        ("Who won?", "The United States of America won.", "USA"),
        ("Who won?", "Oda, Lena and Tove won.", "Oda; Lena; Tove"),
        ("What did they see?", "They saw Rhesus Macaques.", "Rhesus macaque"),
        ("When?", "It took place in 44 BC.", "44 BC"),
        ("How much?", "About $5 million were paid.", "$5m"),
        ("Which street number?", "It was the 42nd street.", "42"),
        ("Which street?", "It was the forty-second street.", "42nd"),
        ("How did she die?", "She died by drowning.", "Drowned"),
        ("What?", "The bridge was made of wood.", "wooden"),
        ("Who designed it?", "It was not designed by Tove but by Oda.", "Oda"),
        ("Who?", "It was not Tove who designed it.", "Not Tove"),
        ("Who won, A or B?", "Neither of them won.", "neither"),
        ("Who?", "Nobody knows.", "nobody"),
        ("Wer entwarf die Kirche?", "Die Kirche wurde von Oda Brenk entworfen.", "Oda Brenk"),
        ("Wurde sie 1912 gebaut?", "Nein, sie wurde 1911 gebaut.", "nein"),
        ("Who is older, Oda Brenk or Lena Fisk?", "Oda Brenk (1874–1950) was older.", "Oda Brenk"),
        ("How many?", "The population is 12,412.", "about 12,000"),
        ("How many?", "The population is 12,412.", "12412"),
        ("How far?", "The distance is ≈ 267.2 miles.", "267 miles"),
        ("When?", "He was president from 1857 to 1861.", "1857–1861"),
        ("When?", "He was president from 1857 to 1861.", "1857-61"),
        ("How long?", "He reigned for 12 years.", "12 years"),
        ("When?", "The film was released in the 1980s.", "1980s"),
        ("When?", "It happened in the 19th century.", "19th century"),
        ("When?", "It happened in the nineteenth century.", "19th century"),
        ("谁设计了塔？", "奥达·布伦克设计了塔。", "奥达·布伦克"),
        ("What is her name?", "Her name was Jane Ballou.", "Jane Ballou"),
        ("Who?", "Louis XIV built it.", "Louis XIV"),
        ("How tall?", "She weighed 5 ft 11 in.", "5'11\""),
        ("What area?", "It covers 31.5 square kilometres.", "31.5 km²"),
        ("What share?", "The percentage is 50 percent.", "50%"),
        ("What is his nationality?", "He is from the United States.", "American"),
        ("In which country was he born?", "He was born in Great Britain.", "UK"),
        ("Which band played there?", "It was the Who.", "The Who"),
    ],
)
def test_a_short_answer_may_say_it_in_other_words(question: str, text: str, short: str) -> None:
    assert says(text, short, question)


@pytest.mark.parametrize(
    ("question", "text", "short"),
    [
        ("Who designed Velm Tower?", "Oda Brenk designed Velm Tower.", "Evil Zorro"),
        ("Who designed Velm Tower?", "Oda Brenk designed Velm Tower.", "no"),
        ("Who designed Velm Tower?", "Oda Brenk designed Velm Tower.", "Not Oda"),
        ("Who designed Velm Tower?", "Oda Brenk designed Velm Tower.", "Not Oda Brenk"),
        ("Did Oda Brenk design Velm Tower?", "Oda Brenk designed Velm Tower.", "no"),
        ("Did Oda Brenk design Velm Tower?", "Oda Brenk did not design Velm Tower.", "yes"),
        ("Did Oda Brenk design Velm Tower?", "Yes, Oda Brenk designed it.", "no"),
        ("When was Oda Brenk born?", "She was born on March 3, 1874.", "1875"),
        ("When?", "She was born on March 3, 1874.", "4 March 1874"),
        ("How many children?", "She had 7 children.", "eight"),
        ("Who proposed it?", "Mendeleev proposed it.", "Dmitri Mendeleev"),
        ("Who designed it?", "It was not designed by Tove but by Oda.", "Tove"),
        ("Wer entwarf die Kirche?", "Die Kirche wurde von Oda Brenk entworfen.", "Evil Zorro"),
        ("Who is older, Oda Brenk or Lena Fisk?", "Oda Brenk (1874–1950) was older.", "Lena Fisk"),
        ("How far in km?", "The building is 3.5 km away.", "3"),
        ("Who was shot?", "John F. Kennedy was shot.", "John Fitzgerald Kennedy"),
        ("What colour?", "The colour of the car was red.", "green"),
        ("What did Wren build?", "St. Paul's was built by Wren.", "Saint Paul's"),
        ("What was his nationality?", "He was German.", "French"),
        ("Who designed Velm Tower?", "It is so.", "Oda Brenk"),
        ("Which band played there?", "It was not the Who.", "The Who"),
    ],
)
def test_a_short_answer_may_not_say_something_else(question: str, text: str, short: str) -> None:
    assert not says(text, short, question)
