"""English for the built-in backend: word lists, word forms, hypernyms, dates and numbers."""
