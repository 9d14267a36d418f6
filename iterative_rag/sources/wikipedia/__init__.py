"""Pages of Wikipedia, or of another MediaWiki, as readable Markdown files.

In the order of processing: page_names (titles and URLs) -> mediawiki_api -> page_markdown with page_tables (HTML to
text) -> article_fetching (categories, links, limits; one file per page, resumable). Needs the extra `wikipedia`.
"""
