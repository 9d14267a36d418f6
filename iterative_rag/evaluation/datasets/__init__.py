"""Question files of every form, the corpus that they are asked of, and where their gold articles lie."""
