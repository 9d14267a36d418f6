"""What the built-in backend knows about English: word lists, forms of words, dates and numbers."""
