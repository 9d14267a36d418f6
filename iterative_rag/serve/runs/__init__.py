"""Runs of the server: who may ask what, the queue, and the events that are kept for whoever reconnects."""
