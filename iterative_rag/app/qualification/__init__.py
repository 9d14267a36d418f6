"""Qualifies a language model: short cases of every role and strategy, and the settings that follow from them."""
