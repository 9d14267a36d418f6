"""Builds the parts into one whole: the factory, conversations, proofs, the qualification of a model."""
