"""Measures the package on question sets: run, score, find the cause of each failure, compare, report.

records                                  the vocabulary: a question, and the record of how it was answered
dataset_forms, question_files            files -> questions
gold_articles, search_scope              the articles that are needed, the corpus that is searched
frames, download                         FRAMES: its subsets, published figures, pages
preparation, answer_modes                the parts of a run, and how a question is asked
inspect_task, run_evaluation             a run as a resumable inspect_ai task
run_folder, run_matrix                   what it leaves, grids of runs
answer_match, judge                      record -> scores, judge's verdict
failure_causes                           record -> cause of failure
summary, statistics                      records -> figures with intervals
retrieval_metrics, run_comparison        retrieval; comparison of runs
report_tables, markdown_report, html_report    figures -> tables -> Markdown and one HTML page
"""
