"""Rerankers, one kind a file: rerank endpoints, cross-encoders, node postprocessors of LlamaIndex."""
