"""What a model wrote, read as the form that its role replies in."""
