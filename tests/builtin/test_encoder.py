"""The built-in encoder with its packaged weights."""

import numpy as np
import pytest

from iterative_rag.builtin.encoder import BuiltinEncoder

TEXTS = [
    "Harriet Lane acted as first lady during the presidency of her uncle, James Buchanan.",
    "James Buchanan never married; his niece was the hostess of the White House.",
    "Add the flour to the butter and bake the dough for twenty minutes.",
    "Who?",
    "The mitochondrion makes most of the cell's chemical energy. " * 8,
]
ODD = [
    "",
    " \n\t ",
    "\x00",
    "a\x00b",
    "\ud800 half a surrogate pair",
    "東京は日本の首都です。",
    "مرحبا بالعالم",
    "😀" * 100,
    "| a | 12 |\n" * 60,
    "x" * 5000,
    "\u200b\ufeff",
]


@pytest.fixture(scope="module")
def encoder() -> BuiltinEncoder:
    return BuiltinEncoder(threads=2)


def test_vectors_have_the_promised_shape_type_and_length(encoder: BuiltinEncoder) -> None:
    vectors = encoder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimensions) == (5, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_similar_texts_are_nearer_than_unrelated_ones(encoder: BuiltinEncoder) -> None:
    lane, buchanan, baking, *_ = encoder.embed_documents(TEXTS)
    query = encoder.embed_query("Who was the niece of President Buchanan?")
    assert lane @ buchanan > 0.4 > lane @ baking
    assert min(query @ lane, query @ buchanan) > query @ baking + 0.3


def test_known_vector_of_the_published_model(encoder: BuiltinEncoder) -> None:
    # The first entries that the float32 model gives for this sentence; int8 may move them a little.
    published = [0.0677, 0.0635, 0.0487, 0.0793, 0.0374, 0.0027]
    assert encoder.embed_query("This is an example sentence")[:6] == pytest.approx(published, abs=0.015)


def test_a_vector_does_not_depend_on_its_company(encoder: BuiltinEncoder) -> None:
    together = encoder.embed_documents(TEXTS + ODD)
    alone = np.stack([encoder.embed_query(text) for text in TEXTS + ODD])
    backwards = encoder.embed_documents((TEXTS + ODD)[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)
    assert np.array_equal(together, BuiltinEncoder(threads=1).embed_documents(TEXTS + ODD))


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_odd_texts_have_a_unit_vector(encoder: BuiltinEncoder, text: str) -> None:
    vector = encoder.embed_query(text)
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
