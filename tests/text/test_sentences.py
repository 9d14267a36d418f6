"""Texts are split at the ends of their sentences, and nowhere else."""

from __future__ import annotations

import pytest

from iterative_rag.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. J. K. Brenk drew it. She left.", 2),
        ("J. A. Brenk drew it. A. Holm built it.", 2),
        ("No. Orra is a town.", 2),
        ("1912. She was born in 1825.", 2),
        ("It opens at 3 a.m. [2]. Nobody comes.", 2),
        ("They came from the U.S. The tower was theirs.", 2),
        ("Holm et al. 1998 say so.", 1),
        ("an ex-U.S. Open champion", 1),
        ("Holm Bros. Film made it.", 1),
        ("She came on Sept. 5, 1874. He left.", 2),
        ("Im 19. Jahrhundert stand er. Am 3. März fiel er.", 2),
        ("See No. 5. It is tall.", 2),
        ("The U.S. won. It lost!", 2),
        ("Elle naquit en 44 av. J.-C. et mourut. Il vint.", 2),
        ("One\ntwo", 2),
        ("", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count
