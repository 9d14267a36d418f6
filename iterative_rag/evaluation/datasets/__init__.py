"""Question files of every form, the corpus they are asked of, and their gold articles."""
