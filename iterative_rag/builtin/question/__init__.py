"""From a question to its plan: what must be looked up first, and what is done with it."""
