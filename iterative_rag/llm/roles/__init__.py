"""The roles that an LLM plays, one a file."""
