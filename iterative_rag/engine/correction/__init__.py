"""What is done when a shortlist falls short: refinement, reworded queries, a web search (corrective RAG)."""
