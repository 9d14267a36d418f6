"""From a plan and the facts so far to values, the next needs, and the answer."""
