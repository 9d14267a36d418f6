"""A run: prepared, carried out by inspect_ai, resumed, and read back from its folder."""
