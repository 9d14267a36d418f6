"""Measures the package on question sets: run, score, find the cause of each failure, compare, report.

questions, records   the vocabulary: a question, and the record of how it was answered
datasets/            files -> questions; the corpus to search; gold articles; the FRAMES download
running/             a run as a resumable inspect_ai task; grids of runs
scoring/             record -> scores, judge's verdict, cause of failure
metrics/             records -> metrics with intervals; retrieval; comparison of runs
report/              metrics -> tables -> Markdown and one HTML page
"""
