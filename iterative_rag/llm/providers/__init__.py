"""Providers of language models: adapters of protocols.ChatModel, one a file."""
