"""Reads a page for a need: finds the spans and cells that answer it."""
