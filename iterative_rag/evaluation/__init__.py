"""Measures the package on question sets: run, score, say where it failed, compare, report.

questions, records   what is asked, and what is left of it: the vocabulary of all below
datasets/            files -> questions; the corpus that is searched; gold articles
running/             a run as an inspect_ai task, resumable
scoring/             record -> scores, verdict, cause
figures/             records -> figures with intervals; retrieval; comparison
report/              figures -> Markdown and one HTML page
matrix, fetch        a grid of runs; the FRAMES dataset with its articles
"""
