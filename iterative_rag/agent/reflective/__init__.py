"""Looks at what was found and said: is it enough, is it proved, do the sources agree, how far to trust it."""
