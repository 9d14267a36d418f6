"""The machine underneath: files and who may read them, threads, memory, and usage reports that are switched off."""
