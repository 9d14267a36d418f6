"""Builds the parts from settings: the only package that names concrete classes. Heavy imports happen on use."""

from iterative_rag.app.factory.backends import (
    cache,
    make_backend,
    make_chat_model,
    make_embedder,
    model_identity,
    profile_of,
)
from iterative_rag.app.factory.corpus_actions import fetch_web_pages, fetch_wikipedia, index_paths, pages_folder, stale
from iterative_rag.app.factory.opening import (
    DEFAULT_CORPUS,
    STARTER_CORPUS,
    asked_names,
    corpora,
    corpus_name,
    for_one_run,
    known_names,
    names_collection,
    open_asked,
    open_corpus,
    open_to_read,
    starter_corpus_path,
)
from iterative_rag.app.factory.rag import IterativeRAG, checked_question
