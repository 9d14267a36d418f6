"""The built-in backend: plays every role without an LLM, by grammar rules, word lists and small networks."""
