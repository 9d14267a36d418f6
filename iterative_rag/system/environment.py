"""Environment variables of this package that are not settings. A setting's is its name in capitals after the prefix."""

from __future__ import annotations

PREFIX = "ITERATIVE_RAG_"
# The data folder, keys and their hosts, a switch for debugging.
_OTHERS = "home api_key api_key_host allow_http debug"
# Options of the command line that are not settings either, such as ITERATIVE_RAG_JSON=1.
_OPTIONS = """
address allow_host api behind_tls calls category check concurrency contact
conversation data dataset document_language engine figures_only format grace
host html ignore_robots json judge k lang limit links_of mode out pages port qualify questions quiet
read_only refresh refused_seconds repeat retry_errors runs_at_once sample search
since source subset title titles token trace types via watch where
"""
OPTIONS = frozenset(_OPTIONS.split())
# Options that share the name of a setting, and where they are none of it have a default of their own.
SETTINGS_OF_THEIR_OWN = frozenset({"corpus", "llm", "seed", "max_indexing_calls"})
RESERVED = OPTIONS | frozenset(_OTHERS.split())
# Options without a variable: they confirm, delete or trust, or belong to one question, and have to be typed each time.
TYPED_ONLY = frozenset({"all", "allow_http", "allow_private_hosts", "as", "continue", "list", "remove", "yes"})
