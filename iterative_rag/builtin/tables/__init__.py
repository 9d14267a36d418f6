"""Reads tables and lists: typed rows, the cell or the calculation that answers a question, and what it rests on."""
