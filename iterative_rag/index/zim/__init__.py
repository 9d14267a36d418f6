"""A ZIM file as a corpus: it is searched by its own indexes, and nothing is written beside it."""
