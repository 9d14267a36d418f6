"""Model text -> typed reply: the one room where what a model wrote is read."""
