"""The operating system: files and their permissions, threads, memory, and the usage reports of libraries."""
