"""What an answer is worth: scores, a judge, citations, and where a question was lost."""
