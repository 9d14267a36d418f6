"""Reports of a run: Markdown for people and repositories, one self-contained HTML page with all details."""
