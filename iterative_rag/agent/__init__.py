"""The agent: the loop and its parts. It knows protocols, never an adapter."""
