"""A run: prepares it, executes it through inspect_ai, resumes it, reads it back from its folder."""
