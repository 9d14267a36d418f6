"""Calls to servers of models: addresses, keys, what is sent where, time limits, retries, and typed errors."""
