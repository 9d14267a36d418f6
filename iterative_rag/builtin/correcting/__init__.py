"""Grading and query correction without an LLM."""
