"""Indexed corpora on disk: documents in SQLite, vectors in Qdrant Edge, one folder per corpus."""
