"""Calls to servers: addresses, keys, what is sent where, deadlines, retries, and typed errors."""
