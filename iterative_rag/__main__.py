"""`python -m iterative_rag` is `iterative-rag`."""

from iterative_rag.cli import main

if __name__ == "__main__":
    main()
