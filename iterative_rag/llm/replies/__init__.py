"""Replies of language models: the form of each role's reply, and what reads and checks them."""
