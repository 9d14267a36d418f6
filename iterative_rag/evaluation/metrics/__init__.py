"""Metrics of records: means with intervals, retrieval, and the comparison of runs."""
