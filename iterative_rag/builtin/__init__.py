"""The built-in backend: plays every role without an LLM, by grammar, words and a small encoder."""
