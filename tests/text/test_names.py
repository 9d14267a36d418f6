"""Names of persons as texts write them."""

from __future__ import annotations

from iterative_rag.text.comparing import same_name


def test_names() -> None:
    assert same_name("einstein", "einsteins")
    assert same_name("бренк", "бренка")
    assert not same_name("vienne", "vienna")
    assert not same_name("holm", "holmberg")
