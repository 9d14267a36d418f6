"""What is kept on disk: the cache, traces, past runs; and how answers and runs are written down."""
