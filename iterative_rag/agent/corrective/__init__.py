"""Notices that retrieval failed and does something about it: grades, other words, a wider search, a plan."""
