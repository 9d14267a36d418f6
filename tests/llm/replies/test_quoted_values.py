"""What a model wrote, held against what it was shown: right values stay in any writing, others go."""

from __future__ import annotations

import pytest

from iterative_rag.llm.replies.quoted_values import borne_out
from iterative_rag.types import Extract, Need, Window
from tests.text.table import Row, rows

GERMAN = "Der Turm von Karsa und das Haus, in dem er wohnte, stehen noch."
TURKISH = "Bu kule bir mimar tarafından yapılmış ve daha sonra yıkılmıştır."


def kept(value: str, quote: str, *, text: str = "", question: str = "What of Velm Tower?") -> str:
    """The value that is left of an extract."""
    window = Window("velm", "Velm Tower", "velm.md", ((0, 9),), f"{text} {quote}")
    return borne_out(Extract(quote, quote, value), Need(question), window).value


def stated(statement: str, text: str) -> bool:
    """Whether a statement stays as it is beside a quote that says nothing."""
    window = Window("velm", "Velm Tower", "velm.md", ((0, 9),), text)
    return borne_out(Extract(statement, "It is so."), Need("What of it?"), window).statement == statement


KEPT: list[tuple[str, ...]] = [
    # in another writing than the quote's
    ("98 minutes", "a 98-minute film"),
    ("2½ hours", "the 2½-hour tour"),
    ("2.5 hours", "the 2½-hour tour"),
    ("50 kilocalories per 100 g", "It has 50 kcal in 100 grams."),
    ("42", "the forty-second king"),
    ("42nd", "the forty-second king"),
    ("105", "one hundred and five floors"),
    ("5 September 1874", "on Sept 5, 1874"),
    ("$5 million", "It cost $5m."),
    ("1990s", "in the nineties"),
    ("12,400 inhabitants", "Es hat 12.400 inhabitants."),
    ("United States", "She moved to the U.S. in 1911."),
    ("the UN", "She led the United Nations."),
    ("the Netherlands", "She died in Holland."),
    # in words
    ("3", "He won it three times.", ""),
    ("3 times", "a three-time champion", ""),
    (
        "3",
        "Tres hijos",
        "Oda Brenk nació en Karsa y fue la madre de los hijos que se nombran en la casa de la torre.",
    ),
    ("3", "Der Ring und die Walküre: three", "They wrote of the works that were in the house, and of the others."),
    # in a quote without spaces, where it was taken for one word together with its neighbours
    ("沈若溪", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("1627年", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("1627", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("《石塔记》", "他最有名的书是石塔记。"),
    ("四百二十七米", "桥身全长四百二十七米，用青石砌成。"),
    ("427米", "桥身全长四百二十七米，用青石砌成。"),
    ("一万两千人", "镇上有12000人。"),
    ("大森静", "この塔は大森静が設計した。"),
    ("佐々木", "塔を建てたのは佐々木である。"),
    ("สมชาย", "หอคอยนี้ออกแบบโดยสมชายในปี 1911"),
    # with other endings: a nominative beside an inflected quote counted as not stated, which cost another look
    ("Graues Horn", "Die Wehr entspringt am Grauen Horn.", GERMAN),
    ("der Goldene Schlüssel", "Sie erhielt 1879 den Goldenen Schlüssel.", GERMAN),
    ("Oda Brenk", "Der Turm gehörte Oda Brenks Vater.", GERMAN),
    ("zwei Jahre", "Nach zwei Jahren wurde er fertig.", GERMAN),
    ("Altın Çekiç ödülü", "1902 yılında Altın Çekiç ödülünü kazandı.", TURKISH),
    ("İnci Irmak", "Kuleyi İNCİ IRMAK yaptı.", TURKISH),
    ("estación de trenes", "Trabajaba en las estaciones de tren de la ciudad.", "La torre que el rey mandó hacer."),
]
GONE: list[tuple[str, ...]] = [
    # another value
    ("97 minutes", "a 98-minute film"),
    ("98 hours", "a 98-minute film"),
    ("41st", "the forty-second king"),
    ("5 metres", "It cost $5m."),
    ("3 March 1875", "on 3 March 1874"),
    ("98 minutes in Karsa", "a 98-minute film"),
    ("Per Holm", "Oda Brenk drew it"),
    ("South Korea", "She left North Korea."),
    ("Germany", "She wrote it in German."),
    ("the Netherlands", "She met Tom Holland."),
    # beside a quote without spaces
    ("沈若海", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("627年", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("162", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("二十七米", "桥身全长四百二十七米，用青石砌成。"),
    ("四百", "桥身全长四百二十七米，用青石砌成。"),
    ("427公里", "桥身全长四百二十七米，用青石砌成。"),
    ("สมช", "หอคอยนี้ออกแบบโดยสมชั้น"),
    # another name that begins alike
    ("Anna Berger", "Anna Bergen zeichnete den Turm.", GERMAN),
    ("Anna Berg", "Anna Berger zeichnete den Turm.", GERMAN),
    ("Graues Tal", "Die Wehr entspringt am Grauen Horn.", GERMAN),
    ("Graues Horn", "Das Horn von Karsa hat einen grauen Turm.", GERMAN),
    ("drei Jahre", "Nach zwei Jahren wurde er fertig.", GERMAN),
    ("1879", "Sie erhielt 1897 den Goldenen Schlüssel.", GERMAN),
    ("Juan Blanco", "La torre fue dibujada por Juana Blanco.", "La torre que el rey mandó hacer en la ciudad."),
    ("Juan Blanca", "La torre fue dibujada por Juan Blanco.", "La torre que el rey mandó hacer en la ciudad."),
    ("Gümüş Çekiç ödülü", "1902 yılında Altın Çekiç ödülünü kazandı.", TURKISH),
    ("Peter Holm", "Peters Holm drew it.", "It was one of the towers that they had drawn."),
]


@pytest.mark.parametrize("case", KEPT)
def test_a_value_is_kept_that_the_quote_bears_out(case: tuple[str, ...]) -> None:
    value, quote, *text = case
    assert kept(value, quote, text="".join(text)) == value


@pytest.mark.parametrize("case", GONE)
def test_another_value_goes(case: tuple[str, ...]) -> None:
    value, quote, *text = case
    assert kept(value, quote, text="".join(text)) == ""


def test_a_name_may_be_whole_in_the_window_and_short_in_the_quote() -> None:
    text = "Eugene Meyer bought the paper in 1933."
    assert kept("Eugene Meyer", "Meyer sold it in 1946.", text=text) == "Eugene Meyer"
    assert kept("Eugene Meyer", "Meyer sold it in 1946.") == ""
    assert kept("Eugene Meyer", "He sold it in 1946.", text=text) == ""
    assert kept("Agnes Meyer", "Meyer sold it in 1946.", text=text) == ""


def test_yes_and_no_answer_what_asks_for_them() -> None:
    quote = "The tower stood until 1950."
    assert kept("yes", quote, question="Did Velm Tower stand in 1940?") == "yes"
    assert kept("No", quote, question="Was Velm Tower built in 1951?") == "No"
    assert kept("ja", quote, question="Stand der Turm 1940?") == "ja"
    assert kept("yes", quote, question="Who built Velm Tower?") == ""
    assert kept("yes", quote, question="In which year did Velm Tower fall?") == ""


@pytest.mark.parametrize(
    ("value", "left"),
    [("yes, Velm Tower", "yes, Velm Tower"), ("No: it fell in 1950", "No"), ("Yes (for Orm)", "Yes")],
)
def test_yes_with_more_behind_it_is_kept_as_far_as_the_quote_goes(value: str, left: str) -> None:
    """It was taken for a value that the quote does not state, and its need for one without an answer."""
    quote = "The tower stood until 1950."
    assert kept(value, quote, question="Did Velm Tower stand in 1940?") == left
    assert kept(value, quote, question="How long did Velm Tower stand?") == ""


SHOWN: list[tuple[str, ...]] = [
    # numbers in another writing
    ("He was the 52nd king.", "the fifty-second king"),
    ("He was the fifty-second king.", "the 52nd king"),
    ("It stood in the 1990s.", "in the 1990s"),
    ("It stood in the nineties.", "in the 1990s"),
    ("It took 98 minutes.", "a 98-minute tour"),
    ("It opened on 5 September 1874.", "opened on Sept 5, 1874"),
    ("It cost 5 million dollars.", "It cost $5m."),
    # names in another form; the bare quote, which does not name its subject, took their place
    ("云溪县的石塔由沈若溪于1627年建成。", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("Kula Irmağı İnceli Dağı'ndan doğar.", "Kula Irmağı. İnceli Dağı'ndan doğar."),
    ("Den Gipfel des Grauen Horns bestieg der Vermesser.", "Den Gipfel bestieg der Vermesser. Das Graue Horn"),
    ("La tour fut également agrandie, là où était le port.", "La tour fut agrandie."),
]
NOT_SHOWN: list[tuple[str, ...]] = [
    ("He was the 51st king.", "the fifty-second king"),
    ("It stood in the 1980s.", "in the 1990s"),
    ("It was drawn by Per Holm.", "It was drawn by Oda Brenk."),
    ("It cost 5 metres.", "It cost $5m."),
    ("It was the B-24.", "It was the B-29."),
    ("云溪县的石塔由沈若溪于1628年建成。", "石塔由工匠沈若溪设计，于1627年建成。"),
    ("Kula Irmağı İnceli Dağı'ndan doğar.", "Kula Irmağı. Sivri Dağı'ndan doğar."),
    ("Den Turm des Karl Berger sah Anna.", f"Den Turm des Karl Bergen sah Anna. {GERMAN}"),
]


@pytest.mark.parametrize(("statement", "text"), [*SHOWN, *NOT_SHOWN])
def test_a_statement_stays_where_all_that_it_names_was_shown(statement: str, text: str) -> None:
    assert stated(statement, f"{text} {GERMAN}" if "Gipfel" in text else text) is ((statement, text) in SHOWN)


@pytest.mark.parametrize("row", [row for row in rows() if row.meaning], ids=lambda row: f"{row.code}: {row.text}")
def test_every_text_of_the_table_is_held_by_itself(row: Row) -> None:
    assert kept(row.text, f"Velm Tower: {row.text}.") == row.text
    assert stated(f"It is so: {row.text}", f"Velm Tower: {row.text}.")


READABLE = [row for row in rows() if row.code == "en" and row.meaning and not set("~<>;*_/") & set(row.meaning)]


@pytest.mark.parametrize("row", READABLE, ids=lambda row: f"{row.text} = {row.meaning}")
def test_a_value_of_the_table_is_kept_as_it_is_shown(row: Row) -> None:
    assert kept(row.meaning, f"Velm Tower: {row.text}.") == row.meaning
