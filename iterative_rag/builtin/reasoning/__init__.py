"""Evaluates a plan against the facts so far: values, the next needs, and the answer."""
