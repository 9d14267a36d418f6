"""Plans a question: which look-ups it takes, in which order, and what is computed from them."""
