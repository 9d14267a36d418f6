"""What the built-in mind knows about English: word lists, forms of words, dates and numbers."""
