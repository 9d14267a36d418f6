"""Checks on what was found and answered, by rule: are the claims proved, do the sources agree, how far to trust it."""
