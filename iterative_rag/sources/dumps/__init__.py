"""MediaWiki's XML dumps: pages out of the stream, their wikitext as Markdown."""
