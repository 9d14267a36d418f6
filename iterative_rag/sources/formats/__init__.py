"""How files become documents: one format a file, found by suffix in `registry.py`."""
