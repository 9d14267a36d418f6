"""Nations by their names and adjectives."""

from __future__ import annotations

from iterative_rag.builtin.language.nations import country_of, nations_in, within


def test_nations() -> None:
    assert nations_in("an English-American poet from Texas who ate turkey") == ("england", "united_states", "texas")
    assert country_of("texas") == country_of("united_states") == "united_states"
    assert within("england", "united_kingdom")
    assert within("texas", "north_america")
    assert not within("united_kingdom", "england")
