"""Pages of Wikipedia, or of another MediaWiki, as readable Markdown files.

Read in the order in which a page comes in: names (what is asked for) -> client (the wiki's API) -> markdown with
tables (HTML to text) -> files (one .md a page) -> fetching (many pages, resumable) -> collecting (categories,
links, limits). Needs the extra `wikipedia`.
"""
