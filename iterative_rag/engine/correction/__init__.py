"""What is done when a shortlist falls short: reworded queries, a web search (corrective RAG)."""
