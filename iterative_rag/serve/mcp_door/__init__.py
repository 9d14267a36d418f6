"""The Model Context Protocol: the corpora as tools and resources for agents of other programs."""
