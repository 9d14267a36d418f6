"""Embedders: adapters of protocols.Embedder, one per file."""
