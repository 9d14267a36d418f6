"""Embedders: adapters of protocols.Embedder, one a file."""
