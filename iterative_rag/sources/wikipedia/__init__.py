"""Pages of Wikipedia, or of another MediaWiki, as readable Markdown files.

In the order of processing: page_names (titles and URLs) -> mediawiki_api -> page_markdown with page_tables (HTML to
text) -> article_fetching (one file per page, resumable) -> collecting (categories, links,
limits). Needs the extra `wikipedia`.
"""
