"""Embedding models of an Ollama server, through LlamaIndex."""

from __future__ import annotations

from iterative_rag.embedders.llama_index import LlamaIndexEmbedder
from iterative_rag.remote import Line, ollama_url

BATCH = 64
# What these models were trained to see before a query and before a passage (their model cards).
INSTRUCTIONS = {
    "nomic-embed-text": ("search_query:", "search_document:"),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages:", None),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages:", None),
}


class OllamaEmbedder(LlamaIndexEmbedder):
    """`timeout` bounds each batch, in seconds."""

    def __init__(self, model: str, *, url: str = "", timeout: float = 120.0) -> None:
        from llama_index.embeddings.ollama import OllamaEmbedding

        url = url or ollama_url()
        line = Line()
        for_query, for_text = INSTRUCTIONS.get(model.split(":")[0], (None, None))
        embedding = OllamaEmbedding(
            model_name=model,
            base_url=url,
            embed_batch_size=BATCH,
            query_instruction=for_query,
            text_instruction=for_text,
            client_kwargs=line.http_options(url),
        )
        super().__init__(embedding, name=f"ollama/{model}", kind="ollama", timeout=timeout, line=line)
