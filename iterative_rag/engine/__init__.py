"""The loop and its strategies: engines that yield typed steps, within a budget."""
