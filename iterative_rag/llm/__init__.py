"""The LLM backend: providers, prompts, replies, and the roles that an LLM plays."""
