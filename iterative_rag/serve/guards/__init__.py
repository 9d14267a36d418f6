"""Who may ask, and what a request may cost: checked before any door sees it."""
