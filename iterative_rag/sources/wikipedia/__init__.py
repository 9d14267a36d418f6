"""Pages of Wikipedia, or of another MediaWiki, as readable Markdown files.

In the order of processing: page_names (titles and URLs) -> mediawiki_api -> page_markdown with page_tables (HTML to
text) -> article_files (one file per page) -> article_fetching (many pages, resumable) -> collecting (categories, links,
limits). Needs the extra `wikipedia`.
"""
