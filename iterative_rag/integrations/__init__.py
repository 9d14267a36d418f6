"""Doors for other frameworks."""
