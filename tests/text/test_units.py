"""Units by their names, symbols and plurals."""

from __future__ import annotations

import pytest

from iterative_rag.text.units import convert, dimension, unit_of


def test_units() -> None:
    assert unit_of("square miles") == "mile**2"
    assert unit_of("Quadratmeilen", "de") == "mile**2"
    assert unit_of("seasons") == ""
    assert (dimension("foot"), dimension("USD"), dimension("")) == ("length", "money", "")
    assert convert(1083, "foot", "meter") == pytest.approx(330.1, abs=0.01)
    assert convert(5, "USD", "EUR") is None
    assert convert(5, "meter", "second") is None
    assert convert(20, "degree_Celsius", "degree_Fahrenheit") == pytest.approx(68)
