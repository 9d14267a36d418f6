"""Qdrant collections that LlamaIndex or another program wrote, opened for searching and reading."""
