"""English for the built-in backend: word lists, word forms, hypernyms, nations, dates and numbers."""
