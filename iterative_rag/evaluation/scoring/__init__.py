"""Scores an answer: matching, a judge, citations, and the cause of a failure."""
