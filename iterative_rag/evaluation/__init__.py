"""Measures the package on question sets: run, score, say where it failed, compare, report.

Read in the order in which a question meets it: questions -> datasets -> pools -> modes -> task -> run -> records ->
answers, judge, citations, causes -> summary -> report, compare, matrix. Stands on inspect_ai (extra `evaluate`).
"""
