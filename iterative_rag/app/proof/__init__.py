"""The proof of an answer: its chain as a graph, drawn and in words, and a file that can be checked later."""
