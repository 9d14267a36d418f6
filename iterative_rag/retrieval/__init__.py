"""Finding and reading: passages, the shortlist, windows, quoted facts."""
